# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's conventions."""

import pickle

import numpy as np
import pandas as pd
import pytest
from conftest import SHORT, python
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from smile_bnn import _core, InputError, SmileClassifier, SmileRegressor

_TINY = {"n_chains": 2, "n_samples": 60, "warmup_steps": 60, "n_jobs": 1}


@parametrize_with_checks([SmileRegressor(**_TINY), SmileClassifier(**_TINY)])
def test_conventions_of_scikit_learn(estimator, check):
    check(estimator)


def test_predictions_have_their_shapes_and_fit_together(regressor, table):
    X, y = table
    mean, sd = regressor.predict(X, return_std=True)
    assert mean.shape == sd.shape == (240,) and (sd > 0).all()
    assert np.array_equal(mean, regressor.predict(X))
    quantiles = regressor.predict_quantiles(X, [0.05, 0.5, 0.95])
    assert quantiles.shape == (240, 3) and (np.diff(quantiles, axis=1) > 0).all()
    low, high = regressor.predict_interval(X, 0.9)
    assert np.array_equal(low, quantiles[:, 0]) or np.allclose(low, quantiles[:, 0])
    assert 0.75 < np.mean((low <= y) & (y <= high)) <= 1
    assert regressor.score(X, y) > 0.9

    distribution = regressor.predict_distribution(X)
    assert distribution.means.shape == distribution.sds.shape == (40, 240)
    np.testing.assert_allclose(distribution.mean, mean, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(distribution.sd, sd, rtol=1e-4)
    # Half of a mixture lies below its median.
    inside = np.mean(distribution.sample(0) < quantiles[:, 1])
    assert abs(inside - 0.5) < 0.03


def test_lppd_is_that_of_the_command_line(regressor, table):
    X, y = table
    columns, names = regressor._columns(X)
    scores = dict(regressor._folders[0].run.predict([*columns, ("target", y, [])], names, [], 1)[3])
    assert regressor.score_lppd(X, y, scaled=True) == pytest.approx(scores["LPPD"], abs=1e-4)
    sd = regressor._folders[0].info["target_sd"]
    assert regressor.score_lppd(X, y) == pytest.approx(scores["LPPD"] - np.log(sd), abs=1e-4)


def test_classes_are_words_and_probabilities_sum_to_one(classifier, table):
    X, y = table
    assert list(classifier.classes_) == ["high", "low", "middle"]
    p = classifier.predict_proba(X)
    assert p.shape == (240, 3) and np.allclose(p.sum(axis=1), 1)
    assert np.array_equal(classifier.predict(X), classifier.classes_[p.argmax(axis=1)])
    entropy, information = classifier.predict_uncertainty(X)
    np.testing.assert_allclose(entropy, -np.sum(p * np.log(p), axis=1), atol=1e-6)
    assert (information <= entropy + 1e-9).all() and (information > -1e-9).all()
    draws = classifier.predict_distribution(X)
    assert draws.shape == (40, 240, 3)
    np.testing.assert_allclose(draws.mean(axis=0), p, atol=1e-5)
    labels = classifier.predict(X)
    assert classifier.score_lppd(X, labels) > classifier.score_lppd(X, np.roll(labels, 1))


@pytest.mark.parametrize("kind", ["int", "float", "bool", "object"])
def test_labels_of_any_kind_come_back_as_they_are(table, kind):
    X, y = table
    labels = {
        "int": np.where(y > 0, 7, -2),
        "float": np.where(y > 0, 2.0, 1.0),
        "bool": y > 0,
        "object": np.where(y > 0, "ja", "nein").astype(object),
    }[kind]
    model = SmileClassifier(**SHORT).fit(X, labels)
    assert np.array_equal(model.classes_, np.unique(labels))
    assert np.mean(model.predict(X) == labels) > 0.85
    assert model.predict(X).dtype == model.classes_.dtype


def test_several_outputs_are_networks_of_their_own(table, tmp_path):
    import smile_bnn

    X, y = table
    Y = np.column_stack([y, X[:, 2] * 3 + 1])
    model = SmileRegressor(**SHORT).fit(X, Y)
    mean, sd = model.predict(X, return_std=True)
    assert mean.shape == sd.shape == (240, 2)
    assert model.predict_quantiles(X, [0.1, 0.9]).shape == (240, 2, 2)
    assert model.score(X, Y) > 0.9
    assert np.array_equal(mean[:, 0], SmileRegressor(**SHORT).fit(X, y).predict(X))
    again = smile_bnn.load(model.save(tmp_path / "both"))
    assert np.array_equal(again.predict(X), mean)
    assert model.score_lppd(X, Y) == pytest.approx(again.score_lppd(X, Y))


def test_noise_of_its_own_for_each_row(table):
    X, _ = table
    rng = np.random.default_rng(1)
    y = X[:, 0] + np.where(X[:, 1] > 0, 1.0, 0.05) * rng.normal(size=240)
    model = SmileRegressor(task="regr", n_chains=2, n_samples=1000, warmup_steps=1000, random_state=0).fit(X, y)
    noise = model.predict_distribution(X).aleatoric_sd
    assert noise[X[:, 1] > 0.3].mean() > 2 * noise[X[:, 1] < -0.3].mean()


def test_a_pickle_predicts_the_same_in_another_process(regressor, table, tmp_path):
    X, _ = table
    np.save(tmp_path / "X.npy", X)
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(regressor))
    code = (
        "import pickle, numpy as np\n"
        f"model = pickle.load(open({str(tmp_path / 'model.pkl')!r}, 'rb'))\n"
        f"np.save({str(tmp_path / 'y.npy')!r}, model.predict(np.load({str(tmp_path / 'X.npy')!r}), return_std=True))\n"
    )
    done = python(code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert np.array_equal(np.load(tmp_path / "y.npy"), regressor.predict(X, return_std=True))


def test_clone_forgets_the_fit(regressor, table):
    fresh = clone(regressor)
    assert fresh.get_params() == regressor.get_params()
    with pytest.raises(NotFittedError):
        fresh.predict(table[0])


def test_pipeline_grid_search_and_cross_validation(table):
    X, y = table
    model = make_pipeline(StandardScaler(), SmileRegressor(**SHORT))
    assert cross_val_score(model, X, y, cv=2).min() > 0.7
    search = GridSearchCV(SmileRegressor(**SHORT), {"hidden": [[4], [8, 8]]}, cv=2, n_jobs=2).fit(X, y)
    assert search.best_score_ > 0.7 and search.predict(X).shape == (240,)


def test_columns_by_name_and_words(table):
    X, y = table
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1].astype(np.float32), "n": np.arange(240)})
    frame["wind"] = pd.Categorical(np.array(["east", "west", "north"])[np.arange(240) % 3])
    y = y + (frame["wind"] == "west").to_numpy() * 3
    model = SmileRegressor(**SHORT).fit(frame, pd.Series(y, name="power"))
    assert list(model.feature_names_in_) == ["a", "b", "n", "wind"]
    mean = model.predict(frame)
    assert model.score(frame, y) > 0.9
    part = frame.iloc[30:40]
    np.testing.assert_allclose(model.predict(part), mean[30:40], rtol=1e-6)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"a": "A"}))
    with pytest.raises(InputError, match="'south' did not occur"):
        model.predict(pd.DataFrame({"a": [0.0], "b": [0.0], "n": [1], "wind": ["south"]}))
    with pytest.raises(InputError, match="give a DataFrame"):
        model.predict(np.zeros((2, 4)))
    gap = frame.astype({"wind": object})
    gap.loc[5, "wind"] = None
    with pytest.raises(InputError, match="column wind, row 5: missing value"):
        SmileRegressor(**SHORT).fit(gap, y)


