// Bytes of a .npy file to a Tensor and back.
#include "cli/npy.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cli/answer.h"
#include "cli/files.h"

namespace convgrad::cli {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are written as they lie in memory");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kPreamble = 8;  // magic and two version bytes
constexpr std::size_t kMaxHeader = std::size_t{1} << 20;

// The type letters of a dtype after the byte order; bfloat16 has none of its own in NumPy.
std::string_view letters(DType dtype) {
  switch (dtype) {
    case DType::f16: return "f2";
    case DType::bf16: return "V2";
    case DType::f32: return "f4";
    case DType::f64: return "f8";
    case DType::i32: return "i4";
  }
  return "";
}

std::string descr_of(DType dtype) { return fmt::format("{}{}", dtype == DType::bf16 ? '|' : '<', letters(dtype)); }

// A .npy file that is open, with its name in messages and the bytes that are left in it.
class NpyFile {
 public:
  NpyFile(const std::string& path, std::string_view argument) : path_(path), argument_(argument) {
    expect_plain_file(path);
    file_.reset(std::fopen(path.c_str(), "rb"));
    if (file_ == nullptr) file_failure("read", path);
    left_ = std::filesystem::file_size(path);
  }

  std::uintmax_t left() const { return left_; }

  Status bad(std::string reason, std::string got, std::string wanted) const {
    return complain({.rule = "operand-data",
                     .argument = argument_,
                     .reason = fmt::format("{} is not a .npy file that can be read: {}", in_quotes(path_), reason),
                     .got = std::move(got),
                     .wanted = std::move(wanted)});
  }

  Status read(void* to, std::size_t bytes, std::string_view what) {
    if (bytes > left_) {
      return bad(fmt::format("the file ends inside its {}", what), fmt::format("{} bytes", left_),
                 fmt::format("{} bytes", bytes));
    }
    if (bytes > 0 && std::fread(to, 1, bytes, file_.get()) != bytes) file_failure("read", path_);
    left_ -= bytes;
    return {};
  }

 private:
  std::string path_;
  std::string_view argument_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, std::fclose};
  std::uintmax_t left_ = 0;
};

Result<std::size_t> read_header_length(NpyFile& file) {
  unsigned char preamble[kPreamble] = {};
  CONVGRAD_RETURN_IF_ERROR(file.read(preamble, sizeof(preamble), "first 8 bytes"));
  if (!std::equal(kMagic.begin(), kMagic.end(), preamble,
                  [](char a, unsigned char b) { return static_cast<unsigned char>(a) == b; })) {
    return file.bad("it does not start as one", "other bytes", "\\x93NUMPY");
  }
  const int version = preamble[6];
  if (version < 1 || version > 3)
    return file.bad("its version is unknown", fmt::format("{}.{}", version, preamble[7]), "1.0, 2.0 or 3.0");
  unsigned char length[4] = {};
  CONVGRAD_RETURN_IF_ERROR(file.read(length, version == 1 ? 2 : 4, "header length"));
  const std::size_t bytes =
      length[0] | std::size_t{length[1]} << 8 | std::size_t{length[2]} << 16 | std::size_t{length[3]} << 24;
  if (bytes > kMaxHeader)
    return file.bad("its header is too long", fmt::format("{} bytes", bytes), fmt::format("at most {}", kMaxHeader));
  return bytes;
}

Result<NpyHeader> read_header(NpyFile& file, std::string_view argument) {
  const Result<std::size_t> length = read_header_length(file);
  if (!length.ok()) return length.status();
  std::string text(std::min<std::uintmax_t>(*length, file.left()), '\0');
  if (text.size() < *length) {
    return file.bad("the file ends inside its header", fmt::format("{} bytes", text.size()),
                    fmt::format("{} bytes", *length));
  }
  CONVGRAD_RETURN_IF_ERROR(file.read(text.data(), text.size(), "header"));
  return parse_npy_header(text, argument);
}

