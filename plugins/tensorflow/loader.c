/* The library that `python -m convgrad.tensorflow enable` copies into site-packages/tensorflow-plugins, which
 * `import tensorflow` loads. Beside it lies a text file of the same name with .txt instead of .so: the plug-in's path
 * on the first line, the choice (install.h) as three numbers on the second. A real file and not a link: TensorFlow does
 * not start when a library in that folder cannot be loaded, and a removed package must not do that.
 * CONVGRAD_TENSORFLOW=0 in the environment turns it off. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "install.h"

static int read_line(FILE* file, char* line, int bytes) {
  if (fgets(line, bytes, file) == NULL) return 0;
  line[strcspn(line, "\n")] = '\0';
  return 1;
}

/* What the text file says. */
static int read_settings(char* path, int bytes, convgrad_tensorflow_choice* choice) {
  Dl_info self;
  char name[4096];
  char numbers[64];
  if (dladdr((void*)&read_settings, &self) == 0) return 0;
  const int length = (int)strlen(self.dli_fname) - (int)strlen(".so");
  if (length < 0 || length > (int)sizeof name - 5) return 0;
  snprintf(name, sizeof name, "%.*s.txt", length, self.dli_fname);
  FILE* file = fopen(name, "r");
  if (file == NULL) return 0;
  const int read = read_line(file, path, bytes) && read_line(file, numbers, sizeof numbers) &&
                   sscanf(numbers, "%d %d %d", &choice->forward, &choice->onednn, &choice->threads) == 3;
  fclose(file);
  return read;
}

static void report(const char* reason) {
  fprintf(stderr, "convgrad: TensorFlow keeps its own kernels: %s; `python -m convgrad.tensorflow disable` ends this\n",
          reason);
}

__attribute__((constructor)) static void load(void) {
  const char* wanted = getenv("CONVGRAD_TENSORFLOW");
  if (wanted != NULL && strcmp(wanted, "0") == 0) return;
  char path[4096];
  char message[512];
  convgrad_tensorflow_choice choice = {0, 0, 0};
  if (!read_settings(path, sizeof path, &choice)) return report("its settings cannot be read");
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return report(dlerror());
  int32_t (*install)(const convgrad_tensorflow_choice*, char*, size_t) = NULL;
  *(void**)&install = dlsym(library, "convgrad_tensorflow_install");
  if (install == NULL) return report("the plug-in is of another version");
  if (install(&choice, message, sizeof message) < 0) report(message);
}
