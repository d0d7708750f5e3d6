# SPDX-License-Identifier: Apache-2.0
"""Sampling from densities of one's own."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Sequence

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from . import _core
from ._errors import InputError, RunError
from ._progress import Shown

__all__ = ["Batches", "SampleResult", "TorchDensity", "JaxDensity", "sample"]


@dataclass(frozen=True)
class Batches:
    """Mini-batches of ``size`` of ``rows`` rows, without replacement within an epoch.

    Attributes
    ----------
    rows : int
        N, observations in all.
    size : int
        B. An epoch has round(N/B) batches whose sizes differ by one at most.
    """

    rows: int
    size: int


@dataclass
class SampleResult:
    """Chains of `sample`.

    Attributes
    ----------
    draws : array [chains, draws, d], float32
        Of the chains that did not fail, cut to the shortest.
    chains : list of dict
        Everything that is known of each chain: ``draws``, ``log_density``, ``step_size``, ``energy_error``, ``refused``
        and ``nonfinite`` a draw, ``status``, ``reason``, ``steps``, ``warmup_gradients`` and ``gradients`` (evaluations in
        the two phases), ``findings``, ``tuned``, ``seconds``.
    unflatten : callable or None
        From a flat position to what the density's own parameters are.
    """

    chains: list[dict[str, Any]]
    unflatten: Callable[[np.ndarray], Any] | None = None
    names: Sequence[tuple[str, tuple[int, ...]]] | None = None
    _good: list[int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._good = [k for k, c in enumerate(self.chains) if c["status"] != "failed" and len(c["draws"])]

    def _stacked(self, name: str) -> np.ndarray:
        count = min(len(self.chains[k]["draws"]) for k in self._good)
        return np.stack([self.chains[k][name][:count] for k in self._good])

    @property
    def draws(self) -> np.ndarray:
        return self._stacked("draws")

    @property
    def log_density(self) -> np.ndarray:
        """Log-density of the draws as the sampler saw it, [chains, draws]."""
        return self._stacked("log_density")

    def to_datatree(self) -> Any:
        """For ArviZ: ``posterior`` and ``sample_stats``, an xarray.DataTree."""
        import xarray as xr

        from ._results import _attributes

        draws = self.draws
        coords = {"chain": self._good, "draw": np.arange(draws.shape[1])}
        variables: dict[str, Any] = {}
        offset = 0
        for name, shape in self.names or [("theta", (draws.shape[2],))]:
            size = int(np.prod(shape, dtype=int))
            dims = [f"{name}_dim_{axis}" for axis in range(len(shape))]
            part = draws[:, :, offset : offset + size].reshape(*draws.shape[:2], *shape)
            variables[name] = (("chain", "draw", *dims), part)
            offset += size
        statistics = {
            "lp": self.log_density,
            "step_size": self._stacked("step_size"),
            "energy_error": self._stacked("energy_error"),
            "resets": self._stacked("refused").astype(np.int64),
            "diverging": self._stacked("nonfinite").astype(bool),
        }
        tree = {
            "posterior": xr.Dataset(variables, coords=coords),
            "sample_stats": xr.Dataset({k: (("chain", "draw"), v) for k, v in statistics.items()}, coords=coords),
        }
        for dataset in tree.values():
            dataset.attrs.update(_attributes())
        return xr.DataTree.from_dict({f"/{k}": v for k, v in tree.items()}, name="smile_bnn")


def sample(
    log_density_and_gradient: Callable[..., tuple[float, Any]],
    start: Any = None,
    *,
    sampler: str | None = None,
    sampler_options: Mapping[str, Any] | None = None,
    n_samples: int | None = None,
    warmup_steps: int | None = None,
    thinning: int | None = None,
    n_chains: int | None = None,
    batches: Batches | tuple[int, int] | None = None,
    prior: Any = None,
    random_state: Any = None,
    verbose: bool = False,
) -> SampleResult:
    """Chains over a log-density that is a function of Python.

    Parameters
    ----------
    log_density_and_gradient : callable
        ``f(theta)`` with theta an array [d] of float32, new at each call; returns the log-density up to a constant and
        its gradient (uphill), an array [d]. With ``batches`` it is called as ``f(theta, rows)`` with an array of row
        numbers, and returns the sum of the log-likelihood over these rows and its gradient. Values that are not finite
        are counted and the steps refused. An exception ends the run and comes out as it was raised. A `TorchDensity` or
        `JaxDensity` knows its start, too.
    start : array [d] or [chains, d], optional
        Where the chains begin.
    sampler : str, optional
        One of `smile_bnn.samplers`. None: ``mclmc``, which needs no options; with ``batches`` the library's default.
    sampler_options : dict, optional
        Keys of ``training.sampler``, such as ``{"step_size": 0.01}``.
    n_samples, warmup_steps, thinning : int, optional
        Steps of each chain after its warm-up; steps of the warm-up; every how many steps a draw is kept.
    n_chains : int, optional
        Chains that begin at one start [d]; default 1.
    batches : Batches or (rows, size), optional
        Mini-batches: the log-density is then prior + N/B · (sum over the batch).
    prior : str, dict or callable, optional
        With ``batches``, added once: one of `smile_bnn.priors` (by the parameters' name in a dict, as for the estimators), or
        ``g(theta)`` that returns its log-density and gradient. None: none is added.
    random_state : int, RandomState or None
    verbose : bool, default False

    Returns
    -------
    SampleResult

    Notes
    -----
    Only one thread of Python computes at a time, so the chains run one after another on the calling thread. What a step
    costs beside the function itself is measured by the tests (a few microseconds). To use more cores, start processes, or
    let the function itself use them. Ctrl-C raises KeyboardInterrupt at the next step.
    """
    names = getattr(log_density_and_gradient, "names", None)
    unflatten = getattr(log_density_and_gradient, "unflatten", None)
    if start is None:
        start = getattr(log_density_and_gradient, "start", None)
        if start is None:
            raise InputError("start", "it says nowhere where the chains begin", "give an array [d] or [chains, d]")
    if batches is None:
        batches = getattr(log_density_and_gradient, "batches", None)
    positions = np.array(start, dtype=np.float32, order="C", copy=True)
    if positions.ndim == 1:
        positions = np.tile(positions, (1 if n_chains is None else int(n_chains), 1))
    elif n_chains is not None and positions.ndim == 2 and len(positions) != n_chains:
        raise InputError("n_chains", f"{n_chains}, where start has {len(positions)} rows", "leave it out")
    if positions.ndim != 2 or positions.size == 0:
        raise InputError("start", f"an array of shape {np.shape(start)}", "give an array [d] or [chains, d]")
    if not np.isfinite(positions).all():
        raise InputError("start", "it is not finite", "begin where the density is defined")
    settings, rows = _settings(sampler, sampler_options, n_samples, warmup_steps, thinning, batches)
    if random_state is None or not isinstance(random_state, (int, np.integer)):
        random_state = check_random_state(random_state).randint(2**31 - 1)
    settings.append(("rng", int(random_state), "random_state"))
    named = isinstance(prior, (str, Mapping))
    if prior is not None and not rows:
        raise InputError("prior", "without batches the function is the whole log-density", "leave prior out")
    if named:
        from ._estimators import _flat

        given = {"name": prior} if isinstance(prior, str) else dict(prior)
        settings += [(k, v, "prior") for k, v in _flat("training.sampler.prior_config.", given)]
    shown = Shown() if verbose else None
    try:
        chains = _core.sample(
            log_density_and_gradient,
            positions,
            [(key, json.dumps(value), where) for key, value, where in settings],
            rows,
            None if named else prior,
            named,
            shown.progress if shown else None,
        )
    finally:
        if shown:
            shown.close()
    failed = [k for k, chain in enumerate(chains) if chain["status"] == "failed"]
    if len(failed) == len(chains):
        raise RunError("sample", f"every chain failed ({chains[0]['reason']})", "lower step_size, or begin elsewhere")
    for k in failed:
        warnings.warn(f"chain {k} failed and is left out: {chains[k]['reason']}", ConvergenceWarning, stacklevel=2)
    return SampleResult(chains, unflatten, names)


def _settings(
    sampler: str | None,
    options: Mapping[str, Any] | None,
    n_samples: int | None,
    warmup_steps: int | None,
    thinning: int | None,
    batches: Any,
) -> tuple[list[tuple[str, Any, str]], int]:
    from ._estimators import _flat, _plain

    prefix = "training.sampler."
    settings: list[tuple[str, Any, str]] = [
        ("data.path", _core.MEMORY_PATH, "sample"),
        ("data.task", "mean_regr", "sample"),
    ]
    rows = 0
    if batches is None:
        settings.append((prefix + "name", sampler or "mclmc", "sampler"))
        settings.append((prefix + "batch_size", None, "batches"))
    else:
        rows, size = (batches.rows, batches.size) if isinstance(batches, Batches) else map(int, batches)
        if rows < 1 or size < 1:
            raise InputError("batches", f"{size} of {rows} rows", "give (rows, size), both from 1")
        if sampler is not None:
            settings.append((prefix + "name", sampler, "sampler"))
        settings.append((prefix + "batch_size", size, "batches"))
    for key, value in (("n_samples", n_samples), ("warmup_steps", warmup_steps), ("n_thinning", thinning)):
        if value is not None:
            settings.append((prefix + key, int(value), key))
    for key, value in _flat(prefix, options or {}):
        settings.append((key, _plain(value), f"sampler_options[{key[len(prefix):]!r}]"))
    return settings, rows


class JaxDensity:
    """A log-density of JAX, compiled with its gradient.

    Parameters
    ----------
    log_density : callable
        ``f(parameters)``, or ``f(parameters, rows)`` with ``batches``: the log-likelihood of these rows.
    start : pytree of arrays
        What the parameters look like, and where chains begin.
    batches : Batches or (rows, size), optional

    Attributes
    ----------
    unflatten : callable
        From a flat position to a pytree like ``start``.
    """

    def __init__(self, log_density: Callable[..., Any], start: Any, batches: Any = None) -> None:
        import jax
        from jax.flatten_util import ravel_pytree

        flat, self.unflatten = ravel_pytree(start)
        self.start = np.asarray(flat, dtype=np.float32)
        self.batches = batches
        leaves = jax.tree_util.tree_flatten_with_path(start)[0]
        self.names = [(jax.tree_util.keystr(path).strip("[]'.") or "theta", tuple(np.shape(leaf))) for path, leaf in leaves]
        unflatten = self.unflatten
        self._both = jax.jit(jax.value_and_grad(lambda theta, *rows: log_density(unflatten(theta), *rows)))

    def __call__(self, theta: np.ndarray, *rows: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = self._both(theta, *rows)
        return float(value), np.asarray(gradient)


class TorchDensity:
    """The log-likelihood of a PyTorch module on a data set, as a function of one flat vector.

    The module's parameters become views of that vector, so that nothing is copied between them. They keep their names.

    Parameters
    ----------
    module : torch.nn.Module
    log_likelihood : callable
        ``f(output, target)``: the sum over the rows; or, with ``is_loss=True``, a loss that is a sum over the rows, such as
        ``torch.nn.CrossEntropyLoss(reduction="sum")``.
    data : (inputs, targets) or torch.utils.data.Dataset
        Tensors whose first dimension are the rows, or a data set with numbered items.
    batch_size : int, optional
        Rows of a mini-batch; None: all rows in every step.
    log_prior : callable, optional
        ``g(flat)``, of a flat tensor [d]; used where there are no mini-batches. With mini-batches give ``prior`` to `sample`.
        None: a standard Normal.
    """

    def __init__(
        self,
        module: Any,
        log_likelihood: Callable[[Any, Any], Any],
        data: Any,
        *,
        batch_size: int | None = None,
        log_prior: Callable[[Any], Any] | None = None,
        is_loss: bool = False,
    ) -> None:
        import torch

        self._torch, self.module = torch, module
        self._log_likelihood, self._sign = log_likelihood, -1.0 if is_loss else 1.0
        self._log_prior = log_prior
        self._data = data
        parameters = [(name, p) for name, p in module.named_parameters() if p.requires_grad]
        if not parameters:
            raise InputError("module", "it has no parameters to sample", "set requires_grad on some")
        self.names = [(name, tuple(p.shape)) for name, p in parameters]
        with torch.no_grad():
            self._flat = torch.cat([p.detach().reshape(-1) for _, p in parameters]).float().contiguous()
            self._gradient = torch.zeros_like(self._flat)
            offset = 0
            for _, p in parameters:
                part = slice(offset, offset + p.numel())
                p.data = self._flat[part].view_as(p)
                p.grad = self._gradient[part].view_as(p)
                offset += p.numel()
        self.start = self._flat.detach().cpu().numpy().copy()
        self.rows = len(data[0]) if isinstance(data, (tuple, list)) else len(data)
        self.batches = None if batch_size is None else Batches(self.rows, int(batch_size))

    def _items(self, rows: np.ndarray | None) -> tuple[Any, Any]:
        torch = self._torch
        if isinstance(self._data, (tuple, list)):
            inputs, targets = self._data
            if rows is None:
                return inputs, targets
            index = torch.from_numpy(rows)
            return inputs[index], targets[index]
        items = [self._data[int(i)] for i in (range(self.rows) if rows is None else rows)]
        return tuple(torch.utils.data.default_collate(items))  # type: ignore[return-value]

    def __call__(self, theta: np.ndarray, rows: np.ndarray | None = None) -> tuple[float, np.ndarray]:
        torch = self._torch
        self._place(theta)
        self._gradient.zero_()
        inputs, targets = self._items(rows)
        value = self._sign * self._log_likelihood(self.module(inputs), targets)
        value.backward()
        total, gradient = float(value.detach()), self._gradient
        if rows is None:
            flat = self._flat.detach().clone().requires_grad_(True)
            prior = -0.5 * (flat * flat).sum() if self._log_prior is None else self._log_prior(flat)
            prior.backward()
            total += float(prior.detach())
            gradient = gradient + flat.grad
        return total, gradient.detach().cpu().numpy()

    def _place(self, theta: np.ndarray) -> None:
        with self._torch.no_grad():
            self._flat.copy_(self._torch.from_numpy(np.ascontiguousarray(theta, dtype=np.float32)))

    def load(self, theta: np.ndarray) -> Any:
        """Puts a draw into the module and returns the module."""
        self._place(theta)
        return self.module

    def unflatten(self, theta: np.ndarray) -> dict[str, Any]:
        """A draw by the names of the module's state dict."""
        out, offset = {}, 0
        for name, shape in self.names:
            size = int(np.prod(shape, dtype=int))
            out[name] = self._torch.from_numpy(np.array(theta[offset : offset + size]).reshape(shape))
            offset += size
        return out
