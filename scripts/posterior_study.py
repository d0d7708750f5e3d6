#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reference posteriors of four UCI networks, and how far the samplers' draws lie from them (docs/results/references.md).

    python3 scripts/posterior_study.py reference [--sets yacht,energy,concrete,airfoil] [--threads 2]
    python3 scripts/posterior_study.py distance  [--sets …] [--splits 1,2,3]
    python3 scripts/posterior_study.py check

`reference` runs long full-batch chains (mclmc at two step sizes, mams, nuts; ten members each), prints what they agree on, and
writes the predictive draws of mams and nuts to docs/results/references/SET.npz. `distance` runs the samplers at 120,000 gradients a chain
and compares. `check` verifies the files against their checksums. Runs go to results/posterior-study; finished ones are kept. The
program is build/quickstart/bin/smile, or the one named by the environment variable SMILE. Needs NumPy.
"""
import argparse
import hashlib
import json
import math
import pathlib
import subprocess
import sys

import numpy as np

from experiments import PROGRAM, ROOT, cell, metric

FILES = ROOT / "docs/results/references"
RUNS = ROOT / "results/posterior-study"
SETS = ["yacht", "energy", "concrete", "airfoil"]
ALL_SETS = SETS + ["bikesharing", "protein-5000"]
KEPT_DRAWS = 30  # of each chain, in the files
EXACT = ["mams", "nuts"]  # with an acceptance test: what the files hold

LONG = {
    "mams": {"name": "mams", "warmup_steps": 1000, "n_samples": 1500, "n_thinning": 3},
    "nuts": {"name": "nuts", "warmup_steps": 500, "n_samples": 1500, "n_thinning": 3},
    "mclmc, short steps": {"name": "mclmc", "warmup_steps": 100000, "n_samples": 1000000, "n_thinning": 2000,
                           "desired_energy_var_start": 0.001, "desired_energy_var_end": 0.001},
    "mclmc": {"name": "mclmc", "warmup_steps": 100000, "n_samples": 1000000, "n_thinning": 2000},
}  # fmt: skip
TWO_GRADIENTS = {"warmup_steps": 50000, "n_samples": 10000, "n_thinning": 10}
ONE_GRADIENT = {"warmup_steps": 100000, "n_samples": 20000, "n_thinning": 20}
SAMPLERS = {
    "psmile-auto": {"name": "psmile-auto", **ONE_GRADIENT},
    "psmile-auto, `compat: 0.1`": {"name": "psmile-auto", "compat": "0.1", **TWO_GRADIENTS},
    "psmile-naive, ε = 0.001": {"name": "psmile-naive", "step_size": 0.001, **TWO_GRADIENTS},
    "adasghmc, ε = 0.01": {"name": "adasghmc", "step_size": 0.01, **ONE_GRADIENT},
    "sghmc, ε = 1e−6": {"name": "sghmc", "step_size": 1e-6, **ONE_GRADIENT},
    "mclmc": {"name": "mclmc", **TWO_GRADIENTS},
}


def run(dataset, label, options, split, threads):
    """The folder of a finished run, made where it is not there."""
    name = "".join(c if c.isalnum() else "-" for c in label)
    out = RUNS / dataset / f"{name}-{split}"
    if (out / "eval/metrics.json").exists():
        return out
    options = dict(options)
    settings = {"data.path": f"data/uci/{dataset}.data", "rng": split}
    if "compat" in options:
        settings["compat"] = options.pop("compat")
    if dataset == "yacht":
        settings["training.sampler.batch_size"] = 64
    settings.update({f"training.sampler.{k}": v for k, v in options.items()})
    command = [PROGRAM, "run", str(ROOT / "configs/uci/energy/psmile-auto.yaml"), "--out", str(out), "--quiet", "--threads", str(threads)]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    command += ["--resume"] if out.exists() else []
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if not (out / "eval/metrics.json").exists():
        sys.exit(f"failed: {' '.join(command)}\n{done.stderr}")
    return out


class Draws:
    """Of a run: function values on the test rows [chains, draws, rows], log σ, log-likelihood of the training rows, ‖θ‖²/d."""

    def __init__(self, folder):
        parts = json.loads((folder / "parameters.json").read_text())
        splits = np.load(folder / "dataset_splits.npz")
        source = ROOT / "data/uci" / pathlib.Path(str(splits["source"][0])).name
        table = np.loadtxt(source)
        x = (table[:, :-1] - splits["feature_mean"]) / splits["feature_sd"]
        y = (table[:, -1] - splits["target_mean"]) / splits["target_sd"]
        train, test = splits["train"], splits["test"]
        self.y = y[test]
        f, log_sigma, fit, norm2 = [], [], [], []
        for file in sorted((folder / "samples").glob("chain-*.npy")):
            theta = np.load(file).astype(np.float64)
            s = theta[:, -1]
            inner = self.values(parts, theta, x[train])
            off = (y[train] - inner) / np.exp(s)[:, None]
            fit.append(np.sum(-0.5 * off**2 - s[:, None] - 0.5 * math.log(2 * math.pi), axis=1))
            f.append(self.values(parts, theta, x[test]))
            log_sigma.append(s)
            norm2.append(np.mean(theta**2, axis=1))
        self.f, self.log_sigma, self.fit, self.norm2 = map(np.array, (f, log_sigma, fit, norm2))

    @staticmethod
    def values(parts, theta, x):
        at = {p["name"]: (p["offset"], p["shape"]) for p in parts}
        layers = sum(1 for name in at if name.endswith(".weight"))
        out = np.empty((len(theta), len(x)))
        for i, t in enumerate(theta):
            h = x
            for k in range(layers):
                offset, shape = at[f"layer{k}.weight"]
                w = t[offset : offset + shape[0] * shape[1]].reshape(shape)
                offset, shape = at[f"layer{k}.bias"]
                h = h @ w.T + t[offset : offset + shape[0]]
                if k + 1 < layers:
                    h = np.maximum(h, 0)
            out[i] = h[:, 0]
        return out

    def part(self, chains=slice(None), draws=slice(None)):
        """(f [n, rows], σ [n]) of some chains and draws, pooled."""
        f, s = self.f[chains, draws], self.log_sigma[chains, draws]
        return f.reshape(-1, f.shape[2]), np.exp(s.reshape(-1))


def thinned(part, count):
    f, sigma = part
    keep = np.linspace(0, len(f) - 1, min(count, len(f))).round().astype(int)
    return f[keep], sigma[keep]


def total_variation(a, b, count=600, points=200):
    """½ ∫ |p − q| of the predictive densities, mean over the test rows."""
    (fa, sa), (fb, sb) = thinned(a, count), thinned(b, count)
    total = 0
    for j in range(fa.shape[1]):
        low = min((fa[:, j] - 5 * sa).min(), (fb[:, j] - 5 * sb).min())
        high = max((fa[:, j] + 5 * sa).max(), (fb[:, j] + 5 * sb).max())
        # Points where the mass is: quantiles of both mixtures' means, and their surroundings.
        centre = np.quantile(np.concatenate([fa[:, j], fb[:, j]]), np.linspace(0, 1, points // 2))
        width = np.median(np.concatenate([sa, sb]))
        grid = np.unique(np.concatenate([centre - 2 * width, centre, centre + 2 * width, np.linspace(low, high, points)]))
        p, q = (np.mean(np.exp(-0.5 * ((grid[:, None] - f[:, j]) / s) ** 2) / s, axis=1) for f, s in ((fa, sa), (fb, sb)))
        gap = np.abs(p - q) / math.sqrt(2 * math.pi)
        total += min(1.0, 0.5 * np.sum(0.5 * (gap[1:] + gap[:-1]) * np.diff(grid)))  # a blown-up draw spans any grid
    return total / fa.shape[1]


def interval(part, rng, level=0.9):
    f, sigma = thinned(part, 2000)
    y = f + sigma[:, None] * rng.standard_normal(f.shape)
    return np.quantile(y, [(1 - level) / 2, (1 + level) / 2], axis=0)


def agreement_of_intervals(a, b):
    """Overlap of the central 90 % intervals over their union, mean over the test rows."""
    (la, ha), (lb, hb) = interval(a, np.random.default_rng(1)), interval(b, np.random.default_rng(2))
    overlap = np.maximum(0, np.minimum(ha, hb) - np.maximum(la, lb))
    return float(np.mean(overlap / (np.maximum(ha, hb) - np.minimum(la, lb))))


def lppd(part, y):
    f, sigma = part
    log = -0.5 * ((y - f) / sigma[:, None]) ** 2 - np.log(sigma)[:, None] - 0.5 * math.log(2 * math.pi)
    high = log.max(axis=0)
    return float(np.mean(high + np.log(np.mean(np.exp(log - high), axis=0))))


def effective_draws(x):
    """Of one chain [draws, …], by Geyer's initial monotone sequence, for every column."""
    n = len(x)
    centred = x - x.mean(axis=0)
    spectrum = np.fft.rfft(centred, 2 * n, axis=0)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2, axis=0)[:n] / n
    variance = covariance[0]
    pairs = covariance[0 : n - n % 2 : 2] + covariance[1 : n : 2][: (n - n % 2) // 2]
    pairs = np.minimum.accumulate(np.where(np.minimum.accumulate(pairs, axis=0) > 0, pairs, 0), axis=0)
    time = np.maximum(2 * pairs.sum(axis=0) / np.where(variance > 0, variance, 1) - 1, 1 / math.log10(max(n, 11)))
    return np.where(variance > 0, n / time, np.nan)


def r_hat(x):
    """Split R̂ of [chains, draws, …]."""
    half = x.shape[1] // 2
    x = np.concatenate([x[:, :half], x[:, half : 2 * half]])
    within = x.var(axis=1, ddof=1).mean(axis=0)
    between = x.mean(axis=1).var(axis=0, ddof=1)
    return np.sqrt((half - 1) / half + between / within)


def over_chains(values):
    per = values.mean(axis=1)
    return f"{per.mean():.4g} ± {per.std(ddof=1) / math.sqrt(len(per)):.2g}"


def gradients(folder, phase="sampling"):
    return np.mean([c[phase]["gradients"] for c in json.loads((folder / "eval/chains.json").read_text())])


def reference(options):
    lines = []
    for dataset in options.sets:
        kinds = {label: run(dataset, "long " + label, o, 1, options.threads) for label, o in LONG.items() if label in options.kinds}
        draws = {label: Draws(folder) for label, folder in kinds.items()}
        first = next(iter(draws))
        base = draws[first].part()
        for label, d in draws.items():
            n = d.f.shape[1] // 2
            even, odd = d.part(slice(0, None, 2)), d.part(slice(1, None, 2))
            ess = np.nansum([effective_draws(f) for f in d.f], axis=0)
            steps = [dict(c["tuned"]).get("step_size") for c in json.loads((kinds[label] / "eval/chains.json").read_text())]
            lines.append(
                f"| {dataset} | {label} | {np.median(steps):.2g} | {gradients(kinds[label]) / 1e6:.1f} | {lppd(d.part(), d.y):.3f} "
                f"| {over_chains(d.fit)} | {over_chains(np.exp(d.log_sigma))} | {over_chains(d.norm2)} "
                f"| {np.median(r_hat(d.f)):.2f} | {np.median(ess):.0f} | {float(r_hat(d.fit + 0)):.2f} "
                f"| {total_variation(even, odd):.3f} | {total_variation(d.part(draws=slice(0, n)), d.part(draws=slice(n, None))):.3f} "
                f"| {'–' if label == first else format(total_variation(d.part(), base), '.3f')} |"
            )
            print(lines[-1], flush=True)
        write(dataset, [draws[label] for label in EXACT if label in draws])
    return lines


def write(dataset, draws):
    FILES.mkdir(parents=True, exist_ok=True)
    keep = np.linspace(0, draws[0].f.shape[1] - 1, KEPT_DRAWS).round().astype(int)
    f, log_sigma = (np.concatenate([getattr(d, name)[:, keep] for d in draws]).astype(np.float32) for name in ("f", "log_sigma"))
    path = FILES / f"{dataset}.npz"
    np.savez_compressed(path, f=f, log_sigma=log_sigma, y=draws[0].y)
    sums = FILES / "SHA256SUMS"
    kept = {line.split()[1]: line for line in sums.read_text().splitlines()} if sums.exists() else {}
    kept[path.name] = f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}"
    sums.write_text("".join(line + "\n" for _, line in sorted(kept.items())))


