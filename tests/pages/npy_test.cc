// NumPy files of all element types, and files that lie.
#include "convgrad/npy.h"

#include <cstring>

#include "pages/pages.h"

namespace convgrad::graph {
namespace {

using test::Folder;

string npy(const string& header, const string& data) {
  string bytes = "\x93NUMPY";
  bytes += {'\x01', '\0', static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
  return bytes + header + data;
}

Tensor counted(DataType dtype, const TensorShape& shape) {
  Tensor tensor(dtype, shape);
  auto* bytes = static_cast<unsigned char*>(tensor.data());
  for (int64 i = 0; i < tensor.TotalBytes(); ++i)
    bytes[i] = static_cast<unsigned char>(dtype == DT_BOOL ? i % 2 : i * 7 + 1);
  return tensor;
}

TEST(Npy, keeps_every_bit_of_every_type) {
  for (const DataTypeInfo& row : all_data_types()) {
    for (const TensorShape& shape : {TensorShape{}, TensorShape{3}, TensorShape{2, 3, 4}, TensorShape{0, 2}}) {
      const Tensor tensor = counted(row.dtype, shape);
      const Result<Tensor> back = parse_npy(npy_bytes(tensor).value());
      ASSERT_TRUE(back.ok()) << row.name << back.status().message();
      EXPECT_TRUE(same_value(tensor, *back)) << row.name << shape;
    }
  }
}

TEST(Npy, starts_its_data_at_a_multiple_of_64) {
  const string bytes = npy_bytes(counted(DT_FLOAT, {2, 3})).value();
  EXPECT_EQ(bytes.size(), 128u + 24u);
  EXPECT_EQ(bytes.substr(10, 59), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
  EXPECT_EQ(bytes[127], '\n');
}

TEST(Npy, writes_bfloat16_as_raw_bytes) {
  EXPECT_NE(npy_bytes(counted(DT_BFLOAT16, {2})).value().find("'|V2'"), string::npos);
}

TEST(Npy, reads_the_other_byte_order) {
  const Tensor tensor =
      parse_npy(npy("{'descr': '>i4', 'fortran_order': False, 'shape': (2,), }", string("\0\0\1\2\0\0\0\7", 8)))
          .value();
  EXPECT_EQ(tensor.flat<int32>()(0), 258);
  EXPECT_EQ(tensor.flat<int32>()(1), 7);
}

TEST(Npy, reads_columns_first) {
  const Tensor tensor =
      parse_npy(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", "\1\2\3\4\5\6")).value();
  EXPECT_EQ(test::numbers(tensor), "1 3 5 2 4 6");
}

TEST(Npy, makes_bools_of_all_bytes) {
  const Tensor tensor =
      parse_npy(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", string("\0\x80", 2))).value();
  EXPECT_EQ(tensor.tensor_data(), string("\0\1", 2));
}

TEST(Npy, refuses_files_that_lie) {
  const string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  EXPECT_TRUE(parse_npy(npy(good, string(8, '\0'))).ok());
  for (const string& bytes :
       {string(), string("\x93NUMPY"), npy(good, string(7, '\0')), npy(good, string(9, '\0')), npy(good, ""),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,), }", ""),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 9223372036854775807), }", "1234"),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", ""),
        npy("{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", string(8, '\0')),
        npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", string(8, '\0')),
        npy("{'descr': '<f4', 'shape': (2,), }", string(8, '\0')), npy("{", ""), npy(string(65535, ' '), "")}) {
    const Result<Tensor> tensor = parse_npy(bytes, "x.npy");
    ASSERT_FALSE(tensor.ok()) << bytes;
    EXPECT_EQ(tensor.status().argument(), "x.npy");
  }
}

TEST(Npy, files_are_written_whole_and_read_back) {
  const Folder folder;
  const Tensor tensor = counted(DT_DOUBLE, {5, 7});
  ASSERT_TRUE(write_npy(folder / "x.npy", tensor).ok());
  EXPECT_TRUE(same_value(tensor, read_npy(folder / "x.npy").value()));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  EXPECT_FALSE(read_npy(folder / "none.npy").ok());
  EXPECT_FALSE(read_npy(folder.path()).ok());
  EXPECT_FALSE(read_npy("/dev/zero").ok());
  EXPECT_FALSE(write_npy(folder / "no/x.npy", tensor).ok());
}

TEST(Npy, a_full_device_refuses_and_stays_a_device) {
  const convgrad::Status status = write_npy("/dev/full", counted(DT_FLOAT, {3}));
  EXPECT_EQ(status.got(), "No space left on device");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
  const Folder folder;
  std::filesystem::create_symlink("/dev/full", folder / "link.npy");
  EXPECT_EQ(write_npy(folder / "link.npy", counted(DT_FLOAT, {3})).got(), "No space left on device");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.npy"));
}

TEST(Npy, a_wanted_type_is_the_only_one_taken) {
  const Folder folder;
  ASSERT_TRUE(write_npy(folder / "x.npy", counted(DT_FLOAT, {3})).ok());
  EXPECT_TRUE(read_npy(folder / "x.npy", DT_FLOAT).ok());
  const Result<Tensor> other = read_npy(folder / "x.npy", DT_DOUBLE);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.status().rule(), "dtype");
  EXPECT_EQ(other.status().got(), R"("<f4")");
  EXPECT_EQ(other.status().wanted(), R"("<f8", float64)");
}

}  // namespace
}  // namespace convgrad::graph
