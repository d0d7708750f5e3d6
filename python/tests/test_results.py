# SPDX-License-Identifier: Apache-2.0
"""What a fit says of itself: trees for ArviZ, verdicts, pages, pictures."""

import pickle
import re

import numpy as np
import pytest

import smile_bnn
from smile_bnn import InputError, plots


def test_the_tree_has_arvizs_groups_with_their_semantics(regressor, table):
    X, y = table
    tree = regressor.to_datatree(X, y, X[:5])
    assert set(tree.children) == {
        "posterior",
        "sample_stats",
        "posterior_predictive",
        "log_likelihood",
        "observed_data",
        "predictions",
        "predictions_constant_data",
    }
    posterior = tree["posterior"].to_dataset()
    assert posterior.sizes["chain"] == 2 and posterior.sizes["draw"] == 20
    assert posterior["layer0.weight"].shape == (2, 20, 16, 3) and posterior["log_sigma"].shape == (2, 20)
    stored = np.load(f"{regressor.run_dir_}/samples/chain-01.npy")
    np.testing.assert_array_equal(posterior["layer0.weight"][1].values.reshape(20, -1), stored[:, :48])
    np.testing.assert_array_equal(posterior["log_sigma"][1], stored[:, -1])

    # log_likelihood is that of the rows that were trained on, and of these alone.
    info = regressor._folders[0].info
    assert list(tree["observed_data"]["row"].values) == list(info["train_rows"]) and len(info["train_rows"]) == 216
    np.testing.assert_array_equal(tree["observed_data"]["target"], y[info["train_rows"]])
    distribution = regressor.predict_distribution(X[info["train_rows"]])
    np.testing.assert_allclose(
        tree["log_likelihood"]["target"].values.reshape(40, -1),
        distribution.log_densities(y[info["train_rows"]]),
        rtol=1e-6,
        atol=1e-9,
    )
    assert tree["predictions"]["target"].shape == (2, 20, 5)
    drawn = tree["posterior_predictive"]["target"]
    assert abs(float((drawn - distribution.mean).mean())) < 0.02
    stats = tree["sample_stats"].to_dataset()
    assert stats["diverging"].dtype == bool and np.isfinite(stats["lp"]).all() and (stats["step_size"] > 0).all()
    assert tree["posterior"].attrs["inference_library"] == "smile.cpp"
    assert regressor.to_datatree(every=7)["posterior"].sizes["draw"] == 3
    with pytest.raises(InputError, match="give all rows of the fit"):
        regressor.to_datatree(X[:9], y[:9])


def test_the_tree_of_a_classification(classifier, table):
    X, _ = table
    labels = classifier.predict(X)
    tree = classifier.to_datatree(X, labels, X[:7])
    p = tree["predictions"]["probability"]
    assert p.shape == (2, 20, 7, 3) and list(p["class"].values) == list(classifier.classes_)
    np.testing.assert_allclose(p.mean(("chain", "draw")), classifier.predict_proba(X[:7]), atol=1e-5)
    assert (tree["log_likelihood"]["target"] <= 0).all()
    drawn = tree["predictions"]["target"].values
    share = np.mean(drawn == 0, axis=(0, 1))
    assert np.abs(share - classifier.predict_proba(X[:7])[:, 0]).max() < 0.4


def test_arviz_reads_the_tree(regressor, table):
    arviz_stats = pytest.importorskip("arviz_stats", reason="ArviZ 1.x is not installed")
    X, y = table
    tree = regressor.to_datatree(X, y)
    assert "r_hat" in arviz_stats.summary(tree, var_names=["log_sigma"]).columns
    assert np.isfinite(arviz_stats.loo(tree, var_name="target").elpd)


def test_the_verdict_is_that_of_the_command_line(regressor):
    from conftest import smile

    verdict = regressor.diagnose()
    assert str(verdict) == smile("diagnose", regressor.run_dir_).stdout
    assert list(verdict.chains.index) == [0, 1] and "verdict" in verdict.chains.columns
    assert "<pre>" in verdict._repr_html_()


def test_the_page_is_one_file_without_requests(regressor, tmp_path):
    page = regressor.report(tmp_path / "page.html")
    text = open(page, encoding="utf-8").read()
    assert page == str(tmp_path / "page.html") and "<html" in text and not re.search(r'src="http', text)


def test_notebooks_show_metrics_verdict_and_what_next(regressor):
    shown = regressor._repr_mimebundle_()["text/html"]
    for words in ("LPPD", "before sampling", "all draws", "report(", "diagnose()"):
        assert words in shown
    assert "before sampling" not in smile_bnn.SmileRegressor()._repr_mimebundle_()["text/html"]


def test_pictures(regressor, classifier):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ax = plots.plot_calibration(regressor)
    x, y = ax.lines[1].get_data()
    assert len(x) == 24 and (np.diff(x) >= 0).all() and y[-1] == 1  # a tenth of 240 rows
    assert len(plots.plot_calibration(classifier).lines) == 2
    assert plots.plot_running_lppd(regressor).lines[0].get_ydata().size > 3
    assert len(plots.plot_chains(regressor).lines) == 2
    plots.plot_chains(regressor, "step_size")
    with pytest.raises(InputError, match="choose log_density"):
        plots.plot_chains(regressor, "temperature")


def test_evaluating_again_gives_the_same_metrics(regressor, table):
    again = pickle.loads(pickle.dumps(regressor))
    before = dict(again.metrics_)
    after = again.evaluate(*table).metrics_
    assert before.keys() == after.keys()
    for name, value in before.items():
        assert after[name] == value or (value != value and after[name] != after[name])
