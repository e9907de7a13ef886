# The library, twice from the same objects: shared (only the public symbols) and static.
find_package(Threads REQUIRED)
get_property(rooms GLOBAL PROPERTY CONVGRAD_ROOMS)
set(objects)
foreach(room IN LISTS rooms)
  list(APPEND objects $<TARGET_OBJECTS:${room}>)
endforeach()

# The op classes are made from the op table by a program of the same objects.
set(generated ${PROJECT_BINARY_DIR}/generated)
set(op_classes ${generated}/convgrad/graph/ops.h)
add_executable(convgrad_op_classes src/graph/generate/op_classes.cc ${objects})
target_include_directories(convgrad_op_classes PRIVATE include src)
target_link_libraries(convgrad_op_classes PRIVATE convgrad_flags Threads::Threads ${CMAKE_DL_LIBS})
add_custom_command(OUTPUT ${op_classes} DEPENDS convgrad_op_classes
  COMMAND ${CMAKE_COMMAND} -E make_directory ${generated}/convgrad/graph
  COMMAND convgrad_op_classes ${op_classes})
add_custom_target(convgrad_op_header DEPENDS ${op_classes})

foreach(kind SHARED STATIC)
  string(TOLOWER ${kind} suffix)
  set(target convgrad_${suffix})
  add_library(${target} ${kind} ${objects})
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${generated}>)
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:convgrad_flags> PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME convgrad EXPORT_NAME ${suffix} LINKER_LANGUAGE CXX)
  add_dependencies(${target} convgrad_op_header)
  add_library(convgrad::${suffix} ALIAS ${target})
endforeach()
# Until 1.0 every minor version may change the ABI, so it is part of the soname.
set_target_properties(convgrad_shared PROPERTIES EXPORT_NAME convgrad VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_link_options(convgrad_shared PRIVATE
  LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map)
set_target_properties(convgrad_shared PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map)
add_library(convgrad::convgrad ALIAS convgrad_shared)
