// clang-format off
/* convgrad in plain C11: opaque handles, status codes, caller-owned memory, no exceptions.
 *
 *   convgrad_plan* plan = NULL;
 *   if (convgrad_plan_create_from_problem("n2c2d2h2w2_k2t2r2s2_st4x3x2_same_f32_filter_grad", NULL, &plan) != CONVGRAD_OK)
 *     fprintf(stderr, "%s\n", convgrad_last_message());
 *   convgrad_buffers buffers = {sizeof buffers, x, sizeof x, dy, sizeof dy, dw, sizeof dw, NULL, 0, NULL};
 *   convgrad_plan_run(plan, &buffers);
 *   convgrad_plan_destroy(plan);
 *
 * Every function may be called from any thread. A plan may be run by several threads at once. The
 * message of the last failure is kept per thread until the next call that fails there.
 */
// clang-format on
#ifndef CONVGRAD_CONVGRAD_C_H_
#define CONVGRAD_CONVGRAD_C_H_

#include <stddef.h>
#include <stdint.h>

#include "convgrad/export.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum convgrad_status {
  CONVGRAD_OK = 0,
  CONVGRAD_INVALID_ARGUMENT = 1,
  CONVGRAD_UNIMPLEMENTED = 2,
  CONVGRAD_RESOURCE_EXHAUSTED = 3,
  CONVGRAD_INTERNAL = 4,
  CONVGRAD_CANCELLED = 5
} convgrad_status;

/* CONVGRAD_DTYPE_f32, ...: the rows of dtypes.inc. */
typedef enum convgrad_dtype {
#define CONVGRAD_DTYPE(id, type, accumulator, tf, numpy, roundoff, dl_code, dl_bits) CONVGRAD_DTYPE_##id,
#include "convgrad/dtypes.inc"
#undef CONVGRAD_DTYPE
  CONVGRAD_DTYPE_COUNT
} convgrad_dtype;

/* CONVGRAD_OP_conv2d_backprop_filter, ...: the rows of ops.inc. */
typedef enum convgrad_op {
#define CONVGRAD_OP(id, tf_name, direction, rank, takes_int32, summary) CONVGRAD_OP_##id,
#include "convgrad/ops.inc"
#undef CONVGRAD_OP
  CONVGRAD_OP_COUNT
} convgrad_op;

/* CONVGRAD_MATH_tf32, ...: the rows of math_modes.inc. */
typedef enum convgrad_math {
#define CONVGRAD_MATH(name, product_error, meaning) CONVGRAD_MATH_##name,
#include "convgrad/math_modes.inc"
#undef CONVGRAD_MATH
  CONVGRAD_MATH_COUNT
} convgrad_math;

/* A list of numbers: a shape, a size vector, strides, ... */
typedef struct convgrad_numbers {
  const int64_t* values; /* NULL: not given */
  int64_t count;
} convgrad_numbers;

/* An op call as TensorFlow's users write it. Start from zero and set struct_size. */
typedef struct convgrad_call {
  size_t struct_size;            /* sizeof(convgrad_call) */
  int32_t op;                    /* convgrad_op */
  int32_t dtype;                 /* convgrad_dtype of every tensor */
  convgrad_numbers input;        /* shape; forward and filter gradient */
  convgrad_numbers filter;       /* shape; forward and input gradient */
  convgrad_numbers out_backprop; /* shape; gradients */
  convgrad_numbers sizes;        /* input_sizes or filter_sizes */
  int32_t sizes_rank;            /* dimensions of sizes: 0 or 1 a vector, -1 a bare number, 2 a matrix, ... */
  convgrad_numbers strides;      /* one a dimension in data_format order; not given: all 1 */
  convgrad_numbers dilations;    /* the same */
  const char* padding;           /* "SAME", "VALID" or "EXPLICIT" */
  convgrad_numbers explicit_paddings;
  const char* data_format; /* NULL: NWC, NHWC or NDHWC */
} convgrad_call;

/* Calls body(state, i) once for each i in [0, count) and returns when all have returned. */
typedef void (*convgrad_parallel_body)(void* state, int64_t index);
typedef void (*convgrad_parallel_for)(void* context, int64_t count, convgrad_parallel_body body, void* state);

