# Warnings and instrumentation, carried by one interface target that every target of ours links.
add_library(convgrad_flags INTERFACE)
target_compile_options(convgrad_flags INTERFACE -Wall -Wextra $<$<BOOL:${CONVGRAD_WERROR}>:-Werror>)
# GCC 12 at -O3 sees overlapping copies in "text" + std::to_string(n) where there are none (GCC bug 105651).
target_compile_options(convgrad_flags INTERFACE
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)
# Floating point is exactly what the source says: no contraction across statements, which would make
# bits depend on the compiler and the instruction set.
target_compile_options(convgrad_flags INTERFACE -ffp-contract=off)

if(CONVGRAD_SANITIZE)
  set(sanitize -fsanitize=${CONVGRAD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(convgrad_flags INTERFACE ${sanitize})
  target_link_options(convgrad_flags INTERFACE ${sanitize})
endif()
if(CONVGRAD_COVERAGE)
  target_compile_options(convgrad_flags INTERFACE --coverage -fno-inline)
  target_link_options(convgrad_flags INTERFACE --coverage)
endif()