def read(dataset):
    """The reference's predictive draws: f [n, rows], σ [n]; and y [rows]."""
    z = np.load(FILES / f"{dataset}.npz")
    f, s = z["f"].astype(np.float64), np.exp(z["log_sigma"].astype(np.float64))
    return (f.reshape(-1, f.shape[2]), s.reshape(-1)), z["y"], f, s


def check(_options):
    wrong = 0
    for line in (FILES / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split()
        good = hashlib.sha256((FILES / name).read_bytes()).hexdigest() == digest
        print(f"{name}: {'as it was written' if good else 'DAMAGED'}")
        wrong += not good
    sys.exit(1 if wrong else 0)


def distance(options):
    for dataset in options.sets:
        pooled, y, f, s = read(dataset)
        halves = [(f[i::2].reshape(-1, f.shape[2]), s[i::2].reshape(-1)) for i in (0, 1)]
        print(f"| {dataset}: reference, half against half | | | | {total_variation(*halves):.3f} | {agreement_of_intervals(*halves):.3f} | | {lppd(pooled, y):.3f} | |")
        for label, o in SAMPLERS.items():
            folders = [run(dataset, label, o, split, options.threads) for split in options.splits]
            d = Draws(folders[0])
            ess = np.nansum([effective_draws(x) for x in d.f], axis=0)
            per = np.median(ess) / (gradients(folders[0]) * len(d.f) / 1000)
            print(
                f"| {dataset}: {label} | {over_chains(d.fit)} | {over_chains(np.exp(d.log_sigma))} | {over_chains(d.norm2)} "
                f"| {total_variation(d.part(), pooled):.3f} | {agreement_of_intervals(d.part(), pooled):.3f} | {per:.2f} "
                f"| {cell([metric(r, 'LPPD') for r in folders])} | {cell([metric(r, 'RMSE') for r in folders])} |",
                flush=True,
            )


def predictions(options):
    """LPPD and RMSE alone, for sets without a reference too."""
    for dataset in options.sets:
        folders = [run(dataset, "psmile-auto", SAMPLERS["psmile-auto"], split, options.threads) for split in options.splits]
        ensemble = [metric(r, "LPPD", "ensemble_initialization") for r in folders]
        print(f"| {dataset}: deep ensemble | {cell(ensemble)} | {cell([metric(r, 'RMSE', 'ensemble_initialization') for r in folders])} |", flush=True)
        for label, o in SAMPLERS.items():
            if label == "mclmc" and dataset in ("bikesharing", "protein-5000") and not options.long:
                continue  # ten minutes a split and more
            folders = [run(dataset, label, o, split, options.threads) for split in options.splits]
            print(f"| {dataset}: {label} | {cell([metric(r, 'LPPD') for r in folders])} | {cell([metric(r, 'RMSE') for r in folders])} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["reference", "distance", "predictions", "check"])
    parser.add_argument("--sets", type=lambda s: s.split(","))
    parser.add_argument("--splits", type=lambda s: [int(x) for x in s.split(",")], default=[1, 2, 3])
    parser.add_argument("--kinds", type=lambda s: s.split(";"), default=list(LONG), help="of the long chains, between semicolons")
    parser.add_argument("--long", action="store_true", help="predictions: full batches of the large sets, too")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    options.sets = options.sets or (ALL_SETS if options.what == "predictions" else SETS)
    {"reference": reference, "distance": distance, "predictions": predictions, "check": check}[options.what](options)


if __name__ == "__main__":
    main()
