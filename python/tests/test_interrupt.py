# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C: within a second, with what is there."""

import re
import signal
import threading
import time

import numpy as np
import pytest

from smile_bnn import SmileRegressor


def _interrupted(model, X, y, seconds):
    at = []

    def press():
        at.append(time.monotonic())
        signal.raise_signal(signal.SIGINT)

    threading.Timer(seconds, press).start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    return time.monotonic() - at[0]


def test_while_chains_run_what_they_stored_can_be_asked(table):
    X, y = table
    model = SmileRegressor(n_chains=2, n_samples=10**8, warmup_steps=100, thinning=100, random_state=0)
    assert _interrupted(model, X, y, 3.0) < 1.0
    assert model.interrupted_ and model.score(X, y) > 0.8
    assert "interrupted" in model.warnings_[0]


def test_before_there_are_draws_it_is_not_fitted(table):
    X, y = table
    model = SmileRegressor(n_chains=2, warmup_steps=10**9, n_samples=10**9, thinning=10**6, random_state=0)
    assert _interrupted(model, X, y, 1.5) < 1.0
    assert not hasattr(model, "_folders")


def test_other_threads_of_python_go_on_while_chains_run(table):
    X, y = table
    counted = [0]
    stop = threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begun = time.monotonic()
    SmileRegressor(n_chains=2, n_samples=20000, warmup_steps=100, random_state=0, n_jobs=1).fit(X, y)
    seconds = time.monotonic() - begun
    stop.set()
    thread.join()
    assert counted[0] > 100 * seconds  # some 900 a second where nothing is in the way


def test_progress_is_told_and_its_exception_stops_the_run(table, capsys, monkeypatch):
    X, y = table
    SmileRegressor(n_chains=2, n_samples=200, warmup_steps=100, random_state=0, verbose=True).fit(X, y)
    shown = capsys.readouterr().err
    assert re.search(r"sampling: \d+ of \d+ steps", shown) and "\r" not in shown

    from smile_bnn import _progress

    def refuse(*_):
        raise RuntimeError("not today")

    monkeypatch.setattr(_progress.Shown, "progress", refuse)
    with pytest.raises(RuntimeError, match="not today"):
        SmileRegressor(n_chains=2, n_samples=10**8, thinning=10**4, random_state=0, verbose=True).fit(X, y)
