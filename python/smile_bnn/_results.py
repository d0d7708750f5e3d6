# SPDX-License-Identifier: Apache-2.0
"""What a fitted estimator says of itself."""

from __future__ import annotations

import datetime
import html
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._errors import InputError


class Diagnosis:
    """The verdict on a fit's chains.

    Attributes
    ----------
    chains : pandas.DataFrame
        A row for each chain: its verdict, numbers, and what was found (``findings``).
    findings : list of str
        What concerns all chains together, each with what to try.
    text : str
        All of it in words; what ``print`` shows.
    """

    def __init__(self, directory: Path) -> None:
        as_json, self.text = _core.diagnose(str(directory))
        self._content = json.loads(as_json)
        self.findings = [_finding(f) for f in self._content.get("findings", [])]

    @property
    def chains(self) -> Any:
        import pandas as pd

        rows = []
        for chain in self._content["chains"]:
            row = {k: v for k, v in chain.items() if not isinstance(v, (list, dict))}
            row["findings"] = "; ".join(_finding(f) for f in chain.get("findings", []))
            rows.append(row)
        return pd.DataFrame(rows).set_index("chain")

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


def _finding(finding: dict[str, Any]) -> str:
    return finding["text"] + (f"; {finding['advice']}" if finding.get("advice") else "")


def _attributes(**more: Any) -> dict[str, Any]:
    return {
        "created_at": datetime.datetime.now(datetime.timezone.utc).isoformat(),
        "creation_library": "smile_bnn",
        "creation_library_version": _core.__version__,
        "creation_library_language": "Python",
        "inference_library": "smile.cpp",
        "inference_library_version": _core.__version__,
        "sample_dims": ["chain", "draw"],
        **more,
    }


