# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from smile_bnn.__main__ import program

#: Short runs: what is tested here is the way to the library and back, not the sampler.
SHORT = {"n_chains": 2, "n_samples": 200, "warmup_steps": 200, "random_state": 3}


@pytest.fixture(scope="session")
def short():
    return dict(SHORT)


@pytest.fixture(scope="session")
def table():
    """240 rows of three features and a target with noise."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(240, 3))
    y = np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=240)
    return X, y


@pytest.fixture(scope="session")
def regressor(table):
    from smile_bnn import SmileRegressor

    return SmileRegressor(**SHORT).fit(*table)


@pytest.fixture(scope="session")
def classifier(table):
    from smile_bnn import SmileClassifier

    X, y = table
    labels = np.array(["low", "middle", "high"])[np.digitize(y, [-0.5, 0.5])]
    return SmileClassifier(**SHORT).fit(X, labels)


def smile(*arguments, check=True):
    """The program that the package holds."""
    done = subprocess.run([str(program()), *map(str, arguments)], capture_output=True, text=True)
    assert not check or done.returncode == 0, done.stderr
    return done


def write_csv(path: Path, X, y=None, names=None):
    """Numbers in their shortest forms that read back the same."""
    rows = X if y is None else np.column_stack([X, y])
    lines = [",".join(names)] if names else []
    lines += [",".join(repr(float(v)) for v in row) for row in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


def python(code: str, **options):
    """Another process."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, **options)
