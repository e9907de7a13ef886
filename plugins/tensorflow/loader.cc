// The library that `python -m convgrad.tensorflow enable` copies into site-packages/tensorflow-plugins, which
// `import tensorflow` loads. Beside it lies a text file of the same name with .txt instead of .so: the plug-in's path
// on the first line, the choice (install.h) as three numbers on the second. A real file and not a link: TensorFlow does
// not start when a library in that folder cannot be loaded, and a removed package must not do that.
// CONVGRAD_TENSORFLOW=0 in the environment turns it off.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "install.h"

namespace {

struct Settings {
  char plugin[4096];
  convgrad_tensorflow_choice choice;
};

// What the text file says; false when it is not there or says something else.
bool read_settings(Settings& settings) {
  Dl_info self;
  char name[4096];
  if (dladdr(reinterpret_cast<void*>(&read_settings), &self) == 0) return false;
  const int stem = static_cast<int>(std::strlen(self.dli_fname)) - static_cast<int>(std::strlen(".so"));
  if (stem < 0 || std::snprintf(name, sizeof name, "%.*s.txt", stem, self.dli_fname) >= int{sizeof name}) return false;
  std::FILE* file = std::fopen(name, "r");
  if (file == nullptr) return false;
  auto& [forward, onednn, threads] = settings.choice;
  const bool read = std::fgets(settings.plugin, sizeof settings.plugin, file) != nullptr &&
                    std::fscanf(file, "%d %d %d", &forward, &onednn, &threads) == 3;
  std::fclose(file);
  settings.plugin[read ? std::strcspn(settings.plugin, "\n") : 0] = '\0';
  return read;
}

void report(const char* reason) {
  std::fprintf(stderr,
               "convgrad: TensorFlow keeps its own kernels: %s; `python -m convgrad.tensorflow disable` ends this\n",
               reason);
}

__attribute__((constructor)) void load() {
  const char* wanted = std::getenv("CONVGRAD_TENSORFLOW");
  if (wanted != nullptr && std::strcmp(wanted, "0") == 0) return;
  Settings settings{};
  if (!read_settings(settings)) return report("its settings cannot be read");
  void* library = dlopen(settings.plugin, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return report(dlerror());
  using Install = decltype(convgrad_tensorflow_install);
  auto* install = reinterpret_cast<Install*>(dlsym(library, "convgrad_tensorflow_install"));
  if (install == nullptr) return report("the plug-in is of another version");
  char message[512];
  if (install(&settings.choice, message, sizeof message) < 0) report(message);
}

}  // namespace