def test_missing_values_become_the_mean_where_asked(table):
    X, y = table[0].copy(), table[1]
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        SmileRegressor(**SHORT).fit(X, y)
    model = SmileRegressor(**SHORT, missing="mean").fit(X, y)
    assert np.isfinite(model.predict(X)).all()


def test_arrays_of_any_layout_are_the_same_data(table):
    X, y = table
    expected = SmileRegressor(**SHORT).fit(X, y).predict(X)
    wide = np.zeros((240, 6))
    wide[:, ::2] = X
    for form in (np.asfortranarray(X), wide[:, ::2], X[::-1][::-1], X.tolist()):
        assert np.array_equal(SmileRegressor(**SHORT).fit(form, y).predict(form), expected)
    single = X.astype(np.float32)
    assert np.array_equal(
        SmileRegressor(**SHORT).fit(single, y).predict(single),
        SmileRegressor(**SHORT).fit(single.astype(np.float64), y).predict(single),
    )


def test_networks_trained_elsewhere_are_where_the_chains_start(regressor, table, tmp_path):
    X, y = table
    d = sum(int(np.prod(shape)) for _, shape, _ in regressor._folders[0].info["tensors"])
    start = [np.linspace(-0.1, 0.1, d), np.full(d, 0.05)]
    model = SmileRegressor(n_samples=50, warmup_steps=50, random_state=1, warm_start_params=start, run_dir=tmp_path / "r")
    model.fit(X, y)
    for k in range(2):
        assert np.array_equal(np.load(_core.member_path(str(tmp_path / "r"), k)), np.float32(start[k]))
    with pytest.raises(InputError, match="3 parameters"):
        SmileRegressor(**SHORT, warm_start_params=[np.zeros(3)]).fit(X, y)


