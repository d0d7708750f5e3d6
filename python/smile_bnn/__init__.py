# SPDX-License-Identifier: Apache-2.0
"""Stochastic microcanonical Langevin sampling of Bayesian neural networks.

>>> from smile_bnn import SmileRegressor
>>> model = SmileRegressor().fit(X, y)
>>> mean, sd = model.predict(X_new, return_std=True)
"""

from __future__ import annotations

from ._core import __version__
from ._errors import InputError, RunError, SmileError
from ._estimators import SmileClassifier, SmileRegressor, load
from ._catalogue import keys, priors, samplers

__all__ = [
    "InputError",
    "RunError",
    "SmileClassifier",
    "SmileError",
    "SmileRegressor",
    "__version__",
    "keys",
    "load",
    "priors",
    "samplers",
]
