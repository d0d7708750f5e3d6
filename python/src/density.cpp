#include "bindings.hpp"
namespace smile::python {
void add_density(nb::module_&) {}
}  // namespace smile::python
