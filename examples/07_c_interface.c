/* 7. The same gradient as in the first example from C: handles, status codes, your own memory. */
#include <convgrad/convgrad_c.h>
#include <stdio.h>

static int failed(const char* what) {
  fprintf(stderr, "%s: %s (rule %s)\n", what, convgrad_last_message(), convgrad_last_rule());
  return 1;
}

int main(void) {
  /* The call as TensorFlow's users write it. Start from zero, set struct_size. */
  const int64_t twos[5] = {2, 2, 2, 2, 2}, out[5] = {2, 1, 1, 1, 2}, strides[5] = {1, 4, 3, 2, 1};
  convgrad_call call = {0};
  call.struct_size = sizeof call;
  call.op = convgrad_op_from_name("Conv3DBackpropFilterV2");
  call.dtype = CONVGRAD_DTYPE_f32;
  call.input = (convgrad_numbers){twos, 5};
  call.sizes = (convgrad_numbers){twos, 5};
  call.out_backprop = (convgrad_numbers){out, 5};
  call.strides = (convgrad_numbers){strides, 5};

  /* Forgetting the padding is an error with a name, not a crash. */
  if (convgrad_check(&call) != CONVGRAD_INVALID_ARGUMENT) return 1;
  printf("without padding: %s\n", convgrad_last_message());
  call.padding = "SAME";

  convgrad_plan* plan = NULL;
  if (convgrad_plan_create(&call, NULL, &plan) != CONVGRAD_OK) return failed("plan");
  printf("plan: %s\n", convgrad_plan_describe(plan));

  const float dy[4] = {2856, 2992, 6952, 7344};
  float x[32], dw[32];
  for (int i = 0; i < 32; ++i) x[i] = (float)(i + 1);
  convgrad_buffers buffers = {0};
  buffers.struct_size = sizeof buffers;
  buffers.first = x;
  buffers.first_bytes = sizeof x;
  buffers.second = dy;
  buffers.second_bytes = sizeof dy;
  buffers.result = dw;
  buffers.result_bytes = sizeof dw;
  if (convgrad_plan_run(plan, &buffers) != CONVGRAD_OK) return failed("run");
  convgrad_plan_destroy(plan);

  printf("first %g %g, last %g\n", (double)dw[0], (double)dw[1], (double)dw[31]);
  return dw[0] == 121040 && dw[1] == 127840 && dw[31] == 282880 ? 0 : 1;
}
