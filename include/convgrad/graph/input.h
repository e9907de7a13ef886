// Operation, Output, Input and Input::Initializer: TensorFlow's overload sets, exactly.
// More constructors ("helpful" ones from vectors or spans) would make braced arguments ambiguous.
#ifndef CONVGRAD_GRAPH_INPUT_H_
#define CONVGRAD_GRAPH_INPUT_H_

#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

#include "convgrad/graph/node.h"

namespace convgrad::graph {

class Output;

// A node as its users see it.
class CONVGRAD_API Operation {
 public:
  Operation() = default;
  explicit Operation(Node* node) : node_(node) {}

  int32 num_inputs() const { return node_ == nullptr ? 0 : node_->num_inputs(); }
  int32 num_outputs() const { return node_ == nullptr ? 0 : node_->num_outputs(); }
  DataType input_type(int32 index) const { return node_ == nullptr ? DT_INVALID : node_->input_type(index); }
  DataType output_type(int32 index) const { return node_ == nullptr ? DT_INVALID : node_->output_type(index); }
  Output input(int32 index) const;
  Output output(int32 index) const;
  Node* node() const { return node_; }
  uint64_t hash(int32 index) const;
  friend bool operator==(const Operation&, const Operation&) = default;

 private:
  Node* node_ = nullptr;
};

// One output of an operation.
class CONVGRAD_API Output {
 public:
  Output() = default;
  explicit Output(Node* node) : op_(node) {}
  Output(Node* node, int32 index) : op_(node), index_(index) {}
  Output(const Operation& op, int32 index) : op_(op), index_(index) {}

  Operation op() const { return op_; }
  Node* node() const { return op_.node(); }
  int32 index() const { return index_; }
  DataType type() const { return op_.output_type(index_); }
  string name() const;  // "node:0"
  uint64_t hash() const { return op_.hash(index_); }
  friend bool operator==(const Output&, const Output&) = default;

 private:
  Operation op_ = Operation(nullptr);
  int32 index_ = 0;
};
struct OutputHash {
  std::size_t operator()(const Output& output) const { return output.hash(); }
};
using OutputList = std::vector<Output>;

namespace detail {
template <class T>
inline constexpr bool is_literal = std::is_arithmetic_v<T> || std::is_convertible_v<T, string>;
CONVGRAD_API Status no_such_tensor(DataType dtype);
CONVGRAD_API Status wrong_count(const TensorShape& shape, std::size_t count);
}  // namespace detail

// What an op reads: an output of another op, or a value that becomes a constant.
class CONVGRAD_API Input {
 public:
  // A constant by its literal. A mistake leaves a Status that says so.
  struct CONVGRAD_API Initializer {
    // The type of a literal's elements.
    template <class T, bool number = std::is_arithmetic_v<T>>
    struct RealType {
      using type = string;
    };
    template <class T>
    struct RealType<T, true> {
      using type = T;
    };

    template <class T, class = std::enable_if_t<detail::is_literal<T>>>
    Initializer(const T& value) {  // NOLINT: all of these are implicit, as in TensorFlow
      fill(&value, 1, true, TensorShape{});
    }
    Initializer(const Tensor& value) : tensor(value) {}  // NOLINT
    template <class T, class = std::enable_if_t<detail::is_literal<T>>>
    Initializer(const T& value, const TensorShape& shape) {
      fill(&value, 1, true, shape);
    }
    template <class T, class = std::enable_if_t<detail::is_literal<T>>>
    Initializer(const std::initializer_list<T>& values) {  // NOLINT
      fill(values.begin(), values.size(), false, TensorShape{static_cast<int64>(values.size())});
    }
    template <class T, class = std::enable_if_t<detail::is_literal<T>>>
    Initializer(const std::initializer_list<T>& values, const TensorShape& shape) {
      fill(values.begin(), values.size(), false, shape);
    }
    Initializer(const std::initializer_list<Initializer>& values);  // NOLINT

    // From a vector; not a constructor, see the head of this file.
    template <class T>
    static Initializer from(const std::vector<T>& values, const TensorShape& shape) {
      Initializer made{Tensor()};
      made.fill(values.data(), values.size(), false, shape);
      return made;
    }

    Status status;
    Tensor tensor;

   private:
    template <class T>
    void fill(const T* values, std::size_t count, bool repeat, const TensorShape& shape);
  };

  Input(const Output& output) : output_(output), constant_(false) {}  // NOLINT
  template <class T, class = std::enable_if_t<detail::is_literal<T>>>
  Input(const T& value) : Input(Initializer(value)) {}                                     // NOLINT
  Input(const Initializer& value) : status_(value.status), tensor_(value.tensor) {}        // NOLINT
  Input(const Tensor& value) : tensor_(value) {}                                           // NOLINT
  Input(const std::initializer_list<Initializer>& values) : Input(Initializer(values)) {}  // NOLINT

  Node* node() const { return output_.node(); }
  int32 index() const { return output_.index(); }
  const Output& output() const { return output_; }
  const Tensor& tensor() const { return tensor_; }
  const Status& status() const { return status_; }
  bool is_constant() const { return constant_; }
  DataType data_type() const { return node() == nullptr ? tensor_.dtype() : output_.type(); }

 private:
  Status status_;
  Output output_{Operation(nullptr), 0};
  Tensor tensor_;
  bool constant_ = true;
};

class InputList {
 public:
  InputList(const OutputList& outputs) : inputs_(outputs.begin(), outputs.end()) {}                     // NOLINT
  InputList(const std::initializer_list<Input>& inputs) : inputs_(inputs) {}                            // NOLINT
  InputList(const std::vector<Input>& inputs) : inputs_(inputs) {}                                      // NOLINT
  InputList(const std::initializer_list<Output>& outputs) : inputs_(outputs.begin(), outputs.end()) {}  // NOLINT
  const std::vector<Input>& inputs() const { return inputs_; }
  std::size_t size() const { return inputs_.size(); }
  std::vector<Input>::const_iterator begin() const { return inputs_.begin(); }
  std::vector<Input>::const_iterator end() const { return inputs_.end(); }

 private:
  std::vector<Input> inputs_;
};

template <class T>
void Input::Initializer::fill(const T* values, std::size_t count, bool repeat, const TensorShape& shape) {
  using Real = typename RealType<T>::type;
  constexpr DataType dtype = data_type_for<Real>();
  if constexpr (dtype == DT_STRING || dtype == DT_INVALID) {
    status = detail::no_such_tensor(dtype);
  } else {
    Result<Tensor> made = Tensor::make(dtype, shape.dim_sizes());
    if (!made.ok()) {
      status = made.status();
      return;
    }
    tensor = std::move(*made);
    if (!repeat && tensor.NumElements() != static_cast<int64>(count)) {
      status = detail::wrong_count(shape, count);
      return;
    }
    using Stored = typename EnumToDataType<dtype>::Type;  // one type for long and long long
    Stored* to = static_cast<Stored*>(tensor.data());
    for (int64 i = 0; i < tensor.NumElements(); ++i) to[i] = values[repeat ? 0 : i];
  }
}

}  // namespace convgrad::graph

#endif  // CONVGRAD_GRAPH_INPUT_H_
