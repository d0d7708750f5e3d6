# SPDX-License-Identifier: Apache-2.0
"""The reference of the Python package, and of the C++ headers where Doxygen and breathe are installed.

    sphinx-build -W -b html docs/python build/docs
"""

import pathlib
import shutil
import subprocess
import tempfile

import smile_bnn

project = "smile_bnn"
author = "The smile.cpp maintainers"
version = release = smile_bnn.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
html_theme = "alabaster"
html_theme_options = {"page_width": "1080px", "sidebar_width": "230px"}
autodoc_default_options = {"members": True}
autodoc_typehints = "none"  # the docstrings say types, shapes and units
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_param = False  # shapes such as [chains, d] are no names to link to
exclude_patterns = []
default_role = "py:obj"
nitpicky = False

_include = pathlib.Path(__file__).resolve().parents[2] / "include"
try:
    import breathe  # noqa: F401

    _has_cpp = shutil.which("doxygen") is not None and _include.is_dir()
except ImportError:
    _has_cpp = False
if _has_cpp:
    _headers = [
        "error.hpp",
        "targets/target.hpp",
        "samplers/sampler.hpp",
        "ensemble/chain.hpp",
        "experiment/pipeline.hpp",
        "deliver/fitted_run.hpp",
    ]
    _out = tempfile.mkdtemp(prefix="smile-doxygen-")
    subprocess.run(
        ["doxygen", "-"],
        input=(
            f"INPUT={' '.join(str(_include / 'smile' / h) for h in _headers)}\nSTRIP_FROM_INC_PATH={_include}\nOUTPUT_DIRECTORY={_out}\nGENERATE_XML=YES\nGENERATE_HTML=NO\nGENERATE_LATEX=NO\n"
            "QUIET=YES\nWARN_IF_UNDOCUMENTED=NO\nWARN_IF_INCOMPLETE_DOC=NO\nWARN_AS_ERROR=FAIL_ON_WARNINGS\nEXTRACT_ALL=YES\nMACRO_EXPANSION=YES\n"
            'ALIASES="shape=\\par Shape:^^" "cost=\\par Cost:^^" "source=\\par Source:^^"\n'
        ),
        text=True,
        check=True,
    )
    extensions.append("breathe")
    breathe_projects = {"smile": f"{_out}/xml"}
    breathe_default_project = "smile"
    breathe_domain_by_extension = {"hpp": "cpp"}
else:
    exclude_patterns.append("cpp.rst")
    suppress_warnings = ["toc.excluded"]


def _of_others(app, what, name, obj, skip, options):
    """What scikit-learn's classes bring along is described there."""
    if name == "run_dir_":  # among the attributes already
        return True
    module = getattr(obj, "__module__", None) or ""
    return True if module.startswith("sklearn") or name.endswith("_request") else None


def setup(app):
    app.connect("autodoc-skip-member", _of_others)
