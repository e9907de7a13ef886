// Reads attributes through TensorFlow's C interface; those that an op lacks keep its default.
#include "attributes.h"

#include <algorithm>

namespace convgrad::tensorflow {
namespace {

// Reads one attribute after the other and keeps the first failure.
class Reader {
 public:
  explicit Reader(TF_OpKernelConstruction* node) : node_(node) {}

  TfDType type(const char* name) {
    TfDType value = 0;
    if (ok()) api().OpKernelConstruction_GetAttrType(node_, name, &value, status_.get());
    return value;
  }
  Shape integers(const char* name) {
    Shape values;
    if (!has(name)) return values;
    values.resize(static_cast<std::size_t>(size(name).entries));
    if (ok() && !values.empty()) {
      api().OpKernelConstruction_GetAttrInt64List(node_, name, values.data(), static_cast<int>(values.size()),
                                                  status_.get());
    }
    return values;
  }
  std::string text(const char* name, std::string_view otherwise) {
    if (!has(name)) return std::string(otherwise);
    std::string value(static_cast<std::size_t>(size(name).bytes), '\0');
    if (ok()) api().OpKernelConstruction_GetAttrString(node_, name, value.data(), value.size(), status_.get());
    return value;
  }
  Status status() const { return status_.taken(); }

 private:
  struct Size {
    std::int32_t entries = 0, bytes = 0;
  };
  bool ok() const { return status_.taken().ok(); }
  bool has(const char* name) { return ok() && api().OpKernelConstruction_HasAttr(node_, name, status_.get()) && ok(); }
  // Never negative, whatever was reported.
  Size size(const char* name) {
    Size got;
    if (ok()) api().OpKernelConstruction_GetAttrSize(node_, name, &got.entries, &got.bytes, status_.get());
    return {std::max(got.entries, 0), std::max(got.bytes, 0)};
  }

  TF_OpKernelConstruction* node_;
  TfStatus status_;
};

}  // namespace

Result<Attributes> read_attributes(TF_OpKernelConstruction* node, int rank) {
  Reader reader(node);
  Attributes attributes;
  attributes.tf_dtype = reader.type("T");
  for (const TfDTypeRow& row : kTfDTypes) {
    if (row.number == attributes.tf_dtype) attributes.dtype = row.dtype;
  }
  attributes.strides = reader.integers("strides");
  attributes.dilations = reader.integers("dilations");
  attributes.explicit_paddings = reader.integers("explicit_paddings");
  attributes.padding = reader.text("padding", "");
  attributes.data_format = reader.text("data_format", data_format(Layout::channels_last, rank));
  if (Status status = reader.status(); !status.ok()) return status;
  return attributes;
}

}  // namespace convgrad::tensorflow
