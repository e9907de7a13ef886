# `cmake --install`: headers, both libraries, find_package(convgrad) and pkg-config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS convgrad_shared convgrad_static EXPORT convgrad-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/convgrad ${generated}/convgrad DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/convgrad)
install(EXPORT convgrad-targets NAMESPACE convgrad:: DESTINATION ${package_dir})
configure_package_config_file(cmake/convgrad-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/convgrad-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(convgrad-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/convgrad-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/convgrad-config-version.cmake DESTINATION ${package_dir})

# The .pc file says where things lie relative to itself, so that an installed tree can be moved. A libdir
# may be more than one folder deep (lib/x86_64-linux-gnu), or absolute.
function(path_in_pc variable folder)
  if(IS_ABSOLUTE ${folder})
    set(${variable} ${folder} PARENT_SCOPE)
  else()
    set(${variable} "\${prefix}/${folder}" PARENT_SCOPE)
  endif()
endfunction()
path_in_pc(PC_LIBDIR ${CMAKE_INSTALL_LIBDIR})
path_in_pc(PC_INCLUDEDIR ${CMAKE_INSTALL_INCLUDEDIR})
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  set(PC_PREFIX ${CMAKE_INSTALL_PREFIX})
else()
  file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" up ${up})
  set(PC_PREFIX "\${pcfiledir}/${up}")
endif()
configure_file(cmake/convgrad.pc.in ${CMAKE_CURRENT_BINARY_DIR}/convgrad.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/convgrad.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
