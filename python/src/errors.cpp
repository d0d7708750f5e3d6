// SPDX-License-Identifier: Apache-2.0
// smile::Error becomes smile_bnn.InputError or smile_bnn.RunError with place, cause and mend.
#include <nanobind/stl/string.h>

#include <exception>

#include "bindings.hpp"
#include "smile/error.hpp"

namespace smile::python {
namespace {

void translate(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const Error& error) {
    nb::object module = nb::module_::import_("smile_bnn._errors");
    nb::object type = module.attr(error.kind() == ErrorKind::usage ? "InputError" : "RunError");
    nb::object made = type(error.where(), error.cause(), error.mend());
    PyErr_SetObject(type.ptr(), made.ptr());
  }
}

}  // namespace

void add_errors(nb::module_&) {
  nb::register_exception_translator(translate);
}

}  // namespace smile::python
