# SPDX-License-Identifier: Apache-2.0
"""Stochastic microcanonical Langevin sampling of Bayesian neural networks.

>>> from smile_bnn import SmileRegressor
>>> model = SmileRegressor().fit(X, y)
>>> mean, sd = model.predict(X_new, return_std=True)
"""

from __future__ import annotations

from ._catalogue import keys, priors, samplers
from ._core import __version__
from ._densities import Batches, JaxDensity, SampleResult, TorchDensity, sample
from ._distribution import Distribution
from ._errors import InputError, RunError, SmileError
from ._estimators import SmileClassifier, SmileRegressor, load
from ._results import Diagnosis

__all__ = [
    "Batches",
    "Diagnosis",
    "Distribution",
    "InputError",
    "JaxDensity",
    "RunError",
    "SampleResult",
    "SmileClassifier",
    "SmileError",
    "SmileRegressor",
    "TorchDensity",
    "__version__",
    "keys",
    "load",
    "priors",
    "sample",
    "samplers",
]
