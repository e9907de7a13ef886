// The convgrad program: the command line, and the last net under it.
#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <system_error>

#include "cli/answer.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#ifdef CONVGRAD_STUDIO
#include "cli/studio.h"
#include "studio/server/worker_main.h"
#endif

namespace {

int complain(const char* what) noexcept {
  std::fprintf(stderr, "convgrad: %s\n", what);
  return convgrad::cli::kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  try {
#ifdef CONVGRAD_STUDIO
    if (const auto budgets = convgrad::cli::worker_budgets(argc, argv)) return convgrad::studio::run_worker(*budgets);
#endif
    const int code = convgrad::cli::run_command_line(argc, argv);
    // A full disk shows itself when a buffer leaves: the last one here, the others as an exception of the printing.
    if (std::fflush(stdout) != 0) return complain("cannot write to standard output");
    return code;
  } catch (const std::filesystem::filesystem_error& error) {
    return complain(convgrad::cli::printable(error.what()).c_str());
  } catch (const std::system_error&) {
    return complain("cannot write to standard output");
  } catch (const std::bad_alloc&) {
    return complain("out of memory");
  } catch (const std::exception& error) {
    return complain(convgrad::cli::printable(error.what()).c_str());
  }
}
