# SPDX-License-Identifier: Apache-2.0
# Installs the package into a temporary prefix, builds examples/consumer against it and runs it.
add_test(NAME find_package_consumer
  COMMAND ${CMAKE_COMMAND}
    -DBUILD_DIR=${CMAKE_BINARY_DIR} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DGENERATOR=${CMAKE_GENERATOR}
    -DCOMPILER=${CMAKE_CXX_COMPILER} -DSANITIZE=${SMILE_SANITIZE} -DWITH_TORCH=${SMILE_WITH_TORCH}
    -P ${CMAKE_CURRENT_LIST_DIR}/../support/install_and_consume.cmake)
set_tests_properties(find_package_consumer PROPERTIES LABELS end_to_end TIMEOUT 300)
