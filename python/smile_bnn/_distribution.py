# SPDX-License-Identifier: Apache-2.0
"""The predictive distribution of a regression, draw by draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

_HALF_LOG_TWO_PI = 0.9189385332046727


@dataclass(frozen=True)
class Distribution:
    """A mixture of Normals with equal weights, one for each draw.

    Attributes
    ----------
    means, sds : arrays [draws, rows], float32
        What each draw predicts, in the target's own unit.
    """

    means: np.ndarray
    sds: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """[rows]"""
        return self.means.mean(axis=0, dtype=np.float64)

    @property
    def aleatoric_sd(self) -> np.ndarray:
        """Noise: root of the draws' mean variance, [rows]."""
        return np.sqrt(np.mean(np.square(self.sds, dtype=np.float64), axis=0))

    @property
    def epistemic_sd(self) -> np.ndarray:
        """Disagreement: standard deviation of the draws' means, [rows]."""
        return self.means.std(axis=0, dtype=np.float64)

    @property
    def sd(self) -> np.ndarray:
        """Both together, [rows]."""
        return np.hypot(self.aleatoric_sd, self.epistemic_sd)

    def log_densities(self, y: Any) -> np.ndarray:
        """log p(y | draw), [draws, rows]."""
        y = np.asarray(y, dtype=np.float64)
        z = (y - self.means) / self.sds
        return -0.5 * z * z - np.log(self.sds, dtype=np.float64) - _HALF_LOG_TWO_PI

    def log_density(self, y: Any) -> np.ndarray:
        """log of the mixture's density at y, [rows]."""
        values = self.log_densities(y)
        largest = values.max(axis=0)
        return largest + np.log(np.mean(np.exp(values - largest), axis=0))

    def sample(self, random_state: Any = None) -> np.ndarray:
        """A new target from each draw, [draws, rows]."""
        rng = check_random_state(random_state)
        return self.means + self.sds * rng.standard_normal(self.means.shape)
