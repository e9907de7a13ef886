// A fuzz target without libFuzzer, for every compiler and for CI: each kept input once, then changed copies of them.
//
//   page_replay FOLDER COUNT
//
// The changes come from a fixed seed, so a run that fails fails again.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Bytes = std::vector<std::uint8_t>;

std::vector<Bytes> inputs_of(const char* folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());  // a folder's own order is the file system's
  std::vector<Bytes> inputs;
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

// What breaks readers most: a byte changed, a stretch left out, doubled, or taken from another input.
class Changes {
 public:
  explicit Changes(const std::vector<Bytes>& inputs) : inputs_(inputs) {}

  Bytes next() {
    Bytes bytes = any_input();
    for (std::size_t times = 1 + below(4); times > 0; --times) change(bytes);
    return bytes;
  }

 private:
  std::size_t below(std::size_t end) { return end == 0 ? 0 : random_() % end; }
  const Bytes& any_input() { return inputs_[below(inputs_.size())]; }

  Bytes stretch(const Bytes& from) {
    const std::size_t start = below(from.size()), length = below(std::min<std::size_t>(from.size() - start, 64) + 1);
    return Bytes(from.begin() + static_cast<std::ptrdiff_t>(start),
                 from.begin() + static_cast<std::ptrdiff_t>(start + length));
  }

  void insert(Bytes& bytes, const Bytes& what) {
    bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(below(bytes.size() + 1)), what.begin(), what.end());
  }

  void change(Bytes& bytes) {
    constexpr std::string_view kTelling = "{}[]\",:-0123456789.eEntf\\\xff";
    switch (bytes.empty() ? 3 : below(5)) {
      case 0: bytes[below(bytes.size())] ^= static_cast<std::uint8_t>(1u << below(8)); return;
      case 1: bytes[below(bytes.size())] = static_cast<std::uint8_t>(kTelling[below(kTelling.size())]); return;
      case 2: {
        const std::size_t start = below(bytes.size()), length = below(std::min<std::size_t>(bytes.size() - start, 64));
        bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(start),
                    bytes.begin() + static_cast<std::ptrdiff_t>(start + length));
        return;
      }
      case 3: insert(bytes, stretch(any_input())); return;
      default: insert(bytes, stretch(Bytes(bytes)));
    }
  }

  const std::vector<Bytes>& inputs_;
  std::mt19937_64 random_{20261116};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: %s FOLDER COUNT\n", argv[0]), 2;
  const std::vector<Bytes> inputs = inputs_of(argv[1]);
  if (inputs.empty()) return std::fprintf(stderr, "%s holds no input\n", argv[1]), 1;
  for (const Bytes& input : inputs) LLVMFuzzerTestOneInput(input.data(), input.size());
  Changes changes(inputs);
  const long count = std::atol(argv[2]);
  for (long i = 0; i < count; ++i) {
    const Bytes input = changes.next();
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%zu kept inputs and %ld changed ones\n", inputs.size(), count);
  return 0;
}
