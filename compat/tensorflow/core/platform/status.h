#include "convgrad/compat/tensorflow.h"  // IWYU pragma: export
