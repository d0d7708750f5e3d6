// SPDX-License-Identifier: Apache-2.0
#include "blas.hpp"

#include <dlfcn.h>

#include <mutex>

namespace smile::deep {
namespace {

/// A function of the BLAS that this process has loaded; null where it is no OpenBLAS.
template <class Function>
Function* of_openblas(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

}  // namespace

void use_blas_on_one_thread() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (auto* set_threads = of_openblas<void(int)>("openblas_set_num_threads")) set_threads(1);
  });
}

bool is_blas_thread_safe() {
  auto* parallel = of_openblas<int()>("openblas_get_parallel");
  return parallel == nullptr || parallel() != 0;
}

}  // namespace smile::deep
