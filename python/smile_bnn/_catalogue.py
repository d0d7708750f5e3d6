# SPDX-License-Identifier: Apache-2.0
"""What this build knows by name."""

from __future__ import annotations

from . import _core


def samplers() -> dict[str, str]:
    """Names of the samplers for ``sampler=``, each with a line."""
    return dict(_core.samplers())


def priors() -> dict[str, str]:
    """Names of the priors for ``prior=``, each with a line."""
    return dict(_core.priors())


def keys() -> dict[str, dict[str, str]]:
    """The keys of the configuration (for ``config=``): what is allowed, default, line, used with."""
    return {
        path: {"allowed": allowed, "default": default, "doc": doc, "used_with": used}
        for path, allowed, default, doc, used in _core.keys()
    }
