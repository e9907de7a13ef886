# The CUDA kernels as images inside the library: nvcc makes one for each group of kernels.inc, and
# src/engines/cuda/runtime/image.cc takes them in by the list cuda_images.inc. Nothing of CUDA is linked: the driver is
# loaded at run time.
set(cuda_images)
set(cuda_list_rows)
if(CONVGRAD_CUDA)
  file(GLOB environment_folders ${PROJECT_SOURCE_DIR}/build/cuda-env/lib/python3*/site-packages/nvidia/cu*/bin)
  if(DEFINED ENV{CUDACXX})
    set(CONVGRAD_NVCC $ENV{CUDACXX} CACHE FILEPATH "The CUDA compiler")
  endif()
  find_program(CONVGRAD_NVCC nvcc PATHS ${environment_folders} /usr/local/cuda/bin DOC "The CUDA compiler")
  if(NOT CONVGRAD_NVCC)
    message(FATAL_ERROR "CONVGRAD_CUDA needs nvcc: put it on the PATH, name it by CUDACXX, or run tools/setup --cuda")
  endif()
  # sm_90a: Hopper with its own instructions. sm_80: any GPU from Ampere to Ada. compute_80: later ones compile it
  # themselves. Every fused multiply-add is written in the source, so that bits do not depend on the compiler.
  set(cuda_flags -std=c++20 -O3 --fmad=false -I${PROJECT_SOURCE_DIR}/src -DCONVGRAD_CUDA_ONE_GROUP
    -gencode arch=compute_90a,code=sm_90a)
  set(cuda_flags_before_hopper -gencode arch=compute_80,code=sm_80 -gencode arch=compute_80,code=compute_80)
  # An image for each group of the list of kernels.
  set(kernel_list ${PROJECT_SOURCE_DIR}/src/engines/cuda/kernels.inc)
  set(kernel_source ${PROJECT_SOURCE_DIR}/src/engines/cuda/kernels/image.cu)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${kernel_list})
  file(STRINGS ${kernel_list} group_lines REGEX "^#if defined\\(CONVGRAD_CUDA_[a-z0-9_]+\\)")
  foreach(line IN LISTS group_lines)
    string(REGEX REPLACE "^#if defined\\(CONVGRAD_CUDA_([a-z0-9_]+)\\).*" "\\1" group "${line}")
    set(flags ${cuda_flags} -DCONVGRAD_CUDA_${group})
    if(NOT group MATCHES "_hopper$")
      list(APPEND flags ${cuda_flags_before_hopper})
    endif()
    set(image ${PROJECT_BINARY_DIR}/cuda/${group}.fatbin)
    add_custom_command(OUTPUT ${image} DEPENDS ${kernel_source} DEPFILE ${image}.d VERBATIM
      COMMENT "Compiling the CUDA kernels of ${group}"
      COMMAND ${CONVGRAD_NVCC} -fatbin ${flags} -MD -MF ${image}.d -MT ${image} -o ${image} ${kernel_source})
    list(APPEND cuda_images ${image})
    string(APPEND cuda_list_rows "CONVGRAD_CUDA_IMAGE(${group}, \"${image}\")\n")
  endforeach()
endif()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/cuda/cuda_images.inc CONTENT "${cuda_list_rows}")
file(GLOB cuda_sources CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/src/engines/cuda/*.cc ${PROJECT_SOURCE_DIR}/src/engines/cuda/runtime/*.cc)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/engines/cuda/runtime/image.cc PROPERTIES
  OBJECT_DEPENDS "${cuda_images}" INCLUDE_DIRECTORIES ${PROJECT_BINARY_DIR}/cuda)
