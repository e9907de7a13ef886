// .npy files: what is written, what is read back, and every way a file can be broken.
#include "cli/npy.h"

#include <gtest/gtest.h>

#include <cstring>

#include "cli/operands.h"
#include "cli/program.h"

namespace convgrad::test {
namespace {

// A file made by hand: magic, version, header length, header, data.
std::string npy(const std::string& header, const std::string& data, int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  const std::size_t length = header.size();
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) bytes += static_cast<char>(length >> (8 * i));
  return bytes + header + data;
}

std::string dict(const std::string& descr, const std::string& shape, const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

Result<graph::Tensor> read(const std::string& bytes, DType dtype) {
  write_file(scratch("t.npy"), bytes);
  return cli::read_npy(scratch("t.npy"), dtype, "--first");
}

template <class T>
std::string bytes_of(const std::vector<T>& values, bool big_endian = false) {
  std::string bytes;
  for (const T& value : values) {
    std::string one(reinterpret_cast<const char*>(&value), sizeof(T));
    bytes += big_endian ? std::string(one.rbegin(), one.rend()) : one;
  }
  return bytes;
}

void expect_bad(const std::string& bytes, const std::string& rule, const std::string& part) {
  const Result<graph::Tensor> tensor = read(bytes, DType::f32);
  ASSERT_FALSE(tensor.ok()) << part;
  EXPECT_EQ(tensor.status().code(), StatusCode::invalid_argument);
  EXPECT_EQ(tensor.status().rule(), rule) << tensor.status().message();
  EXPECT_EQ(tensor.status().argument(), "--first");
  EXPECT_NE(tensor.status().message().find(part), std::string::npos) << tensor.status().message() << " wanted " << part;
}

TEST(Npy, writes_what_numpy_writes) {
  cli::write_npy(scratch("w.npy"), Tensor::from<float>({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6}).value());
  const std::string bytes = read_file(scratch("w.npy"));
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  header += std::string(117 - header.size(), ' ') + "\n";
  EXPECT_EQ(bytes, npy(header, bytes_of<float>({1, 2, 3, 4, 5, 6})));
  EXPECT_EQ(bytes.size(), 128u + 24u);
}

TEST(Npy, writes_each_dtype_and_rank_by_name) {
  const std::pair<DType, const char*> names[] = {
      {DType::f16, "<f2"}, {DType::bf16, "|V2"}, {DType::f32, "<f4"}, {DType::f64, "<f8"}, {DType::i32, "<i4"}};
  for (const auto& [dtype, descr] : names) {
    cli::write_npy(scratch("w.npy"), Tensor::zeros(dtype, {3}).value());
    EXPECT_NE(read_file(scratch("w.npy")).find(dict(descr, "(3,)").substr(0, 50)), std::string::npos) << descr;
  }
  cli::write_npy(scratch("w.npy"), Tensor::zeros(DType::f32, {}).value());
  EXPECT_NE(read_file(scratch("w.npy")).find("'shape': (), }"), std::string::npos);
}

TEST(Npy, round_trips_every_dtype_and_shape) {
  for (const DTypeInfo& dtype : all_dtypes()) {
    for (const Shape& shape : {Shape{}, Shape{1}, Shape{7}, Shape{2, 3}, Shape{0, 4}, Shape{2, 1, 3, 2, 2}}) {
      const Tensor tensor = cli::random_operand(dtype.dtype, shape, 11, 0).value();
      cli::write_npy(scratch("t.npy"), tensor);
      const graph::Tensor back = cli::read_npy(scratch("t.npy"), dtype.dtype, "--first").value();
      EXPECT_EQ(back.shape().dim_sizes(), shape);
      EXPECT_EQ(back.dtype(), graph::data_type_of(dtype.dtype));
      EXPECT_EQ(std::memcmp(back.data(), tensor.data(), static_cast<std::size_t>(tensor.bytes())), 0) << dtype.id;
      EXPECT_EQ(read_file(scratch("t.npy")).size() % 64, static_cast<std::size_t>(tensor.bytes()) % 64);
    }
  }
}

TEST(Npy, reads_versions_1_to_3) {
  for (int version : {1, 2, 3}) {
    const graph::Tensor tensor =
        read(npy(dict("<f4", "(2,)"), bytes_of<float>({1.5, -2}), version), DType::f32).value();
    EXPECT_EQ(tensor.at(0), 1.5) << version;
    EXPECT_EQ(tensor.at(1), -2) << version;
  }
}

TEST(Npy, reads_both_byte_orders_of_every_dtype) {
  EXPECT_EQ(read(npy(dict(">f4", "(2,)"), bytes_of<float>({1.5, -2}, true)), DType::f32)->at(0), 1.5);
  EXPECT_EQ(read(npy(dict("=f4", "(2,)"), bytes_of<float>({1.5, -2})), DType::f32)->at(1), -2);
  EXPECT_EQ(read(npy(dict(">f8", "(1,)"), bytes_of<double>({0.1}, true)), DType::f64)->at(0), 0.1);
  EXPECT_EQ(read(npy(dict("<f8", "(1,)"), bytes_of<double>({0.1})), DType::f64)->at(0), 0.1);
  EXPECT_EQ(read(npy(dict(">i4", "(1,)"), bytes_of<std::int32_t>({-70000}, true)), DType::i32)->at(0), -70000);
  EXPECT_EQ(read(npy(dict("<i4", "(1,)"), bytes_of<std::int32_t>({-70000})), DType::i32)->at(0), -70000);
  EXPECT_EQ(read(npy(dict(">f2", "(1,)"), bytes_of<std::uint16_t>({0x3E00}, true)), DType::f16)->at(0), 1.5);
  EXPECT_EQ(read(npy(dict("<f2", "(1,)"), bytes_of<std::uint16_t>({0x3E00})), DType::f16)->at(0), 1.5);
}

TEST(Npy, reads_bfloat16_from_raw_bytes_and_from_u2) {
  EXPECT_EQ(read(npy(dict("|V2", "(1,)"), bytes_of<std::uint16_t>({0x3FC0})), DType::bf16)->at(0), 1.5);
  EXPECT_EQ(read(npy(dict("<V2", "(1,)"), bytes_of<std::uint16_t>({0x3FC0})), DType::bf16)->at(0), 1.5);
  EXPECT_EQ(read(npy(dict("<u2", "(1,)"), bytes_of<std::uint16_t>({0x3FC0})), DType::bf16)->at(0), 1.5);
  EXPECT_EQ(read(npy(dict(">u2", "(1,)"), bytes_of<std::uint16_t>({0x3FC0}, true)), DType::bf16)->at(0), 1.5);
  EXPECT_FALSE(read(npy(dict("<u2", "(1,)"), bytes_of<std::uint16_t>({1})), DType::f16).ok());
  EXPECT_FALSE(read(npy(dict("<f2", "(1,)"), bytes_of<std::uint16_t>({1})), DType::bf16).ok());
}

TEST(Npy, reads_fortran_order_of_every_dtype) {
  for (const DTypeInfo& dtype : all_dtypes()) {
    // The element at (i, j, k) of a [2,3,4] array, laid out column by column.
    const Tensor wanted = cli::random_operand(dtype.dtype, {2, 3, 4}, 5, 0).value();
    const auto* from = static_cast<const char*>(wanted.data());
    std::string data;
    for (std::size_t k = 0; k < 4; ++k)
      for (std::size_t j = 0; j < 3; ++j)
        for (std::size_t i = 0; i < 2; ++i) data.append(from + ((i * 3 + j) * 4 + k) * dtype.bytes, dtype.bytes);
    const char* descr = dtype.id == "f16"    ? "<f2"
                        : dtype.id == "bf16" ? "|V2"
                        : dtype.id == "f32"  ? "<f4"
                        : dtype.id == "f64"  ? "<f8"
                                             : "<i4";
    const graph::Tensor got = read(npy(dict(descr, "(2, 3, 4)", "True"), data), dtype.dtype).value();
    EXPECT_EQ(got.shape().dim_sizes(), wanted.shape());
    EXPECT_EQ(std::memcmp(got.data(), wanted.data(), static_cast<std::size_t>(wanted.bytes())), 0) << dtype.id;
  }
  EXPECT_EQ(read(npy(dict("<f4", "(0, 3)", "True"), ""), DType::f32)->shape().dim_sizes(), (Shape{0, 3}));
}

TEST(Npy, reads_headers_as_other_writers_spell_them) {
  const std::string one = bytes_of<float>({2});
  EXPECT_EQ(read(npy("{\"shape\":(1,),\"fortran_order\":False,\"descr\":\"<f4\"}", one), DType::f32)->at(0), 2);
  EXPECT_EQ(read(npy("  { 'descr' : '<f4' , 'fortran_order' : False , 'shape' : ( 1L , 1 ) }  ", one), DType::f32)
                ->shape()
                .dim_sizes(),
            (Shape{1, 1}));
}

TEST(Npy, refuses_another_element_type) {
  expect_bad(npy(dict("<f8", "(1,)"), bytes_of<double>({1})), "dtype", R"(got "<f8", wanted "<f4", float32)");
  for (const char* descr : {"|f4", "f4", "<f44", "<i4", "<c8", "", "|O", "<U1", "|V2"})
    expect_bad(npy(dict(descr, "(1,)"), "abcd"), "dtype", R"(wanted "<f4")");
}

TEST(Npy, refuses_every_truncation) {
  const std::string whole = npy(dict("<f4", "(2, 2)"), bytes_of<float>({1, 2, 3, 4}));
  ASSERT_TRUE(read(whole, DType::f32).ok());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Result<graph::Tensor> tensor = read(whole.substr(0, size), DType::f32);
    ASSERT_FALSE(tensor.ok()) << size;
    EXPECT_EQ(tensor.status().rule(), "operand-data") << size;
  }
  expect_bad(whole + "x", "operand-data", "has not the size of its shape");
  expect_bad(whole + "wxyz", "operand-data", "wanted 4 elements of 4 bytes");
}

TEST(Npy, refuses_impossible_shapes) {
  const auto with = [](const std::string& shape) { return npy(dict("<f4", shape), "abcd"); };
  expect_bad(with("(-1,)"), "operand-data", "shape is impossible");
  expect_bad(with("(-1, -1)"), "operand-data", "shape is impossible");
  expect_bad(with("(4611686018427387904, 4)"), "operand-data", "shape is impossible");
  expect_bad(with("(4611686018427387905,)"), "operand-data", "4611686018427387905 elements");
  expect_bad(with("(9223372036854775807,)"), "operand-data", "4 bytes");
  expect_bad(with("(0, 9223372036854775807, 9223372036854775807)"), "operand-data", "shape is impossible");
  expect_bad(with("(9223372036854775808,)"), "operand-data", "header cannot be read");
  expect_bad(with("(1.0,)"), "operand-data", "header cannot be read");
  expect_bad(with("[1]"), "operand-data", "header cannot be read");
  std::string many = "(";
  for (int i = 0; i < 100; ++i) many += "1, ";
  expect_bad(with(many + ")"), "operand-data", "header cannot be read");
}

TEST(Npy, refuses_garbage_headers) {
  for (const std::string& header :
       {std::string(), std::string("{"), std::string("}"), std::string("{}"), std::string("[]"),
        std::string("{'descr'"), std::string("{'descr': '<f4'}"),
        std::string("{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}"),
        std::string("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}"), dict("<f4", "(1,)") + "more",
        std::string("{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}"),
        std::string("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}"),
        std::string("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}"), std::string(300, '\0'),
        std::string(300, '{'), std::string(300, '\''), std::string("\xff\xfe\xfd")}) {
    expect_bad(npy(header, "abcd"), "operand-data", "header cannot be read");
  }
}

TEST(Npy, refuses_other_files_and_versions) {
  expect_bad("PK\3\4 a zip file", "operand-data", "does not start as one");
  expect_bad("", "operand-data", "ends inside its first 8 bytes");
  expect_bad(npy(dict("<f4", "(1,)"), "abcd", 4), "operand-data", "version");
  std::string huge = npy("", "", 2);
  huge.replace(8, 4, "\xff\xff\xff\xff");
  expect_bad(huge, "operand-data", "too long");
  huge.replace(8, 4, std::string("\0\0\x08\0", 4));
  expect_bad(huge, "operand-data", "ends inside its header");
}

// Any one byte of a good file changed: an answer, never a crash.
TEST(Npy, survives_every_single_byte_change) {
  const std::string whole = npy(dict("<f4", "(2, 2)"), bytes_of<float>({1, 2, 3, 4}));
  std::size_t refused = 0;
  for (std::size_t at = 0; at < whole.size() - 16; ++at) {
    for (unsigned char byte : {0x00, 0x20, 0x27, 0x30, 0x39, 0x7D, 0xFF}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(byte);
      refused += read(changed, DType::f32).ok() ? 0 : 1;
    }
  }
  EXPECT_GT(refused, 300u);
}

}  // namespace
}  // namespace convgrad::test
