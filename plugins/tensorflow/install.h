/* What the plug-in's library exports, in plain C: convgrad/tensorflow.py calls it through ctypes, and loader.cc by
 * name.
 */
#ifndef CONVGRAD_PLUGINS_TENSORFLOW_INSTALL_H_
#define CONVGRAD_PLUGINS_TENSORFLOW_INSTALL_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which rows of ops.inc to register. */
typedef struct convgrad_tensorflow_choice {
  int32_t forward; /* not 0: the forward ops too */
  int32_t onednn;  /* 0: no name of oneDNN's rewrite, 1: those where convgrad is not slower, 2: all */
  int32_t threads; /* of a call; 0: one a core */
} convgrad_tensorflow_choice;

/* Registers the kernels, once a process. Returns their number, or -1 with one sentence in message. */
__attribute__((visibility("default"))) int32_t convgrad_tensorflow_install(const convgrad_tensorflow_choice* choice,
                                                                           char* message, size_t message_bytes);

/* A kernel by its op and element type (NumPy's name). */
typedef struct convgrad_tensorflow_kernel {
  const char* op;
  char dtype[16];
  int32_t registered; /* 0: left to TensorFlow by the choice, or nothing is installed */
  uint64_t calls;
} convgrad_tensorflow_kernel;

/* Kernel `index` of the table; 0 when there is none. */
__attribute__((visibility("default"))) int32_t convgrad_tensorflow_stats(int32_t index,
                                                                         convgrad_tensorflow_kernel* kernel);

#ifdef __cplusplus
}
#endif

#endif
