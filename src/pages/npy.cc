// Bytes of a .npy file to a Tensor and back.
#include "convgrad/npy.h"

#include <bit>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>

#include "api/guard.h"
#include "base/rules.h"
#include "base/text.h"
#include "pages/files.h"
#include "pages/json.h"
#include "pages/npy_header.h"
#include "pages/unicode.h"

namespace convgrad::graph {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are written as they lie in memory");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kPreamble = 8;  // magic and two version bytes
constexpr std::size_t kMaxHeader = std::size_t{1} << 20;

convgrad::Status bad_npy(std::string_view name, std::string_view reason, string got, string wanted) {
  return refuse("npy", {.rule = Rule::graph_file,
                        .argument = name,
                        .reason = concat(shown(name), ": ", reason),
                        .got = std::move(got),
                        .wanted = std::move(wanted)});
}

// The bytes of a file, from memory or disk.
struct Source {
  std::string_view name;
  std::uintmax_t left;
  std::function<bool(void*, std::size_t)> fetch;

  convgrad::Status bad(string reason, string got, string wanted) const {
    return bad_npy(name, concat("not a .npy file that can be read: ", reason), std::move(got), std::move(wanted));
  }

  convgrad::Status read(void* to, std::size_t bytes, std::string_view what) {
    if (bytes > left) return bad(concat("it ends inside its ", what), concat(left, " bytes"), concat(bytes, " bytes"));
    if (bytes > 0 && !fetch(to, bytes)) return bad("the file cannot be read", "an error", "its bytes");
    left -= bytes;
    return {};
  }
};

Result<std::size_t> read_header_length(Source& source) {
  unsigned char preamble[kPreamble] = {}, length[4] = {};
  CONVGRAD_RETURN_IF_ERROR(source.read(preamble, sizeof(preamble), "first 8 bytes"));
  if (std::memcmp(preamble, kMagic.data(), kMagic.size()) != 0)
    return source.bad("it does not start as one", "other bytes", "\\x93NUMPY");
  const int version = preamble[6];
  if (version < 1 || version > 3)
    return source.bad("its version is unknown", concat(version, ".", int{preamble[7]}), "1.0, 2.0 or 3.0");
  CONVGRAD_RETURN_IF_ERROR(source.read(length, version == 1 ? 2 : 4, "header length"));
  const std::size_t bytes =
      length[0] | std::size_t{length[1]} << 8 | std::size_t{length[2]} << 16 | std::size_t{length[3]} << 24;
  if (bytes > kMaxHeader)
    return source.bad("its header is too long", concat(bytes, " bytes"), concat("at most ", kMaxHeader));
  return bytes;
}

Result<NpyHeader> read_header(Source& source) {
  const Result<std::size_t> length = read_header_length(source);
  if (!length.ok()) return length.status();
  string text(*length, '\0');
  CONVGRAD_RETURN_IF_ERROR(source.read(text.data(), text.size(), "header"));
  std::optional<NpyHeader> header = parse_npy_header(text);
  if (header) return std::move(*header);
  const bool plain = bad_utf8(text) == string::npos;
  return source.bad("its header cannot be read", plain ? shown(text) : string("other bytes"),
                    "a dict of descr (a plain type), fortran_order and shape");
}

// The type of "<f4"; none when tensors do not hold it. Raw bytes and single ones have no order.
const DataTypeInfo* type_of(std::string_view descr) {
  if (descr.size() != 3 || std::string_view("<>=|").find(descr[0]) == std::string_view::npos) return nullptr;
  for (const DataTypeInfo& row : all_data_types()) {
    if (row.letters != descr.substr(1)) continue;
    return descr[0] == '|' && row.bytes > 1 && row.dtype != DT_BFLOAT16 ? nullptr : &row;
  }
  return nullptr;
}

// What the file must hold when the caller names it; bfloat16 may then lie in u2, which NumPy has a type for.
const DataTypeInfo* type_of(std::string_view descr, DataType wanted) {
  if (wanted == DT_BFLOAT16 && (descr == "<u2" || descr == ">u2" || descr == "=u2")) return data_type_info(wanted);
  const DataTypeInfo* row = type_of(descr);
  return row != nullptr && row->dtype == wanted ? row : nullptr;
}

// As NumPy writes it: "<f4"; single and raw bytes have no order.
string descr_of(const DataTypeInfo& row) {
  return concat(row.bytes > 1 && row.dtype != DT_BFLOAT16 ? "<" : "|", row.letters);
}

string shown_descr(const string& descr) {
  return bad_utf8(descr) == string::npos ? shown(descr) : string("other bytes");
}

Result<const DataTypeInfo*> file_type(const Source& source, const string& descr, std::optional<DataType> wanted) {
  const DataTypeInfo* row = wanted ? type_of(descr, *wanted) : type_of(descr);
  if (row != nullptr) return row;
  if (!wanted || data_type_info(*wanted) == nullptr)
    return source.bad("tensors do not hold its element type", shown_descr(descr),
                      "f2, f4, f8, i1, i2, i4, i8, u1, b1, or V2 for bfloat16");
  const std::optional<DType> eager = eager_dtype(*wanted);
  return refuse("npy", {.rule = Rule::dtype,
                        .argument = source.name,
                        .reason = concat(shown(source.name), " has another element type"),
                        .got = shown_descr(descr),
                        .wanted = concat(shown(descr_of(*data_type_info(*wanted))), ", ",
                                         eager ? string(info(*eager).numpy_name) : DataTypeString(*wanted))});
}

void swap_bytes(Tensor& tensor, std::size_t each) {
  auto* bytes = static_cast<unsigned char*>(tensor.data());
  for (int64 i = 0; i < tensor.NumElements(); ++i, bytes += each) std::reverse(bytes, bytes + each);
}

// A bool of any other byte than 0 and 1 would be no bool in memory.
void normalize_bools(Tensor& tensor) {
  auto* bytes = static_cast<unsigned char*>(tensor.data());
  for (int64 i = 0; i < tensor.NumElements(); ++i) bytes[i] = bytes[i] != 0 ? 1 : 0;
}

// Column-major elements as a row-major tensor.
Result<Tensor> from_fortran_order(const Tensor& from, std::size_t each) {
  const Shape& sizes = from.shape().dim_sizes();
  Result<Tensor> to = Tensor::make(from.dtype(), sizes);
  if (!to.ok()) return to;
  std::vector<int64> index(sizes.size(), 0), steps(sizes.size(), 1);
  for (std::size_t axis = 1; axis < sizes.size(); ++axis) steps[axis] = steps[axis - 1] * sizes[axis - 1];
  int64 source = 0;
  for (int64 i = 0; i < to->NumElements(); ++i) {
    std::memcpy(static_cast<char*>(to->data()) + static_cast<std::size_t>(i) * each,
                static_cast<const char*>(from.data()) + static_cast<std::size_t>(source) * each, each);
    for (std::size_t axis = sizes.size(); axis-- > 0;) {  // the next index, last dimension fastest
      source += steps[axis];
      if (++index[axis] < sizes[axis]) break;
      source -= steps[axis] * sizes[axis];
      index[axis] = 0;
    }
  }
  return to;
}

// By division: the product of a hostile shape and the element size may not fit.
convgrad::Status data_is_whole(const Source& source, const Shape& shape, std::size_t each) {
  const Result<int64> count = element_count(shape);
  if (!count.ok())
    return source.bad("its shape is impossible", convgrad::to_text(shape),
                      "sizes of 0 or more with a product below 2^63");
  if (source.left % each == 0 && source.left / each == static_cast<std::uintmax_t>(*count)) return {};
  return source.bad("its data has not the size of its shape", concat(source.left, " bytes"),
                    concat(*count, " elements of ", each, " bytes"));
}

Result<Tensor> read_tensor(Source& source, std::optional<DataType> wanted) {
  const Result<NpyHeader> header = read_header(source);
  if (!header.ok()) return header.status();
  const Result<const DataTypeInfo*> row = file_type(source, header->descr, wanted);
  if (!row.ok()) return row.status();
  const auto [dtype, each] = std::pair((*row)->dtype, (*row)->bytes);
  CONVGRAD_RETURN_IF_ERROR(data_is_whole(source, header->shape, each));
  Result<Tensor> tensor = Tensor::make(dtype, header->shape);
  if (!tensor.ok()) return tensor;
  CONVGRAD_RETURN_IF_ERROR(source.read(tensor->data(), static_cast<std::size_t>(tensor->TotalBytes()), "data"));
  if (header->descr[0] == '>' && !header->descr.ends_with("V2")) swap_bytes(*tensor, each);
  if (dtype == DT_BOOL) normalize_bools(*tensor);
  return header->fortran_order ? from_fortran_order(*tensor, each) : tensor;
}

// Everything before the data, which starts at a multiple of 64 bytes; the last byte is a line end.
string head_of(const Tensor& tensor, const DataTypeInfo& row) {
  string text = npy_header_text({.descr = descr_of(row), .shape = tensor.shape().dim_sizes()});
  text.append(63 - (kPreamble + 2 + text.size()) % 64, ' ');
  text += '\n';
  string head(kMagic);
  head += {'\x01', '\0', static_cast<char>(text.size() & 0xFF), static_cast<char>(text.size() >> 8)};
  return head + text;
}

convgrad::Status writable(const Tensor& tensor) {
  constexpr int kMaxRank = 32;
  if (tensor.IsInitialized() && tensor.dims() <= kMaxRank) return {};
  return bad_npy("tensor", "it cannot be written", tensor.IsInitialized() ? tensor.shape().DebugString() : "no memory",
                 concat("elements, and at most ", kMaxRank, " dimensions"));
}

}  // namespace