typedef enum convgrad_memory { CONVGRAD_MEMORY_HOST = 0, CONVGRAD_MEMORY_CUDA = 1 } convgrad_memory;

/* Start from zero and set struct_size; zeros mean the default. */
typedef struct convgrad_policy {
  size_t struct_size;      /* sizeof(convgrad_policy) */
  const char* engine;      /* by name; NULL: the cheapest */
  int32_t threads;         /* 0: one a core */
  int32_t math;            /* convgrad_math: what engines may do */
  int64_t workspace_limit; /* bytes; 0: 2^40 */
  int64_t max_bytes;       /* largest tensor; 0: 2^40 */
  convgrad_parallel_for parallel_for;
  void* parallel_for_context;
  int32_t memory; /* convgrad_memory: where the buffers of convgrad_plan_run() lie */
  int32_t device; /* number of the GPU, as CUDA counts */
} convgrad_policy;

typedef struct convgrad_plan convgrad_plan;

/* Contiguous tensors, with the bytes that lie there: too few are refused. Start from zero and set
 * struct_size. The result must not share memory with the operands. For a plan of CONVGRAD_MEMORY_CUDA all addresses are
 * the GPU's; the work is added to the stream, and the call does not wait for it. */
typedef struct convgrad_buffers {
  size_t struct_size; /* sizeof(convgrad_buffers) */
  const void* first;  /* input (forward, filter gradient), filter (input gradient), out_backprop (bias gradient) */
  size_t first_bytes;
  const void* second; /* filter (forward) or out_backprop */
  size_t second_bytes;
  void* result;
  size_t result_bytes;
  void* workspace; /* NULL: allocated inside when the plan needs one; otherwise 64-byte aligned */
  size_t workspace_bytes;
  void* stream; /* CUstream or cudaStream_t; NULL: the device's default stream */
} convgrad_buffers;

CONVGRAD_API const char* convgrad_version(void);
CONVGRAD_API const char* convgrad_status_name(int32_t status);

/* Of the last failure on this thread; empty strings before the first. */
CONVGRAD_API const char* convgrad_last_message(void);
CONVGRAD_API const char* convgrad_last_argument(void);
CONVGRAD_API const char* convgrad_last_got(void);
CONVGRAD_API const char* convgrad_last_wanted(void);
CONVGRAD_API const char* convgrad_last_rule(void);

/* The enum's number for a name ("Conv2DBackpropFilter", "float32"), or -1. */
CONVGRAD_API int32_t convgrad_op_from_name(const char* name);
CONVGRAD_API int32_t convgrad_dtype_from_name(const char* name);

/* Validates only. */
CONVGRAD_API convgrad_status convgrad_check(const convgrad_call* call);
CONVGRAD_API convgrad_status convgrad_check_problem(const char* problem);

/* policy may be NULL. On failure *plan is NULL. */
CONVGRAD_API convgrad_status convgrad_plan_create(const convgrad_call* call, const convgrad_policy* policy,
                                                  convgrad_plan** plan);
CONVGRAD_API convgrad_status convgrad_plan_create_from_problem(const char* problem, const convgrad_policy* policy,
                                                               convgrad_plan** plan);
CONVGRAD_API void convgrad_plan_destroy(convgrad_plan* plan); /* NULL is fine */

CONVGRAD_API convgrad_status convgrad_plan_workspace_bytes(const convgrad_plan* plan, int64_t* bytes);
/* sizes has room for 5; *rank says how many were written. */
CONVGRAD_API convgrad_status convgrad_plan_result_shape(const convgrad_plan* plan, int64_t sizes[5], int32_t* rank);
/* Engine, kernel and why, as text that lives as long as the plan; "" for NULL. */
CONVGRAD_API const char* convgrad_plan_describe(const convgrad_plan* plan);

CONVGRAD_API convgrad_status convgrad_plan_run(const convgrad_plan* plan, const convgrad_buffers* buffers);

#ifdef __cplusplus
}
#endif

#endif /* CONVGRAD_CONVGRAD_C_H_ */
