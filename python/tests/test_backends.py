# SPDX-License-Identifier: Apache-2.0
"""Chains of an estimator as tasks of joblib's backend in force."""
import filecmp

import numpy as np
import pytest
from joblib import parallel_config, register_parallel_backend
from joblib._parallel_backends import ThreadingBackend

from smile_bnn import InputError, SmileClassifier, SmileRegressor

_SHORT = {"n_chains": 3, "n_samples": 200, "warmup_steps": 100, "random_state": 2}


class ElsewhereBackend(ThreadingBackend):
    """As one that has other machines: joblib does not know it."""

    tasks = 0

    def submit(self, func, callback=None):
        type(self).tasks += 1
        return super().submit(func, callback)


register_parallel_backend("elsewhere", ElsewhereBackend)


def _table():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 4))
    return X, X @ [1.0, 2.0, -1.0, 0.5] + 0.1 * rng.normal(size=200)


def _same_files(a, b):
    for k in range(_SHORT["n_chains"]):
        name = f"samples/chain-{k:02d}.npy"
        assert filecmp.cmp(a / name, b / name, shallow=False), name


def test_chains_are_tasks_and_make_the_same_run(tmp_path):
    X, y = _table()
    alone = SmileRegressor(**_SHORT, run_dir=tmp_path / "alone").fit(X, y)
    ElsewhereBackend.tasks = 0
    with parallel_config(backend="elsewhere", n_jobs=2):
        spread = SmileRegressor(**_SHORT, run_dir=tmp_path / "spread").fit(X, y)
    assert ElsewhereBackend.tasks >= 2
    _same_files(tmp_path / "alone", tmp_path / "spread")
    np.testing.assert_equal(spread.metrics_, alone.metrics_)
    np.testing.assert_array_equal(spread.predict(X), alone.predict(X))


def test_classes_too(tmp_path):
    X, y = _table()
    labels = np.where(y > 0, "high", "low")
    with parallel_config(backend="elsewhere", n_jobs=2):
        spread = SmileClassifier(**_SHORT, run_dir=tmp_path / "spread").fit(X, labels)
    alone = SmileClassifier(**_SHORT).fit(X, labels)
    np.testing.assert_array_equal(spread.predict_proba(X), alone.predict_proba(X))


def test_needs_a_folder_that_all_share():
    X, y = _table()
    with parallel_config(backend="elsewhere"), pytest.raises(InputError, match="run_dir on a shared file system"):
        SmileRegressor(**_SHORT).fit(X, y)


def test_joblib_s_own_backends_leave_the_threads_to_the_library():
    X, y = _table()
    alone = SmileRegressor(**_SHORT).fit(X, y)
    for backend in ("threading", "loky"):
        with parallel_config(backend=backend, n_jobs=2):
            np.testing.assert_array_equal(SmileRegressor(**_SHORT).fit(X, y).predict(X), alone.predict(X))


def test_dask(tmp_path):
    distributed = pytest.importorskip("distributed")
    X, y = _table()
    alone = SmileRegressor(**_SHORT, run_dir=tmp_path / "alone").fit(X, y)
    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None):
        with parallel_config(backend="dask"):
            spread = SmileRegressor(**_SHORT, run_dir=tmp_path / "spread").fit(X, y)
    _same_files(tmp_path / "alone", tmp_path / "spread")
    np.testing.assert_array_equal(spread.predict(X), alone.predict(X))
