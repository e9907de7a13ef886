/* The 3-D filter gradient of tests/data/scenes.json from plain C11, over the shared library. */
#include <stdio.h>
#include <string.h>

#include "convgrad/convgrad_c.h"

static const float kExpected[32] = {121040, 127840, 130848, 138176, 140656, 148512, 150464, 158848,
                                    160272, 169184, 170080, 179520, 179888, 189856, 189696, 200192,
                                    199504, 210528, 209312, 220864, 219120, 231200, 228928, 241536,
                                    238736, 251872, 248544, 262208, 258352, 272544, 268160, 282880};

/* Runs the plan on the scene's numbers; the number of wrong values, or 99 when it does not run. */
static int run_scene(convgrad_plan* plan, const char* from) {
  const float dy[4] = {2856, 2992, 6952, 7344};
  float x[32], dw[32];
  int wrong = 0;
  for (int i = 0; i < 32; ++i) x[i] = (float)(i + 1);
  convgrad_buffers buffers = {0};
  buffers.struct_size = sizeof buffers;
  buffers.first = x;
  buffers.first_bytes = sizeof x;
  buffers.second = dy;
  buffers.second_bytes = sizeof dy;
  buffers.result = dw;
  buffers.result_bytes = sizeof dw;
  if (convgrad_plan_run(plan, &buffers) != CONVGRAD_OK) {
    fprintf(stderr, "%s: %s\n", from, convgrad_last_message());
    return 99;
  }
  for (int i = 0; i < 32; ++i) {
    if (dw[i] == kExpected[i]) continue;
    fprintf(stderr, "%s: value %d is %f, not %f\n", from, i, (double)dw[i], (double)kExpected[i]);
    ++wrong;
  }
  return wrong;
}

static int shape_is_2x2x2x2x2(const convgrad_plan* plan) {
  int64_t sizes[5] = {0};
  int32_t rank = 0;
  if (convgrad_plan_result_shape(plan, sizes, &rank) != CONVGRAD_OK || rank != 5) return 0;
  for (int i = 0; i < 5; ++i) {
    if (sizes[i] != 2) return 0;
  }
  return 1;
}

static int from_call(void) {
  const int64_t twos[5] = {2, 2, 2, 2, 2}, out[5] = {2, 1, 1, 1, 2}, strides[5] = {1, 4, 3, 2, 1};
  convgrad_call call = {0};
  convgrad_plan* plan = NULL;
  call.struct_size = sizeof call;
  call.op = CONVGRAD_OP_conv3d_backprop_filter_v2;
  call.dtype = CONVGRAD_DTYPE_f32;
  call.input = (convgrad_numbers){twos, 5};
  call.out_backprop = (convgrad_numbers){out, 5};
  call.sizes = (convgrad_numbers){twos, 5};
  call.sizes_rank = 1;
  call.strides = (convgrad_numbers){strides, 5};
  call.padding = "SAME";
  if (convgrad_check(&call) != CONVGRAD_OK || convgrad_plan_create(&call, NULL, &plan) != CONVGRAD_OK) {
    fprintf(stderr, "call: %s\n", convgrad_last_message());
    return 99;
  }
  const int wrong = run_scene(plan, "call") + !shape_is_2x2x2x2x2(plan);
  convgrad_plan_destroy(plan);
  return wrong;
}

static int from_problem(void) {
  const char* problem = "n2c2d2h2w2_k2t2r2s2_st4x3x2_same_f32_filter_grad";
  convgrad_plan* plan = NULL;
  if (convgrad_check_problem(problem) != CONVGRAD_OK ||
      convgrad_plan_create_from_problem(problem, NULL, &plan) != CONVGRAD_OK) {
    fprintf(stderr, "problem: %s\n", convgrad_last_message());
    return 99;
  }
  const int wrong = run_scene(plan, "problem") + !shape_is_2x2x2x2x2(plan);
  convgrad_plan_destroy(plan);
  return wrong;
}

int main(void) {
  int wrong = from_call() + from_problem();
  wrong += strlen(convgrad_version()) == 0;
  wrong += convgrad_op_from_name("Conv3DBackpropFilterV2") != CONVGRAD_OP_conv3d_backprop_filter_v2;
  wrong += convgrad_dtype_from_name("float32") != CONVGRAD_DTYPE_f32;
  if (wrong != 0) fprintf(stderr, "%d wrong\n", wrong);
  return wrong != 0;
}
