# SPDX-License-Identifier: Apache-2.0
"""Estimators after scikit-learn's conventions; each fit is a run folder of the command line."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from pathlib import Path
from typing import Any, Iterable, Mapping, Sequence

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from . import _core
from ._data import Column, columns_of, has_words, is_frame, numbers, target_name
from ._distribution import Distribution
from ._errors import InputError, RunError
from ._folder import RunFolder
from ._progress import Shown
from ._results import Results

_FEWEST_ROWS = 3  # two to train on, one to stop at
_MOST_EVALUATED = 5_000  # test rows: enough for every metric, where all would take longer than the chains


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's, for JSON (which is YAML)."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value


def _flat(prefix: str, options: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    for name, value in options.items():
        if isinstance(value, Mapping):
            yield from _flat(f"{prefix}{name}.", value)
        else:
            yield f"{prefix}{name}", value


def _backend_elsewhere() -> str | None:
    """The joblib backend in force, where it is one that may use other machines (Dask, Ray, Spark, one's own)."""
    try:
        from joblib.parallel import get_active_backend
    except ImportError:
        return None
    backend, _ = get_active_backend()
    kind = type(backend)
    return None if kind.__module__ == "joblib._parallel_backends" else kind.__name__


def _fit_chain(
    settings: list[tuple[str, str, str]], name: str, folder: str, columns: list[Column], has_names: bool, chain: int
) -> None:
    """One chain of a run that several processes do, on one thread. A process before may have left it begun."""
    _core.run("{}", name, settings, folder, columns, has_names, 1, True, [chain], None, None)


def _fit_chains(
    settings: list[tuple[str, str, str]],
    name: str,
    folder: str,
    columns: list[Column],
    has_names: bool,
    chains: int,
    n_jobs: int | None,
) -> None:
    """All chains, one a task of joblib's backend in force."""
    from joblib import Parallel, delayed

    Parallel(n_jobs=n_jobs)(
        delayed(_fit_chain)(settings, name, folder, columns, has_names, chain) for chain in range(chains)
    )


class _Estimator(Results, BaseEstimator):
    """What both estimators share."""

    _folders: list[RunFolder]

    # -- the configuration -----------------------------------------------------------------------------------

    def _settings(self, task: str, outputs: int, rows: int, seed: int) -> list[tuple[str, str, str]]:
        """(key, YAML, place for messages), the later ones winning."""
        settings: list[tuple[str, Any, str]] = [
            ("data.path", _core.MEMORY_PATH, "fit"),
            ("data.task", task, "task"),
            ("rng", seed, "random_state"),
        ]
        settings += [(f"data.{k}", v, f"{n}={v}") for k, n, v in self._fractions(rows)]
        if rows * (float(self.test_fraction) or float(self.validation_fraction)) > _MOST_EVALUATED:
            settings.append(("evaluation_args.datapoint_limit", _MOST_EVALUATED, "fit"))
        if self.missing != "error":
            settings.append(("data.missing", self.missing, "missing"))
        sampler = "training.sampler."
        for key, name in (
            ("model.activation", "activation"),
            (sampler + "name", "sampler"),
            (sampler + "n_chains", "n_chains"),
            (sampler + "n_samples", "n_samples"),
            (sampler + "warmup_steps", "warmup_steps"),
            (sampler + "n_thinning", "thinning"),
        ):
            if (value := getattr(self, name)) is not None:
                settings.append((key, value, name))
        if self.batch_size is not None:
            whole = isinstance(self.batch_size, str) and self.batch_size == "all"
            settings.append((sampler + "batch_size", None if whole else self.batch_size, "batch_size"))
        if self.hidden is not None:
            settings.append(("model.hidden_structure", [*_plain(list(self.hidden)), outputs], "hidden"))
        if self.prior is not None:
            prior = {"name": self.prior} if isinstance(self.prior, str) else dict(self.prior)
            settings += [(k, v, "prior") for k, v in _flat(sampler + "prior_config.", prior)]
        for prefix, name in ((sampler, "sampler_options"), ("training.warmstart.", "warmstart_options")):
            for key, value in _flat(prefix, getattr(self, name) or {}):
                settings.append((key, value, f"{name}[{key[len(prefix):]!r}]"))
        for key, value in _flat("", self.config or {}):
            settings.append((key, value, f"config[{key!r}]"))
        return [(key, json.dumps(_plain(value)), where) for key, value, where in settings]

    def _fractions(self, rows: int) -> list[tuple[str, str, float]]:
        valid, test = float(self.validation_fraction), float(self.test_fraction)
        if not (0 < valid < 1 and 0 <= test < 1 and valid + test < 1):
            raise InputError(
                "validation_fraction, test_fraction",
                f"{valid:g} and {test:g} leave no rows to train on, or none to stop at",
                "give fractions such as 0.1 and 0",
            )
        # A part that is asked for has a row.
        if valid * rows < 1:
            valid = 1.0 / rows
        if 0 < test * rows < 1:
            test = 1.0 / rows
        return [
            ("train_split", "validation_fraction", round(1 - valid - test, 12)),
            ("valid_split", "validation_fraction", valid),
            ("test_split", "test_fraction", test),
        ]

    def _seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)):
            if self.random_state < 0:
                raise InputError("random_state", f"{self.random_state} is negative", "give a number from 0")
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _threads(self) -> int:
        if self.n_jobs is None or self.n_jobs == -1:
            return 0
        if self.n_jobs < -1:
            return max(1, (os.cpu_count() or 1) + 1 + self.n_jobs)
        if self.n_jobs == 0:
            raise InputError("n_jobs", "0 threads compute nothing", "give a number from 1, or None for all cores")
        return int(self.n_jobs)

    # -- fitting ---------------------------------------------------------------------------------------------

    def _fit(
        self, columns: list[Column], targets: list[Column], has_names: bool, task: str, outputs: int
    ) -> None:
        """A run for each target column, all with the same rows in the same parts."""
        rows = len(targets[0][1])
        seed = self._seed()
        settings = self._settings(task, outputs, rows, seed)
        paths: list[str | None] = [None] * len(targets)
        if self.run_dir is not None:
            base = Path(self.run_dir)
            paths = [str(base if len(targets) == 1 else base / f"output-{k}") for k in range(len(targets))]
        for name in ("_folders", "metrics_", "warnings_", "interrupted_"):
            if hasattr(self, name):
                delattr(self, name)
        folders: list[RunFolder] = []
        summaries: list[dict[str, Any]] = []
        with tempfile.TemporaryDirectory(prefix="smile_bnn-start-") as start:
            for target, path in zip(targets, paths):
                folder = RunFolder(path)
                extra = self._write_start(start, len(folders))
                try:
                    summaries.append(
                        self._run(settings + extra, folder, [*columns, target], has_names)
                    )
                except KeyboardInterrupt:
                    self._keep_partial(folders, folder, len(targets))
                    raise
                folders.append(folder)
        self._folders = folders
        self.metrics_ = {name: after for name, _, after in summaries[0]["metrics"]}
        self.start_metrics_ = {name: before for name, before, _ in summaries[0]["metrics"]}
        self.warnings_ = [text for s in summaries for text in (*s["warnings"], *s["findings"])]
        self.interrupted_ = False
        failed = sum(s["failed_chains"] for s in summaries)
        if failed:
            warnings.warn(
                f"{failed} of {sum(s['chains'] for s in summaries)} chains failed and are left out; "
                f"diagnose() says why",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _run(
        self, settings: list[tuple[str, str, str]], folder: RunFolder, columns: list[Column], has_names: bool
    ) -> dict[str, Any]:
        shared = _backend_elsewhere()
        if shared is not None:
            if self.run_dir is None:
                raise InputError(
                    "run_dir",
                    f"joblib's {shared} may place chains on other machines, and no folder is named that all share",
                    "give run_dir on a shared file system, or fit outside of parallel_config",
                )
            chains = int(_core.chains_of("{}", type(self).__name__, settings))
            _fit_chains(settings, type(self).__name__, str(folder.path), columns, has_names, chains, self.n_jobs)
        shown = Shown() if self.verbose else None
        try:
            return _core.run(
                "{}",
                type(self).__name__,
                settings,
                str(folder.path),
                columns,
                has_names,
                self._threads(),
                shared is not None,
                [],
                shown.progress if shown else None,
                shown.message if shown else None,
            )
        finally:
            if shown:
                shown.close()

    def _keep_partial(self, done: list[RunFolder], last: RunFolder, wanted: int) -> None:
        """After Ctrl-C: what is there can be asked, where it is enough."""
        if len(done) + 1 < wanted:
            return
        try:
            last.run
        except (InputError, RunError):
            return
        self._folders = [*done, last]
        self.metrics_, self.start_metrics_, self.warnings_ = {}, {}, ["the fit was interrupted"]
        self.interrupted_ = True

    def _write_start(self, top: str, k: int) -> list[tuple[str, str, str]]:
        """Networks trained elsewhere, as the folder of a run that trained them."""
        if self.warm_start_params is None:
            return []
        members = [np.asarray(m, dtype=np.float32).ravel() for m in self.warm_start_params]
        if not members:
            raise InputError("warm_start_params", "there is no network", "give at least one vector of parameters")
        count = self.n_chains if self.n_chains is not None else len(members)
        folder = Path(top) / str(k)
        for i in range(count):
            path = Path(_core.member_path(str(folder), i))
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path, members[i % len(members)])
        return [
            ("training.warmstart.warmstart_exp_dir", json.dumps(str(folder)), "warm_start_params"),
            ("training.sampler.n_chains", json.dumps(count), "warm_start_params"),
        ]

    def _training_columns(self, X: Any, y: Any, **checks: Any) -> tuple[list[Column], Any, bool]:
        """Columns of X, y as checked, and whether the columns have names."""
        finite = True if self.missing == "error" else "allow-nan"
        if is_frame(X) and has_words(X):
            if y is None:
                raise ValueError(
                    f"This {type(self).__name__} estimator requires y to be passed, but the target y is None."
                )
            check_consistent_length(X, y)
            _check_feature_names(self, X, reset=True)
            _check_n_features(self, X, reset=True)
            if len(X) < _FEWEST_ROWS:
                raise InputError("X", f"{len(X)} rows are too few", f"give at least {_FEWEST_ROWS}")
            columns = columns_of(X)
        else:
            array, y = validate_data(
                self,
                X,
                y,
                dtype=[np.float64, np.float32],
                ensure_all_finite=finite,
                ensure_min_samples=_FEWEST_ROWS,
                **checks,
            )
            columns = columns_of(array)
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            columns = [(str(name), *column[1:]) for name, column in zip(names, columns)]
        return columns, y, names is not None

    def evaluate(self, X: Any, y: Any) -> Any:
        """Evaluates the draws on the test rows of the fit again, which rewrites metrics and report.

        Parameters
        ----------
        X, y
            All rows of the fit, in its order; they are needed only where the run's own file is gone, or was arrays.

        Returns
        -------
        self, with ``metrics_`` as they are now
        """
        columns, has_names = self._columns(X)
        y = np.asarray(y)
        for k, folder in enumerate(self._folders):
            target = y[:, k] if y.ndim == 2 else y
            name = folder.info["target"]
            if hasattr(self, "classes_") and self.classes_.dtype.kind not in "iuf":
                last: Column = (name, np.searchsorted(self.classes_, target).astype(np.int64), [str(c) for c in self.classes_])
            else:
                last = (name, numbers(target), [])
            summary = _core.evaluate(str(folder.path), [*columns, last], has_names, self._threads(), None, None)
            if k == 0:
                self.metrics_ = {name: after for name, _, after in summary["metrics"]}
        return self

    # -- predicting ------------------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_folders")

    def _columns(self, X: Any) -> tuple[list[Column], bool]:
        check_is_fitted(self)
        if is_frame(X) and (has_words(X) or any(self._folders[0].info["categories"])):
            _check_feature_names(self, X, reset=False)
            if not hasattr(self, "feature_names_in_"):
                _check_n_features(self, X, reset=False)
            return columns_of(X), all(isinstance(name, str) for name in X.columns)
        if any(self._folders[0].info["categories"]):
            raise InputError("X", "the model has columns of words, which an array has not", "give a DataFrame")
        named = is_frame(X) and hasattr(self, "feature_names_in_")
        finite = True if self.missing == "error" else "allow-nan"
        array = validate_data(self, X, reset=False, dtype=[np.float64, np.float32], ensure_all_finite=finite)
        columns = columns_of(array)
        if named:
            columns = [(str(name), *column[1:]) for name, column in zip(self.feature_names_in_, columns)]
        return columns, named

    def _predicted(self, X: Any, quantiles: Sequence[float] = ()) -> list[tuple[list[str], np.ndarray, np.ndarray]]:
        """For each output the names of the numbers, the numbers [rows, …], and the classes."""
        columns, has_names = self._columns(X)
        quantiles = [float(q) for q in quantiles]
        out = []
        for folder in self._folders:
            names, values, labels, _ = folder.run.predict(columns, has_names, quantiles, self._threads())
            out.append((names, values, labels))
        return out

    # -- keeping ---------------------------------------------------------------------------------------------

    @property
    def run_dir_(self) -> str:
        """The run folder; of several outputs the first one's."""
        check_is_fitted(self)
        return str(self._folders[0].path)

    def save(self, directory: str | os.PathLike[str]) -> str:
        """Copies the run folder to ``directory``, which must be new.

        `smile_bnn.load` and the command line (``smile predict DIR --data FILE``, ``smile report DIR``, …) read it.
        A model of several outputs is a folder with a run ``output-K`` for each.
        """
        check_is_fitted(self)
        path = Path(directory)
        if len(self._folders) == 1:
            self._folders[0].copy_to(path)
        else:
            for k, folder in enumerate(self._folders):
                folder.copy_to(path / f"output-{k}")
        return str(path)

    def _adopt(self, folders: list[RunFolder]) -> None:
        """Becomes what the runs say."""
        info = folders[0].info
        self._folders = folders
        self.n_features_in_ = len(info["features"])
        if info["has_header"]:
            self.feature_names_in_ = np.array(info["features"], dtype=object)
        metrics = folders[0].json("metrics.json") or {}
        rows = metrics.get("metrics", {})
        self.metrics_ = _column(rows, "sampling")
        self.start_metrics_ = _column(rows, "ensemble")
        self.warnings_ = list(metrics.get("warnings", []))
        self.interrupted_ = False


