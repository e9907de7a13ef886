# The rooms, in the order data passes. A room links only what docs/ARCHITECTURE.md's table allows;
# tools/check_includes keeps the sources to the same table.
function(convgrad_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;LINKS" ${ARGN})
  add_library(room_${name} OBJECT ${ROOM_SOURCES})
  target_include_directories(room_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
  target_link_libraries(room_${name} PRIVATE $<BUILD_INTERFACE:convgrad_flags>)
  foreach(other IN LISTS ROOM_LINKS)
    target_link_libraries(room_${name} PUBLIC room_${other})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY CONVGRAD_ROOMS room_${name})
endfunction()

convgrad_room(base SOURCES
  src/base/buffer.cc src/base/dtype.cc src/base/pool.cc src/base/status.cc src/base/system.cc
  src/base/tensor.cc src/base/text.cc src/base/views.cc)
convgrad_room(geometry LINKS base SOURCES
  src/geometry/attribute_checks.cc src/geometry/call.cc src/geometry/problem_text.cc src/geometry/shape_checks.cc src/geometry/shapes.cc src/geometry/tables.cc
  src/geometry/validate.cc src/geometry/window.cc src/geometry/window_checks.cc)
convgrad_room(reference LINKS base geometry SOURCES src/reference/reference.cc)
convgrad_room(engines LINKS base geometry reference SOURCES
  src/engines/engines.cc src/engines/spread.cc src/engines/reference/engine.cc)
convgrad_room(planner LINKS base geometry engines SOURCES
  src/planner/explain.cc src/planner/planner.cc)
convgrad_room(api LINKS base geometry engines planner SOURCES src/api/eager.cc src/api/run.cc)
convgrad_room(c_api LINKS api SOURCES src/c_api/convgrad_c.cc)
