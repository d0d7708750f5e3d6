# SPDX-License-Identifier: Apache-2.0
"""A million rows: where they lie, and what a fit adds."""

import numpy as np
import pytest
from conftest import python

from smile_bnn import SmileRegressor

_CODE = """
import numpy as np
from smile_bnn import SmileRegressor

def read(name):
    for line in open("/proc/self/status"):
        if line.startswith(name):
            return int(line.split()[1]) * 1024

small = np.random.default_rng(0).normal(size=(50, 20))
options = {"n_samples": 900, "warmup_steps": 100, "random_state": 0, "warmstart_options": {"max_epochs": 1}}
SmileRegressor(**{**options, "n_samples": 20, "warmup_steps": 20}).fit(small, small[:, 0])
rng = np.random.default_rng(0)
X = rng.standard_normal((1_000_000, 20), dtype=np.float32)
y = X[:, 0] + rng.standard_normal(1_000_000, dtype=np.float32)
before = read("VmRSS")
open("/proc/self/clear_refs", "w").write("5")  # forgets the peak so far
SmileRegressor(**options, n_jobs=2).fit(X, y)
print((read("VmHWM") - before) / 1e6)
"""


def test_arrays_in_single_precision_are_read_where_they_lie(table):
    X = np.ascontiguousarray(table[0], dtype=np.float32)
    columns, _, named = SmileRegressor()._training_columns(X, table[1], y_numeric=True)
    assert not named and all(np.shares_memory(values, X) for _, values, _ in columns)


def test_a_million_rows_cost_their_data_once_more_and_200_megabytes():
    try:
        open("/proc/self/clear_refs", "a").close()
    except OSError:
        pytest.skip("/proc/self/clear_refs may not be written here")
    done = python(_CODE)
    assert done.returncode == 0, done.stderr
    extra = float(done.stdout)
    print(f"{extra:.0f} MB beside the arrays")
    assert extra < 80 + 200
