#include "pages/tensor_files.h"

#include <filesystem>

#include "convgrad/npy.h"
#include "pages/files.h"
#include "pages/json.h"
#include "pages/refusals.h"

namespace convgrad::graph {
namespace {

constexpr std::size_t kLongName = 200;

bool plain_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

// A name in the folder itself, on every system.
bool plain_name(std::string_view name) {
  return name.size() > 4 && name.size() <= 255 && name.ends_with(".npy") && !name.starts_with('.') &&
         name.find_first_of(std::string_view("/\\:\0", 4)) == std::string_view::npos &&
         name.find("..") == std::string_view::npos;
}

string escaped(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool dot = text[i] == '.' && i > 0 && text[i - 1] != '.' && i + 1 < text.size();
    if (plain_letter(text[i]) || dot)
      out += text[i];
    else
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
  }
  return out;
}

// FNV-1a.
string hash_text(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return std::to_string(hash);
}

}  // namespace

string tensor_file_name(const string& id, const string& attr) {
  const string name = escaped(attr == "value" ? id : concat(id, ".", attr));
  if (name.size() <= kLongName) return name + ".npy";
  return concat(name.substr(0, kLongName - 30), "-", hash_text(name), ".npy");
}

Result<Tensor> TensorFiles::read(const string& name) {
  if (const auto found = read_.find(name); found != read_.end()) return found->second;
  if (folder_.path.empty())
    return bad_file(name, "a tensor lies in a file", "no folder to look in", "the page's own file, with its folder");
  if (!plain_name(name))
    return bad_file(name, "this is no name of a file beside the page", shown(name), "a plain name that ends in .npy");
  const auto path = std::filesystem::path(folder_.path) / name;
  std::error_code error;
  if (std::filesystem::is_symlink(path, error))
    return bad_file(name, "a link could lead out of the folder", "a link", "a file");
  Result<Tensor> tensor = read_npy(path.string());
  if (tensor.ok()) read_.emplace(name, *tensor);
  return tensor;
}

convgrad::Status TensorFiles::write(const string& name, const Tensor& tensor) {
  if (!written_.insert(name).second)
    return bad_file(name, "two tensors would share a file", shown(name), "ids that differ");
  return write_npy((std::filesystem::path(folder_.path) / name).string(), tensor);
}

convgrad::Status TensorFiles::count(const Tensor& tensor) {
  elements_ += tensor.NumElements();
  if (tensor.IsInitialized() && elements_ <= static_cast<int64>(kJsonValues)) return {};
  return refuse("page", {.rule = Rule::graph_file,
                         .argument = "value",
                         .reason = "the tensors of the page cannot stand in its text",
                         .got = tensor.IsInitialized() ? concat(elements_, " elements") : string("no memory"),
                         .wanted = concat("at most ", kJsonValues, " elements, or a folder for them")});
}

}  // namespace convgrad::graph