def test_options_reach_the_sampler_and_wrong_ones_are_refused(table):
    X, y = table
    model = SmileRegressor(**SHORT, sampler="sghmc", sampler_options={"step_size": 1e-3}, batch_size=32).fit(X, y)
    config = open(f"{model.run_dir_}/config.yaml").read()
    assert "sghmc" in config and "batch_size: 32" in config
    for options, message in [
        ({"sampler": "sgdmom"}, "sampler.*sgdmom"),
        ({"sampler_options": {"stepsize": 1}}, r"sampler_options\['stepsize'\].*step_size"),
        ({"n_chains": 0}, "n_chains"),
        ({"hidden": [0]}, "hidden"),
        ({"prior": "Flat"}, "prior"),
        ({"task": "class"}, "choose mean_regr or regr"),
        ({"validation_fraction": 0}, "validation_fraction"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"config": {"model": {"activatoin": "relu"}}}, "activation"),
        ({"random_state": -1}, "random_state"),
    ]:
        with pytest.raises(ValueError, match=message):
            SmileRegressor(**{**SHORT, **options}).fit(X, y)


def test_wrong_data_is_refused_with_scikit_learns_kinds_of_errors(regressor, classifier, table):
    X, y = table
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SmileRegressor(**SHORT).fit(X, y[:-1])
    with pytest.raises(ValueError, match="expecting 3 features"):
        regressor.predict(X[:, :2])
    with pytest.raises(ValueError, match="infinity"):
        regressor.predict(np.full((1, 3), np.inf))
    with pytest.raises(ValueError, match="(?i)could not convert string|dtype"):
        regressor.predict(np.array([["a", "b", "c"]]))
    with pytest.raises(InputError, match="constant"):
        SmileRegressor(**SHORT).fit(X, np.ones(240))
    with pytest.raises(ValueError, match="one class only"):
        SmileClassifier(**SHORT).fit(X, np.ones(240, dtype=int))
    with pytest.raises(InputError, match="'huge' did not occur"):
        classifier.score_lppd(X, np.full(240, "huge"))
    with pytest.raises(InputError, match="coverage"):
        regressor.predict_interval(X, 90)
    with pytest.raises(InputError, match="not between 0 and 1"):
        regressor.predict_quantiles(X, [5])
    error = pytest.raises(InputError, regressor.predict_quantiles, X, [0.0]).value
    assert error.place == "quantiles" and error.mend.startswith("give probabilities")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
