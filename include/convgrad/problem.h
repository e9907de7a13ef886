// ConvProblem: one convolution or gradient as numbers, and its one text form.
//
//   n2c16h9w9_k8r3s3_st2_di1_same_g1_f32_filter_grad
//   n1c4d5h6w7_k8t3r3s3_st1x2x2_di2_pad1.0x0.1x2.2_g2_chfirst_bf16_input_grad
//
// Grammar, parts joined by '_' (the first two first, the direction last, the others in any order):
//   n<batch>c<channels>[d<depth>][h<height>]w<width>     one, two or three sizes give the rank
//   k<out channels>[t<depth>][r<height>]s<width>         filter sizes
//   st<stride>  di<dilation>      one number, or one a dimension joined by 'x'; default 1
//   same | valid | pad<before>.<after>x...               one pair, or one a dimension
//   g<groups> | fc<filter channels>                      default g1; fc where c is no multiple of it
//   chlast | chfirst                                     layout; default chlast
//   out<size>x...                                        out_backprop's size as the caller states it
//   f16 | bf16 | f32 | f64 | i32                         default f32
//   forward | input_grad | filter_grad | bias_grad
#ifndef CONVGRAD_PROBLEM_H_
#define CONVGRAD_PROBLEM_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convgrad/dtype.h"
#include "convgrad/export.h"
#include "convgrad/status.h"

namespace convgrad {

enum class Direction : int { forward = 0, input_grad = 1, filter_grad = 2, bias_grad = 3 };
enum class Layout : int { channels_last = 0, channels_first = 1 };
enum class PaddingKind : int { same = 0, valid = 1, explicit_pairs = 2 };

CONVGRAD_API std::string_view name(Direction direction);
// "NHWC", "NCDHW", ...; "NWC" and "NCW" for rank 1.
CONVGRAD_API std::string_view data_format(Layout layout, int rank);

// Sizes by spatial dimension in the caller's order; entries past the rank are ignored.
using Extents = std::array<std::int64_t, 3>;
// (before, after) zeros around one spatial dimension.
using PadPair = std::pair<std::int64_t, std::int64_t>;

struct ConvProblem {
  Direction direction = Direction::filter_grad;
  int rank = 2;  // spatial dimensions: 1, 2 or 3
  DType dtype = DType::f32;
  Layout layout = Layout::channels_last;
  std::int64_t n = 1;
  std::int64_t c_in = 1;
  std::int64_t filter_c = 1;  // input channels a filter sees; groups = c_in / filter_c
  std::int64_t c_out = 1;
  Extents in{1, 1, 1};
  Extents filter{1, 1, 1};
  Extents stride{1, 1, 1};
  Extents dilation{1, 1, 1};
  PaddingKind padding = PaddingKind::valid;
  std::array<PadPair, 3> pads{};    // read only for explicit_pairs
  std::optional<Extents> out = {};  // out_backprop's size where the caller states one
};

CONVGRAD_API std::string to_text(const ConvProblem& problem);
// Refuses text outside the grammar; the numbers themselves are checked by validate().
CONVGRAD_API Result<ConvProblem> parse_problem(std::string_view text);

}  // namespace convgrad

#endif  // CONVGRAD_PROBLEM_H_
