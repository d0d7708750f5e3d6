# SPDX-License-Identifier: Apache-2.0
# Install and export: find_package(smile) gives smile::core and needs nothing but threads and the libraries linked in;
# find_package(smile COMPONENTS torch) gives smile::torch, too, where it was built, and finds LibTorch.
include(CMakePackageConfigHelpers)
install(TARGETS smile_core EXPORT smile_core_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
set(not_installed PATTERN netcdf EXCLUDE)  # of the program, not of smile::core
if(NOT SMILE_WITH_TORCH)
  list(APPEND not_installed PATTERN torch EXCLUDE)  # nothing to link with
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/smile DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${not_installed})
install(EXPORT smile_core_targets NAMESPACE smile:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/smile)
if(SMILE_WITH_TORCH)
  install(TARGETS smile_torch EXPORT smile_torch_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT smile_torch_targets NAMESPACE smile:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/smile)
endif()
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/smileConfig.cmake.in ${PROJECT_BINARY_DIR}/smileConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/smile)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/smileConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/smileConfig.cmake ${PROJECT_BINARY_DIR}/smileConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/smile)
# The same for pkg-config: pkg-config --cflags --libs smile. The library is static, so that what it needs is named with it.
file(RELATIVE_PATH SMILE_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(${PROJECT_SOURCE_DIR}/cmake/smile.pc.in ${PROJECT_BINARY_DIR}/smile.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/smile.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