Result<Tensor> parse_npy(std::string_view bytes, std::string_view name) {
  return guarded([&]() -> Result<Tensor> {
    std::string_view rest = bytes;
    Source source{name, bytes.size(), [&rest](void* to, std::size_t count) {
                    std::memcpy(to, rest.data(), count);
                    rest.remove_prefix(count);
                    return true;
                  }};
    return read_tensor(source, {});
  });
}

Result<string> npy_bytes(const Tensor& tensor) {
  return guarded([&]() -> Result<string> {
    CONVGRAD_RETURN_IF_ERROR(writable(tensor));
    return head_of(tensor, *data_type_info(tensor.dtype())) + string(tensor.tensor_data());
  });
}

Result<Tensor> read_npy(const string& path, std::optional<DataType> wanted) {
  return guarded([&]() -> Result<Tensor> {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error))  // a pipe or a device could make it wait for ever
      return bad_npy(path, "it cannot be read", error ? error.message() : "no plain file", "a .npy file");
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (file == nullptr || error) return bad_npy(path, "it cannot be read", "an error of the system", "a .npy file");
    Source source{path, size,
                  [&](void* to, std::size_t count) { return std::fread(to, 1, count, file.get()) == count; }};
    return read_tensor(source, wanted);
  });
}

convgrad::Status write_npy(const string& path, const Tensor& tensor) {
  return guarded([&]() -> convgrad::Status {
    CONVGRAD_RETURN_IF_ERROR(writable(tensor));
    const string head = head_of(tensor, *data_type_info(tensor.dtype()));
    const std::string_view parts[] = {head, tensor.tensor_data()};
    return write_file(path, parts);
  });
}

}  // namespace convgrad::graph