def _column(rows: Any, phase: str) -> dict[str, float]:
    """A column of the table of eval/metrics.json."""
    if isinstance(rows, Mapping):
        rows = [{"name": name, **values} for name, values in rows.items()]
    return {row["name"]: _number(row.get(phase)) for row in rows}


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)


_PARAMETERS = """
    Parameters
    ----------
    {task}hidden : sequence of int, optional
        Widths of the hidden layers. None: 16, 16, 16.
    activation : str, optional
        ``relu``, ``tanh``, ``sigmoid``, ``gelu``, ``leaky_relu`` or ``identity``.
    sampler : str, optional
        One of `smile_bnn.samplers`; None: the library's default, which needs no step size.
    sampler_options : dict, optional
        Keys of ``training.sampler`` of the configuration, such as ``{{"step_size": 0.01}}``; `smile_bnn.keys`
        lists them.
    n_chains, n_samples, warmup_steps, thinning : int, optional
        Chains; steps of each after its warm-up; steps of the warm-up; every how many steps a draw is kept.
    batch_size : int or "all", optional
        Rows of a mini-batch of the sampler.
    prior : str or dict, optional
        One of `smile_bnn.priors`, or ``{{"name": …, parameter: …}}``.
    warmstart_options : dict, optional
        Keys of ``training.warmstart``, such as ``{{"max_epochs": 50}}``.
    warm_start_params : sequence of arrays [d], optional
        Networks trained elsewhere, which the chains start from in turn. An array holds, layer by layer, the
        weight [out, in] row by row and the bias; of a ``mean_regr`` log σ comes last.
    validation_fraction : float, default 0.1
        Part of the rows that early stopping looks at and nothing is trained on.
    test_fraction : float, default 0
        Part of the rows that is kept for `metrics_` and the report alone. 0: those are of the validation rows.
        Of more than 5,000 such rows the first are evaluated (``evaluation_args.datapoint_limit`` in ``config``).
    missing : {{"error", "mean"}}, default "error"
        What becomes of NaN among the features: an error, or the column's mean.
    config : dict, optional
        Any key of the configuration by its dotted path; it wins over everything else here.
    run_dir : path, optional
        Where the run folder is made; None: a temporary one that goes with the estimator.
    random_state : int, RandomState or None
        The seed. An int is the key ``rng``: the same seed and data give the same draws as the command line,
        with any number of threads.
    n_jobs : int, optional
        Threads; None or -1: one for each core. It changes no result. Inside of ``joblib.parallel_config`` with a backend
        that has other machines (Dask, Ray, Spark) each chain is a task there, and run_dir a folder that all share.
    verbose : bool, default False
        Shows progress (with tqdm where it is installed), warnings and findings on standard error.

    Attributes
    ----------
    n_features_in_, feature_names_in_{classes}
        As in scikit-learn.
    metrics_, start_metrics_ : dict
        Metrics of the test rows (see ``test_fraction``) by name: of all draws, and of the trained networks
        before sampling.
    warnings_ : list of str
        What the run has said.
    run_dir_ : str
        The run folder, for the command line.
    interrupted_ : bool
        Whether Ctrl-C ended the fit early.

    Notes
    -----
    Ctrl-C raises `KeyboardInterrupt` within a second on data of ordinary size. Where every chain that has begun
    left draws, the estimator is fitted with these nevertheless, and ``interrupted_`` says so.
    """