class Results:
    """What both estimators offer beside predictions."""

    _folders: list[Any]

    def diagnose(self, output: int = 0) -> Diagnosis:
        """Whether the chains can be trusted, in numbers and in words, with what to try.

        Parameters
        ----------
        output : int, default 0
            Which target, of several.
        """
        return Diagnosis(self._folder(output).path)

    def report(self, path: str | os.PathLike[str] | None = None, output: int = 0) -> str:
        """Writes one self-contained HTML page: settings, metrics, calibration, how each chain fared.

        Parameters
        ----------
        path : path, optional
            The page; None: ``report.html`` in the run folder.

        Returns
        -------
        str
            The path written.
        """
        return _core.write_report(str(self._folder(output).path), "" if path is None else os.fspath(path))

    def to_datatree(
        self,
        X: Any = None,
        y: Any = None,
        X_new: Any = None,
        *,
        every: int = 1,
        random_state: Any = 0,
        output: int = 0,
    ) -> Any:
        """The draws for ArviZ.

        Parameters
        ----------
        X, y : optional
            The rows of the fit. Of those that the networks were trained on there are the groups
            ``posterior_predictive``, ``observed_data`` and ``log_likelihood`` then.
        X_new : optional
            New rows, for the group ``predictions``.
        every : int, default 1
            Only every so many-th draw of each chain.
        random_state : default 0
            Of the targets that are drawn from the predictive distribution.
        output : int, default 0
            Which target, of several.

        Returns
        -------
        xarray.DataTree
            ``posterior``: a variable [chain, draw, …] for each tensor of the network. ``sample_stats``: ``lp`` (of
            the mini-batch, scaled to all rows), ``step_size``, ``energy_error``, ``gradient_norm``, ``diverging``
            (a step that was not finite since the draw before) and ``resets`` (refused steps since then). Chains of
            different lengths are cut to the shortest.
        """
        import xarray as xr

        folder = self._folder(output)
        run, info = folder.run, folder.info
        if every < 1:
            raise InputError("every", f"{every} is less than 1", "give a whole number from 1")
        numbers = [number for number, _, _ in info["chains"]]
        count = min(draws for _, draws, _ in info["chains"])
        kept = np.arange(0, count, every)
        coords = {"chain": numbers, "draw": kept}
        tree = {"posterior": self._posterior(run.draws(count)[:, kept], info, coords)}
        statistics = self._statistics(run, info, count, kept, coords)
        if statistics is not None:
            tree["sample_stats"] = statistics
        if X is not None:
            tree |= self._of_training(X, y, output, count, kept, coords, random_state)
        if X_new is not None:
            tree |= self._of_new(X_new, output, count, kept, coords, random_state)
        for name, dataset in tree.items():
            own = {} if name in ("observed_data", "predictions_constant_data") else {}
            dataset.attrs.update(_attributes(**own))
            if name in ("observed_data", "predictions_constant_data"):
                dataset.attrs.pop("sample_dims", None)
        return xr.DataTree.from_dict({f"/{name}": dataset for name, dataset in tree.items()}, name="smile_bnn")

    @staticmethod
    def _posterior(draws: np.ndarray, info: dict[str, Any], coords: dict[str, Any]) -> Any:
        import xarray as xr

        variables = {}
        for name, shape, offset in info["tensors"]:
            size = int(np.prod(shape))
            values = draws[:, :, offset : offset + size]
            if size == 1:
                variables[name] = (("chain", "draw"), values[:, :, 0])
            else:
                dims = tuple(f"{name}_dim_{axis}" for axis in range(len(shape)))
                variables[name] = (("chain", "draw", *dims), values.reshape(*values.shape[:2], *shape))
        return xr.Dataset(variables, coords=coords)

    @staticmethod
    def _statistics(run: Any, info: dict[str, Any], count: int, kept: np.ndarray, coords: dict[str, Any]) -> Any:
        import xarray as xr

        columns: dict[str, list[np.ndarray]] = {
            k: [] for k in ("lp", "step_size", "energy_error", "gradient_norm", "diverging", "resets")
        }
        for k, (_, _, first) in enumerate(info["chains"]):
            noted = run.statistics(k)
            if len(noted["step"]) < first + count:
                return None
            since = slice(first, first + count)
            refused = np.diff(noted["refused_so_far"].astype(np.int64), prepend=0)[since]
            nonfinite = np.diff(noted["nonfinite_so_far"].astype(np.int64), prepend=0)[since]
            # What happened between two draws that are kept belongs to the second.
            groups = np.concatenate([[0], kept[1:] - np.diff(kept) + 1]) if len(kept) else kept
            columns["resets"].append(np.add.reduceat(refused, groups)[: len(kept)])
            columns["diverging"].append(np.add.reduceat(nonfinite, groups)[: len(kept)] > 0)
            for name, source in (
                ("lp", "log_density"),
                ("step_size", "step_size"),
                ("energy_error", "energy_change"),
                ("gradient_norm", "gradient_norm"),
            ):
                columns[name].append(noted[source][since][kept])
        return xr.Dataset({k: (("chain", "draw"), np.stack(v)) for k, v in columns.items()}, coords=coords)

    def _draws_over(self, X: Any, output: int, count: int, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """What each kept draw predicts: [chain, draw, row(, class)], twice for a regression."""
        columns, has_names = self._columns(X)  # type: ignore[attr-defined]
        folder = self._folders[output]
        values, sds = folder.run.predict_draws(columns, has_names, self._threads())  # type: ignore[attr-defined]
        places, begin = [], 0
        for _, draws, _ in folder.info["chains"]:
            places.append(begin + kept)
            begin += draws
        index = np.stack(places)
        return values[index], None if sds is None else sds[index]

    def _targets_drawn(self, values: np.ndarray, sds: np.ndarray | None, random_state: Any) -> np.ndarray:
        rng = check_random_state(random_state)
        if sds is not None:
            return values + sds * rng.standard_normal(values.shape).astype(np.float32)
        # The first class whose cumulated probability is above a uniform number.
        u = rng.random_sample(values.shape[:-1])[..., None]
        return np.minimum((np.cumsum(values, axis=-1) < u).sum(axis=-1), values.shape[-1] - 1)

    def _of_training(
        self, X: Any, y: Any, output: int, count: int, kept: np.ndarray, coords: dict[str, Any], random_state: Any
    ) -> dict[str, Any]:
        import xarray as xr

        if y is None:
            raise InputError("y", "there are no targets beside X", "give X and y of the fit")
        info = self._folders[output].info
        rows = info["train_rows"]
        known = int(max(rows.max(), info["valid_rows"].max(), info["test_rows"].max())) + 1
        if len(X) != known or len(y) != known:
            raise InputError(
                "X, y", f"{len(X)} and {len(y)} rows, where the fit had {known}", "give all rows of the fit"
            )
        X = X.iloc[rows] if hasattr(X, "iloc") else np.asarray(X)[rows]
        y = np.asarray(y)[rows]
        if y.ndim == 2:
            y = y[:, output]
        values, sds = self._draws_over(X, output, count, kept)
        name, dims, coords = info["target"], ("chain", "draw", "row"), {**coords, "row": rows}
        if sds is not None:
            z = (y.astype(np.float64) - values) / sds
            log_likelihood = -0.5 * z * z - np.log(sds, dtype=np.float64) - 0.9189385332046727
        else:
            codes = np.searchsorted(self.classes_, y)  # type: ignore[attr-defined]
            chosen = np.take_along_axis(values, codes[None, None, :, None].astype(np.int64), axis=-1)[..., 0]
            with np.errstate(divide="ignore"):
                log_likelihood = np.log(chosen, dtype=np.float64)
        return {
            "posterior_predictive": xr.Dataset(
                {name: (dims, self._targets_drawn(values, sds, random_state))}, coords=coords
            ),
            "log_likelihood": xr.Dataset({name: (dims, log_likelihood)}, coords=coords),
            "observed_data": xr.Dataset({name: (("row",), y)}, coords={"row": rows}),
        }

    def _of_new(
        self, X: Any, output: int, count: int, kept: np.ndarray, coords: dict[str, Any], random_state: Any
    ) -> dict[str, Any]:
        import xarray as xr

        values, sds = self._draws_over(X, output, count, kept)
        name, rows = self._folders[output].info["target"], np.arange(values.shape[2])
        variables: dict[str, Any] = {
            name: (("chain", "draw", "row"), self._targets_drawn(values, sds, random_state))
        }
        coords = {**coords, "row": rows}
        if sds is None:
            variables["probability"] = (("chain", "draw", "row", "class"), values)
            coords["class"] = list(self.classes_)  # type: ignore[attr-defined]
        else:
            variables[f"{name}_mean"] = (("chain", "draw", "row"), values)
            variables[f"{name}_sd"] = (("chain", "draw", "row"), sds)
        features = np.asarray(X, dtype=object if hasattr(X, "dtypes") and hasattr(X, "columns") else None)
        known = {}
        names = list(X.columns) if hasattr(X, "columns") else self._folders[output].info["features"]
        for j, feature in enumerate(names[: features.shape[1]]):
            column = features[:, j]
            known[str(feature)] = (("row",), column.astype(str) if column.dtype == object and isinstance(column[0], str) else column.astype(np.float64))
        return {
            "predictions": xr.Dataset(variables, coords=coords),
            "predictions_constant_data": xr.Dataset(known, coords={"row": rows}),
        }

    def _folder(self, output: int) -> Any:
        check_is_fitted(self)  # type: ignore[arg-type]
        if not 0 <= output < len(self._folders):
            raise InputError("output", f"there is no target {output}", f"give one of 0 … {len(self._folders) - 1}")
        return self._folders[output]

    # -- notebooks -------------------------------------------------------------------------------------------

    def _summary_html(self) -> str:
        metrics = self.metrics_  # type: ignore[attr-defined]
        start = self.start_metrics_  # type: ignore[attr-defined]
        rows = []
        for name, after in metrics.items():
            before = start.get(name, float("nan"))
            rows.append(
                f"<tr><th style='text-align:left'>{html.escape(name)}</th><td>{_cell(before)}</td><td>{_cell(after)}</td></tr>"
            )
        said = "".join(f"<li>{html.escape(text)}</li>" for text in self.warnings_)  # type: ignore[attr-defined]
        verdict = ""
        try:
            verdict = html.escape(self.diagnose().text.strip().splitlines()[0])
        except (Exception,):  # a folder that is gone says nothing; showing an object must not fail
            pass
        return (
            "<div class='smile-bnn'><table><thead><tr><th style='text-align:left'>metric</th>"
            "<th>before sampling</th><th>all draws</th></tr></thead><tbody>"
            + "".join(rows)
            + "</tbody></table>"
            + (f"<p>{verdict}</p>" if verdict else "")
            + (f"<ul>{said}</ul>" if said else "")
            + "<p><code>.report(&quot;page.html&quot;)</code> writes a page with all of it, "
            "<code>.diagnose()</code> says what to try.</p></div>"
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if hasattr(self, "_folders") and "text/html" in bundle:
            bundle["text/html"] += self._summary_html()
        return bundle


def _cell(value: float) -> str:
    return "–" if value != value else f"{value:.4g}"
