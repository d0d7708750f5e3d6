# SPDX-License-Identifier: Apache-2.0
"""A fit is a run of the command line, and a run of the command line is a fitted estimator."""

import json

import numpy as np
import pandas as pd
import pytest
import yaml_free as yf
from conftest import SHORT, python, smile, write_csv

import smile_bnn
from smile_bnn import InputError, SmileClassifier, SmileRegressor


def _draws(folder):
    return [path.read_bytes() for path in sorted((folder / "samples").glob("*.npy"))]


def _config(path, data, more={}, **keys):
    path.write_text(
        yf.text(
            {
                "data": {"path": str(data), "task": "mean_regr", "train_split": 0.9, "valid_split": 0.1, "test_split": 0.0}
                | more,
                "rng": 3,
                "training": {"sampler": {"n_chains": 2, "n_samples": 200, "warmup_steps": 200}},
            }
            | keys
        )
    )
    return path


@pytest.mark.parametrize("jobs", [1, 2, 7])
def test_draws_equal_those_of_the_command_line_byte_for_byte(table, tmp_path, jobs):
    X, y = table
    data = write_csv(tmp_path / "t.csv", X, y)
    smile("run", _config(tmp_path / "c.yaml", data), "--out", tmp_path / "cli", "--quiet")
    SmileRegressor(**SHORT, n_jobs=jobs, run_dir=tmp_path / "py").fit(X, y)
    assert len(_draws(tmp_path / "cli")) == 2
    assert _draws(tmp_path / "py") == _draws(tmp_path / "cli")


def test_draws_of_classes_and_words_equal_those_of_the_command_line(table, tmp_path):
    X, y = table
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["wind"] = np.array(["east", "west", "north"])[np.arange(240) % 3]
    labels = pd.Series(np.where(y > 0, "up", "down"), name="way")
    frame.assign(way=labels).to_csv(tmp_path / "t.csv", index=False, float_format="%.17g")
    config = _config(tmp_path / "c.yaml", tmp_path / "t.csv", {"task": "class", "categorical": ["wind"]})
    smile("run", config, "--out", tmp_path / "cli", "--quiet")
    SmileClassifier(**SHORT, run_dir=tmp_path / "py").fit(frame, labels)
    assert _draws(tmp_path / "py") == _draws(tmp_path / "cli")


def test_a_run_of_the_command_line_is_a_fitted_estimator(table, tmp_path):
    X, y = table
    data = write_csv(tmp_path / "t.csv", X, y, ["a", "b", "c", "y"])
    smile("run", _config(tmp_path / "c.yaml", data), "--out", tmp_path / "run", "--quiet")
    model = smile_bnn.load(tmp_path / "run")
    assert isinstance(model, SmileRegressor) and list(model.feature_names_in_) == ["a", "b", "c"]
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    mean, sd = model.predict(frame, return_std=True)
    out = tmp_path / "p.csv"
    smile("predict", tmp_path / "run", "--data", data, "--out", out)
    written = pd.read_csv(out)
    np.testing.assert_allclose(mean, written["mean"], rtol=1e-8)
    np.testing.assert_allclose(sd, written["sd"], rtol=1e-8)
    assert model.metrics_["RMSE"] > 0


def test_a_saved_model_is_read_by_the_command_line(regressor, table, tmp_path):
    X, y = table
    folder = regressor.save(tmp_path / "run")
    smile("predict", folder, "--data", write_csv(tmp_path / "new.csv", X[:9]), "--out", tmp_path / "p.csv")
    np.testing.assert_allclose(regressor.predict(X[:9]), pd.read_csv(tmp_path / "p.csv")["mean"], rtol=1e-8)
    assert "sound" in smile("diagnose", folder).stdout or "doubtful" in smile("diagnose", folder).stdout
    smile("report", folder, "--out", tmp_path / "page.html")
    smile("export", folder, "--format", "npz", "--out", tmp_path / "d.npz")
    with pytest.raises(InputError, match="something already"):
        regressor.save(tmp_path / "run")


def test_evaluating_needs_the_rows_and_says_so(regressor, table, tmp_path):
    X, y = table
    folder = regressor.save(tmp_path / "run")
    refused = smile("evaluate", folder, check=False)
    assert refused.returncode == 2 and refused.stderr.count("\n") == 1
    assert "arrays in memory" in refused.stderr and "--data FILE" in refused.stderr
    data = write_csv(tmp_path / "t.csv", X, y)
    before = (tmp_path / "run/eval/metrics.json").read_text()
    assert "LPPD" in smile("evaluate", folder, "--data", data, "--quiet").stdout
    assert json.loads((tmp_path / "run/eval/metrics.json").read_text())["metrics"] == json.loads(before)["metrics"]
    wrong = smile("evaluate", folder, "--data", write_csv(tmp_path / "w.csv", X, y + 1), check=False)
    assert wrong.returncode == 2 and "not what the run" in wrong.stderr


def test_the_package_holds_the_program():
    done = python("import sys; sys.argv[1:] = ['--version']; from smile_bnn.__main__ import main; main()")
    assert done.stdout.strip() == f"smile {smile_bnn.__version__}"
    assert "psmile-auto" in smile("list", "samplers").stdout and "psmile-auto" in smile_bnn.samplers()
    assert smile("nonsense", check=False).returncode == 2


def test_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(InputError):
        smile_bnn.load(tmp_path / "nothing")
    with pytest.raises(InputError):
        smile_bnn.load(tmp_path)
