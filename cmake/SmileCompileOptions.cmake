# SPDX-License-Identifier: Apache-2.0
# Warnings and sanitizers as interface targets, linked privately so that an installed package does not ask for them.
add_library(smile_compile_options INTERFACE)
target_compile_options(smile_compile_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wconversion -Wno-sign-conversion
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>  # reports std::string of GCC 12 itself (GCC bug 105651)
  # One source, one rounding: fused multiply-add appears only where a kernel writes it.
  -ffp-contract=off)
if(SMILE_WARNINGS_AS_ERRORS)
  target_compile_options(smile_compile_options INTERFACE -Werror)
endif()
if(SMILE_SANITIZE)
  add_compile_options(-fsanitize=${SMILE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SMILE_SANITIZE})
  # GCC 12 takes std::regex of its own library for uninitialised where every operation is checked.
  target_compile_options(smile_compile_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