class SmileRegressor(RegressorMixin, _Estimator):
    __doc__ = (
        """Bayesian neural network for regression: mean, both kinds of uncertainty, intervals, draws.

    A small ensemble of networks is trained, and a chain of the sampler moves each through its posterior. Several
    targets (y with columns) are networks of their own, one after the other.
    """
        + _PARAMETERS.format(
            task="""task : {"mean_regr", "regr"}, default "mean_regr"
        One noise level for all rows, or a network output for each row's (heteroscedastic).
    """,
            classes="",
        )
    )

    def __init__(
        self,
        *,
        task: str = "mean_regr",
        hidden: Sequence[int] | None = None,
        activation: str | None = None,
        sampler: str | None = None,
        sampler_options: Mapping[str, Any] | None = None,
        n_chains: int | None = None,
        n_samples: int | None = None,
        warmup_steps: int | None = None,
        thinning: int | None = None,
        batch_size: int | str | None = None,
        prior: str | Mapping[str, Any] | None = None,
        warmstart_options: Mapping[str, Any] | None = None,
        warm_start_params: Sequence[np.ndarray] | None = None,
        validation_fraction: float = 0.1,
        test_fraction: float = 0.0,
        missing: str = "error",
        config: Mapping[str, Any] | None = None,
        run_dir: str | os.PathLike[str] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.task = task
        self.hidden = hidden
        self.activation = activation
        self.sampler = sampler
        self.sampler_options = sampler_options
        self.n_chains = n_chains
        self.n_samples = n_samples
        self.warmup_steps = warmup_steps
        self.thinning = thinning
        self.batch_size = batch_size
        self.prior = prior
        self.warmstart_options = warmstart_options
        self.warm_start_params = warm_start_params
        self.validation_fraction = validation_fraction
        self.test_fraction = test_fraction
        self.missing = missing
        self.config = config
        self.run_dir = run_dir
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.input_tags.allow_nan = self.missing == "mean"
        return tags

    def fit(self, X: Any, y: Any) -> "SmileRegressor":
        """Trains, samples and evaluates.

        Parameters
        ----------
        X : array or DataFrame [rows, features]
            Arrays of float32 and float64 are read where they lie. Columns of words or categories of a frame are
            coded in sorted order; later frames are matched by the columns' names.
        y : array [rows] or [rows, outputs]

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For data or options that cannot work (`InputError`, with place, cause and mend, where the library says so).
        RunError
            Where no chain has usable draws.
        """
        if self.task not in ("mean_regr", "regr"):
            raise InputError("task", f"{self.task!r} is no regression", "choose mean_regr or regr")
        named = y
        columns, y, has_names = self._training_columns(X, y, multi_output=True, y_numeric=True)
        y = np.asarray(y)
        if y.dtype.kind not in "fiub":
            y = y.astype(np.float64)
        if not np.isfinite(y).all():
            raise InputError("y", "a target is missing or infinite", "correct it or leave the row out")
        taken = [name for name, *_ in columns]
        self._y_columns = y.ndim == 2
        if y.ndim == 1:
            targets = [(target_name(named, taken), numbers(y), [])]
        else:
            labels = [str(c) for c in named.columns] if is_frame(named) else [f"target{k + 1}" for k in range(y.shape[1])]
            targets = [(_free(labels[k], taken), numbers(y[:, k]), []) for k in range(y.shape[1])]
        self._fit(columns, targets, has_names, self.task, 2 if self.task == "regr" else 1)
        return self

    def _stack(self, parts: list[np.ndarray]) -> np.ndarray:
        return np.stack(parts, axis=-1) if self._y_columns else parts[0]

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Mean of the predictive distribution, and its standard deviation where asked.

        Parameters
        ----------
        X : array or DataFrame [rows, features]
        return_std : bool, default False

        Returns
        -------
        mean : array [rows] or [rows, outputs], in the target's own unit
        sd : the same shape; noise and the draws' disagreement together
        """
        parts = self._predicted(X)
        mean = self._stack([values[:, 0] for _, values, _ in parts])
        if not return_std:
            return mean
        return mean, self._stack([values[:, 1] for _, values, _ in parts])

    def predict_quantiles(self, X: Any, quantiles: Sequence[float] = (0.05, 0.5, 0.95)) -> np.ndarray:
        """Quantiles of the predictive mixture, each solved for exactly.

        Returns
        -------
        array [rows, quantiles] or [rows, quantiles, outputs]
        """
        if len(quantiles) == 0:
            raise InputError("quantiles", "there are none", "give probabilities such as 0.05, 0.5, 0.95")
        parts = self._predicted(X, quantiles)
        return self._stack([values[:, 4:] for _, values, _ in parts])

    def predict_interval(self, X: Any, coverage: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Ends of the central interval that holds the target with probability ``coverage``.

        Returns
        -------
        low, high : arrays [rows] or [rows, outputs]
        """
        if not 0 < coverage < 1:
            raise InputError("coverage", f"{coverage:g} is not between 0 and 1", "give a probability such as 0.9")
        q = self.predict_quantiles(X, ((1 - coverage) / 2, (1 + coverage) / 2))
        return q[:, 0], q[:, 1]

    def predict_distribution(self, X: Any) -> Any:
        """The whole predictive mixture: every draw's mean and noise.

        Returns
        -------
        `Distribution`, or a list of one for each output where y had columns. It holds two numbers for every
        draw and row.
        """
        columns, has_names = self._columns(X)
        out = []
        for folder in self._folders:
            means, sds = folder.run.predict_draws(columns, has_names, self._threads())
            out.append(Distribution(means, sds))
        return out if self._y_columns else out[0]

    def score_lppd(self, X: Any, y: Any, scaled: bool = False) -> float:
        """Mean log predictive density of the targets; higher is better.

        Parameters
        ----------
        scaled : bool, default False
            In units of the training target's standard deviation, as the command line and the papers give it.
        """
        y = np.asarray(y, dtype=np.float64)
        distributions = self.predict_distribution(X)
        if not self._y_columns:
            distributions, y = [distributions], y.reshape(len(y), -1)
        check_consistent_length(X, y)
        total = 0.0
        for k, (distribution, folder) in enumerate(zip(distributions, self._folders)):
            total += float(np.mean(distribution.log_density(y[:, k])))
            if scaled:
                total += float(np.log(folder.info["target_sd"]))
        return total

    def _adopt(self, folders: list[RunFolder]) -> None:
        super()._adopt(folders)
        self.task = folders[0].info["task"]
        self._y_columns = len(folders) > 1


def _free(name: str, taken: list[str]) -> str:
    while name in taken:
        name += "_"
    return name


class SmileClassifier(ClassifierMixin, _Estimator):
    __doc__ = (
        """Bayesian neural network for classification: probabilities averaged over draws, and what they hide.

    A small ensemble of networks is trained, and a chain of the sampler moves each through its posterior.
    """
        + _PARAMETERS.format(task="", classes=", classes_")
    )

    def __init__(
        self,
        *,
        hidden: Sequence[int] | None = None,
        activation: str | None = None,
        sampler: str | None = None,
        sampler_options: Mapping[str, Any] | None = None,
        n_chains: int | None = None,
        n_samples: int | None = None,
        warmup_steps: int | None = None,
        thinning: int | None = None,
        batch_size: int | str | None = None,
        prior: str | Mapping[str, Any] | None = None,
        warmstart_options: Mapping[str, Any] | None = None,
        warm_start_params: Sequence[np.ndarray] | None = None,
        validation_fraction: float = 0.1,
        test_fraction: float = 0.0,
        missing: str = "error",
        config: Mapping[str, Any] | None = None,
        run_dir: str | os.PathLike[str] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.hidden = hidden
        self.activation = activation
        self.sampler = sampler
        self.sampler_options = sampler_options
        self.n_chains = n_chains
        self.n_samples = n_samples
        self.warmup_steps = warmup_steps
        self.thinning = thinning
        self.batch_size = batch_size
        self.prior = prior
        self.warmstart_options = warmstart_options
        self.warm_start_params = warm_start_params
        self.validation_fraction = validation_fraction
        self.test_fraction = test_fraction
        self.missing = missing
        self.config = config
        self.run_dir = run_dir
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "mean"
        return tags

    def fit(self, X: Any, y: Any) -> "SmileClassifier":
        """Trains, samples and evaluates.

        Parameters
        ----------
        X : array or DataFrame [rows, features]
            As for `SmileRegressor.fit`.
        y : array [rows]
            Labels: whole numbers, words or truth values, at least two different ones.

        Returns
        -------
        self

        Raises
        ------
        ValueError, RunError
            As `SmileRegressor.fit`.
        """
        named = y
        columns, y, has_names = self._training_columns(X, y)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(
                "y", f"there is one class only ({self.classes_[0]})", "give rows of two classes or more"
            )
        name = target_name(named, [name for name, *_ in columns])
        if self.classes_.dtype.kind in "iuf":
            target: Column = (name, y.astype(np.int64) if y.dtype.kind != "f" else numbers(y), [])
        else:
            target = (name, codes.astype(np.int64), [str(c) for c in self.classes_])
        self._fit(columns, [target], has_names, "class", len(self.classes_))
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, the mean over all draws.

        Returns
        -------
        array [rows, classes], in the order of ``classes_``
        """
        _, values, _ = self._predicted(X)[0]
        return values[:, : len(self.classes_)]

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row. Returns an array [rows] of members of ``classes_``."""
        _, _, labels = self._predicted(X)[0]
        return self.classes_[labels]

    def predict_uncertainty(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """How unsure the prediction is, and how much of it the draws' disagreement.

        Returns
        -------
        entropy, mutual_information : arrays [rows], in nats
        """
        _, values, _ = self._predicted(X)[0]
        return values[:, -2], values[:, -1]

    def predict_distribution(self, X: Any) -> np.ndarray:
        """Probabilities draw by draw: an array [draws, rows, classes] in single precision."""
        columns, has_names = self._columns(X)
        return self._folders[0].run.predict_draws(columns, has_names, self._threads())[0]

    def score_lppd(self, X: Any, y: Any) -> float:
        """Mean log probability of the right classes; higher is better."""
        probabilities = self.predict_proba(X)
        y = column_or_1d(y)
        check_consistent_length(X, y)
        places = np.searchsorted(self.classes_, y)
        places = np.minimum(places, len(self.classes_) - 1)
        if not np.array_equal(self.classes_[places], y):
            unknown = y[self.classes_[places] != y][0]
            raise InputError("y", f"the label {str(unknown)!r} did not occur in training", "leave such rows out")
        with np.errstate(divide="ignore"):
            return float(np.mean(np.log(probabilities[np.arange(len(y)), places])))

    def _adopt(self, folders: list[RunFolder]) -> None:
        super()._adopt(folders)
        labels = folders[0].info["labels"]
        try:
            self.classes_ = np.array([int(label) for label in labels])
        except ValueError:
            self.classes_ = np.array(labels)


def load(directory: str | os.PathLike[str]) -> SmileRegressor | SmileClassifier:
    """A run folder as a fitted estimator: of `save`, or of any run on a table by the command line.

    The folder is read where it is and must stay there as long as the estimator is used. Of a run that has not
    ended, the draws so far are taken, with a warning.

    Raises
    ------
    InputError, RunError
        For what is no run, a run on images or text, one without draws, and one that a process is writing.
    """
    path = Path(directory)
    parts = sorted(path.glob("output-*"), key=lambda p: int(p.name.split("-")[1]) if p.name[7:].isdigit() else 0)
    single = (path / "config.yaml").exists() or not parts
    folders = [RunFolder(path)] if single else [RunFolder(part) for part in parts]
    info = folders[0].info
    model: SmileRegressor | SmileClassifier = (
        SmileClassifier() if info["task"] == "class" else SmileRegressor(task=info["task"])
    )
    model.set_params(sampler=info["sampler"], random_state=info["seed"], missing=info["missing"], n_chains=None)
    model._adopt(folders)
    for folder in folders:
        for remark in folder.info["remarks"]:
            warnings.warn(remark, ConvergenceWarning, stacklevel=2)
        status = json.loads((folder.path / "status.json").read_text("utf-8")).get("status", "")
        if status not in ("complete", "failed"):
            warnings.warn(f"{folder.path}: the run is {status}; its draws so far are taken", ConvergenceWarning, stacklevel=2)
    return model