// Whether the bytes of each element have to be swapped; no value when the type is another one.
std::optional<bool> byte_swap_of(std::string_view descr, DType dtype) {
  if (descr.size() != 3 || std::string_view("<>=|").find(descr[0]) == std::string_view::npos) return std::nullopt;
  const std::string_view type = descr.substr(1);
  if (dtype == DType::bf16 && type == "V2") return false;  // raw bytes have no order
  const bool known = descr[0] != '|' && (type == letters(dtype) || (dtype == DType::bf16 && type == "u2"));
  return known ? std::optional<bool>(descr[0] == '>') : std::nullopt;
}

void swap_bytes(Tensor& tensor) {
  const std::size_t each = size_of(tensor.dtype());
  const std::span<unsigned char> bytes(static_cast<unsigned char*>(tensor.data()),
                                       static_cast<std::size_t>(tensor.bytes()));
  for (std::size_t i = 0; i < bytes.size(); i += each) std::reverse(&bytes[i], &bytes[i] + each);
}

// Column-major elements that lie in tensor, as a row-major tensor.
Result<Tensor> from_fortran_order(const Tensor& tensor) {
  TensorView view = tensor.view();
  std::int64_t stride = static_cast<std::int64_t>(size_of(tensor.dtype()));
  for (std::int64_t size : view.shape) {
    view.byte_strides.push_back(stride);
    stride *= std::max<std::int64_t>(size, 1);
  }
  return contiguous_copy(view);
}

Status data_is_whole(const NpyFile& file, const NpyHeader& header, DType dtype) {
  const Result<std::int64_t> count = element_count(header.shape);
  if (!count.ok())
    return file.bad("its shape is impossible", fmt::format("({})", fmt::join(header.shape, ", ")),
                    "sizes of 0 or more with a product below 2^63");
  // By division: the product of a hostile shape and the element size may not fit.
  const std::uintmax_t each = size_of(dtype);
  if (file.left() % each == 0 && file.left() / each == static_cast<std::uintmax_t>(*count)) return {};
  return file.bad("its data has not the size of its shape", fmt::format("{} bytes", file.left()),
                  fmt::format("{} elements of {} bytes", *count, each));
}

std::string header_text(const Tensor& tensor) {
  const std::string_view comma = tensor.shape().size() == 1 ? "," : "";
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                 descr_of(tensor.dtype()), fmt::join(tensor.shape(), ", "), comma);
  // The data starts at a multiple of 64 bytes; the last byte of the header is a line end.
  const std::size_t before = kPreamble + 2;
  text.append(63 - (before + text.size()) % 64, ' ');
  return text + '\n';
}

}  // namespace

Result<Tensor> read_npy(const std::string& path, DType dtype, std::string_view argument) {
  NpyFile file(path, argument);
  const Result<NpyHeader> header = read_header(file, argument);
  if (!header.ok()) return header.status();
  const std::optional<bool> swap = byte_swap_of(header->descr, dtype);
  if (!swap) {
    return complain({.rule = "dtype",
                     .argument = argument,
                     .reason = fmt::format("{} has not the problem's element type", in_quotes(path)),
                     .got = in_quotes(header->descr),
                     .wanted = fmt::format("'{}', {}", descr_of(dtype), info(dtype).numpy_name)});
  }
  CONVGRAD_RETURN_IF_ERROR(data_is_whole(file, *header, dtype));
  Result<Tensor> tensor = Tensor::zeros(dtype, header->shape);
  if (!tensor.ok()) return tensor;
  CONVGRAD_RETURN_IF_ERROR(file.read(tensor->data(), static_cast<std::size_t>(tensor->bytes()), "data"));
  if (*swap) swap_bytes(*tensor);
  return header->fortran_order ? from_fortran_order(*tensor) : tensor;
}

void write_npy(const std::string& path, const Tensor& tensor) {
  const std::string header = header_text(tensor);
  const char version_and_length[] = {1, 0, static_cast<char>(header.size() & 0xFF),
                                     static_cast<char>(header.size() >> 8)};
  write_parts(path,
              {kMagic, std::string_view(version_and_length, sizeof(version_and_length)), header,
               std::string_view(static_cast<const char*>(tensor.data()), static_cast<std::size_t>(tensor.bytes()))});
}

}  // namespace convgrad::cli
