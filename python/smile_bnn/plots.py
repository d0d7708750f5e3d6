# SPDX-License-Identifier: Apache-2.0
"""Pictures that ArviZ has not: calibration, the running LPPD, the chains. They need matplotlib.

Each takes a fitted estimator and, where given, the axes to draw on, and returns the axes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._errors import InputError

__all__ = ["plot_calibration", "plot_chains", "plot_running_lppd"]


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(5, 3.5), layout="constrained")[1]


def _evaluated(model: Any, output: int) -> Any:
    path = model._folder(output).path / "eval" / "predictions.npz"
    if not path.exists():
        raise InputError(str(path), "the run has not been evaluated", "let the fit end, or call evaluate(X, y)")
    return np.load(path)


def plot_calibration(model: Any, ax: Any = None, output: int = 0) -> Any:
    """Promised against kept, on the test rows of the fit.

    Of a regression: what part of the targets lies below each quantile of its predictive distribution. Of a
    classification: how often the predicted class was right, by the probability that it was given. A model that keeps
    what it promises lies on the diagonal.
    """
    ax = _axes(ax)
    arrays = _evaluated(model, output)
    ax.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    if "pit" in arrays:
        pit = np.sort(arrays["pit"])
        ax.step(pit, np.arange(1, len(pit) + 1) / len(pit), where="post")
        ax.set(xlabel="quantile of the prediction", ylabel="targets below it")
    else:
        p, target = arrays["probabilities"], arrays["target"].astype(int)
        confidence, right = p.max(axis=1), p.argmax(axis=1) == target
        bins = np.clip((confidence * 10).astype(int), 0, 9)
        used = np.unique(bins)
        ax.plot([confidence[bins == b].mean() for b in used], [right[bins == b].mean() for b in used], marker="o")
        ax.set(xlabel="probability of the predicted class", ylabel="right")
    ax.set(xlim=(0, 1), ylim=(0, 1), title="calibration")
    return ax


def plot_running_lppd(model: Any, ax: Any = None, output: int = 0) -> Any:
    """LPPD of the test rows over the first draws of all chains: flat at its end where more draws bring nothing."""
    ax = _axes(ax)
    arrays = _evaluated(model, output)
    ax.plot(arrays["running_samples"], arrays["running_lppd"])
    ax.set(xlabel="draws of each chain", ylabel="LPPD", title="LPPD of the first draws", xscale="log")
    return ax


def plot_chains(model: Any, quantity: str = "log_density", ax: Any = None, output: int = 0) -> Any:
    """A line for each chain over its draws.

    Parameters
    ----------
    quantity : {"log_density", "step_size", "gradient_norm", "energy_change"}
    """
    known = ("log_density", "step_size", "gradient_norm", "energy_change")
    if quantity not in known:
        raise InputError("quantity", f"{quantity!r} is not noted of draws", "choose " + ", ".join(known))
    ax = _axes(ax)
    folder = model._folder(output)
    for k, (number, _, first) in enumerate(folder.info["chains"]):
        noted = folder.run.statistics(k)
        ax.plot(noted["step"][first:], noted[quantity][first:], linewidth=0.8, label=f"chain {number}")
    ax.set(xlabel="step", ylabel=quantity.replace("_", " "), title="chains")
    if quantity == "step_size":
        ax.set_yscale("log")
    return ax
