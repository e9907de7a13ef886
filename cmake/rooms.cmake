# The rooms, in the order data passes. A room links only what docs/ARCHITECTURE.md's table allows;
# tools/check_includes keeps the sources to the same table.
function(convgrad_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;LINKS" ${ARGN})
  add_library(room_${name} OBJECT ${ROOM_SOURCES})
  target_include_directories(room_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
  target_link_libraries(room_${name} PRIVATE $<BUILD_INTERFACE:convgrad_flags>)
  if(CONVGRAD_SANITIZE)  # checks make much code: at -O2 -g this takes three times as long to compile
    target_compile_options(room_${name} PRIVATE -O1 -g1)
  endif()
  foreach(other IN LISTS ROOM_LINKS)
    target_link_libraries(room_${name} PUBLIC room_${other})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY CONVGRAD_ROOMS room_${name})
endfunction()

convgrad_room(base SOURCES
  src/base/arena.cc src/base/buffer.cc src/base/dtype.cc src/base/knobs.cc src/base/math_mode.cc src/base/nearest.cc src/base/pool.cc src/base/status.cc src/base/system.cc
  src/base/tensor.cc src/base/text.cc src/base/views.cc)
convgrad_room(geometry LINKS base SOURCES
  src/geometry/attribute_checks.cc src/geometry/call.cc src/geometry/depthwise.cc src/geometry/problem_text.cc src/geometry/shape_checks.cc src/geometry/shapes.cc src/geometry/tables.cc src/geometry/terms.cc
  src/geometry/validate.cc src/geometry/window.cc src/geometry/window_checks.cc)
convgrad_room(reference LINKS base geometry SOURCES src/reference/reference.cc)
# One file an instruction set (src/engines/cpu/isas.inc), each with the flags that make Highway choose it.
# -O2: GCC's -O3 copies every inner loop for a step of 1, for no gain.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(flags_avx512 -march=skylake-avx512 -mprefer-vector-width=512)
  set(flags_avx2 -march=haswell -maes -mpclmul)
  set(flags_sse4 -msse4.2 -maes -mpclmul)
  set(cpu_isas avx512 avx2 sse4)
  set(flags_pairs_amx -mamx-tile -mamx-bf16)
  set(flags_pairs_avx512bf16 -march=skylake-avx512 -mavx512bf16 -mprefer-vector-width=512)
  set(cpu_pairs amx avx512bf16 amx_model)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64|ARM64")
  set(flags_neon -march=armv8-a+crypto)  # Highway's functions ask for it; no instruction of it is used
  set(cpu_isas neon)
  set(cpu_pairs amx_model)
else()
  set(cpu_isas)  # the engine says that it is not available
  set(cpu_pairs amx_model)
endif()
if(NOT CONVGRAD_CPU_KERNELS)
  set(cpu_isas)
  set_source_files_properties(src/engines/cpu/isa.cc PROPERTIES COMPILE_DEFINITIONS CONVGRAD_NO_CPU_KERNELS)
endif()
set(cpu_kernels)
if(CONVGRAD_SANITIZE)
  # Highway checks itself under sanitizers, through a function of its library; ours are only its headers.
  set(kernel_options -O1 -fno-sanitize=undefined -DCONVGRAD_FEW_TILES -DHWY_IS_DEBUG_BUILD=0)
else()
  set(kernel_options -O2)
endif()
foreach(isa IN LISTS cpu_isas)
  list(APPEND cpu_kernels src/engines/cpu/kernels/isa_${isa}.cc)
  set_source_files_properties(src/engines/cpu/kernels/isa_${isa}.cc PROPERTIES COMPILE_OPTIONS "${flags_${isa}};${kernel_options}")
endforeach()
foreach(pairs IN LISTS cpu_pairs)  # src/engines/cpu/pairs.inc
  list(APPEND cpu_kernels src/engines/cpu/kernels/pairs/${pairs}.cc)
  set_source_files_properties(src/engines/cpu/kernels/pairs/${pairs}.cc PROPERTIES COMPILE_OPTIONS "${flags_pairs_${pairs}};${kernel_options}")
endforeach()
convgrad_room(engines LINKS base geometry reference SOURCES
  src/engines/engines.cc src/engines/spread.cc src/engines/reference/engine.cc
  src/engines/cpu/engine.cc src/engines/cpu/filter_grad.cc src/engines/cpu/filter_pairs.cc src/engines/cpu/filter_pairs_program.cc src/engines/cpu/filter_program.cc
  src/engines/cpu/gather.cc src/engines/cpu/gather_pairs.cc src/engines/cpu/gather_program.cc src/engines/cpu/isa.cc
  src/engines/cpu/patches.cc
  src/engines/cpu/layer.cc src/engines/cpu/small.cc src/engines/cpu/together.cc ${cpu_kernels} ${cuda_sources})
convgrad_room(planner LINKS base geometry engines SOURCES
  src/planner/cache.cc src/planner/explain.cc src/planner/planner.cc src/planner/tune_file.cc)
convgrad_room(api LINKS base geometry engines planner SOURCES src/api/eager.cc src/api/run.cc)
convgrad_room(c_api LINKS api SOURCES src/c_api/convgrad_c.cc)
convgrad_room(graph LINKS api SOURCES
  src/graph/attrs.cc src/graph/const_op.cc src/graph/executor.cc src/graph/gradient_error.cc
  src/graph/gradients.cc src/graph/graph.cc src/graph/in_double.cc src/graph/input.cc src/graph/schedule.cc
  src/graph/scope.cc src/graph/session.cc src/graph/status.cc src/graph/table.cc src/graph/tensor.cc src/graph/tensor_shape.cc
  src/graph/types.cc)
# Ops are one file each, so that a new one is a file and a row of src/graph/ops.inc.
file(GLOB graph_ops CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/graph/ops/*.cc)
convgrad_room(graph_ops LINKS api SOURCES ${graph_ops} src/graph/convert.cc)
convgrad_room(pages LINKS graph SOURCES
  src/pages/attr_json.cc src/pages/build.cc src/pages/build_order.cc src/pages/element_json.cc src/pages/files.cc src/pages/json.cc src/pages/json_write.cc src/pages/npy.cc
  src/pages/npy_header.cc src/pages/page_facts.cc src/pages/page_file.cc src/pages/refusals.cc src/pages/tensor_files.cc
  src/pages/schema.cc src/pages/wiring.cc
  src/pages/code.cc src/pages/code_cpp.cc src/pages/code_eager.cc src/pages/code_graphviz.cc src/pages/code_python.cc
  src/pages/enuspace_blocks.cc src/pages/enuspace_positions.cc src/pages/enuspace_read.cc src/pages/enuspace_values.cc src/pages/enuspace_write.cc
  src/pages/unicode.cc)
# Many small files that read the same headers.
target_precompile_headers(room_graph PRIVATE src/graph/row.h)
target_precompile_headers(room_graph_ops PRIVATE src/graph/row.h)
target_precompile_headers(room_pages PRIVATE include/convgrad/graph/page.h)
if(CONVGRAD_SANITIZE)  # half of the time of a sanitized build is these rooms
  set(texts_options -O0)
  set(ops_options -O0)
else()
  set(texts_options -Os)  # nothing is hot; half of the code that -O2 makes
  set(ops_options -O2)    # -O3 has no gain here, and GCC 12 false alarms
endif()
target_compile_options(room_graph PRIVATE ${texts_options})
target_compile_options(room_graph_ops PRIVATE ${ops_options})
target_compile_options(room_pages PRIVATE ${texts_options})
