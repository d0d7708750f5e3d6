# SPDX-License-Identifier: Apache-2.0
"""What a fitted estimator says of itself."""

from __future__ import annotations


class Results:
    """Filled in below."""
