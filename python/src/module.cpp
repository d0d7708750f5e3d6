// SPDX-License-Identifier: Apache-2.0
// smile_bnn._core: what the Python of the package calls. Users see the package, not this module.
#include "bindings.hpp"

NB_MODULE(_core, module) {
  module.doc() = "The library behind smile_bnn.";
  module.attr("__version__") = SMILE_VERSION;
  smile::python::add_errors(module);
  smile::python::add_fit(module);
  smile::python::add_fitted_run(module);
  smile::python::add_density(module);
}
