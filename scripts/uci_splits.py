#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the public splits (configs/uci-splits/) and prints the table of docs/results/uci-splits.md: the mean test
log-likelihood in the target's own unit, LPPD − log(sd of the training targets), and the RMSE in that unit.

    python3 scripts/uci_splits.py [--only energy,yacht] [--networks 50,16-16-16] [--splits 5] [--methods psmile-auto,mclmc,ivon,laplace]
        [--short]

`--short` takes a tenth of the steps. Runs go to results/uci-splits/; those that are complete are not run again. The
program is build/quickstart/bin/smile, or the one named by the environment variable SMILE.
"""
import argparse
import math
import struct
import zipfile

from experiments import ROOT, mean, metric, run, sd as deviation

METHODS = {
    "psmile-auto": {},
    "mclmc": {"training.sampler.name": "mclmc", "training.sampler.step_size_init": 0.01,
              "training.sampler.desired_energy_var_start": 0.5, "training.sampler.desired_energy_var_end": 0.1},
    "ivon": {"training.sampler.name": "ivon", "training.sampler.n_samples": 1000, "training.sampler.n_thinning": 1},
    "laplace": {"training.sampler.name": "laplace", "training.sampler.laplace_prior": "marginal_likelihood",
                "training.sampler.n_samples": 1000, "training.sampler.n_thinning": 1},
}
SHORT = {"training.sampler.warmup_steps": 5000, "training.sampler.n_samples": 1000, "training.sampler.n_thinning": 1}


def own_unit(directory, phase, kind=""):
    with zipfile.ZipFile(directory / "dataset_splits.npz") as splits:
        (sd,) = struct.unpack("<d", splits.read("target_sd.npy")[-8:])  # one double behind NumPy's header
    return metric(directory, "LPPD" + kind, phase) - math.log(sd), metric(directory, "RMSE" + kind, phase) * sd


def cell(values):
    return f"{mean(values):.3f} ± {deviation(values) / math.sqrt(len(values)):.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="energy,yacht,concrete,airfoil")
    parser.add_argument("--networks", default="50,16-16-16")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--short", action="store_true")
    arguments = parser.parse_args()
    print("| data set | network | method | log-likelihood | RMSE | splits |\n|---|---|---|---|---|---|")
    for dataset in arguments.only.split(","):
        for network in arguments.networks.split(","):
            for number, method in enumerate(arguments.methods.split(",")):
                found = []
                for split in range(arguments.splits):
                    settings = {"data.split_files.test": f"data/uci-splits/{dataset}/index_test_{split}.txt",
                                **(SHORT if arguments.short else {}), **METHODS[method]}
                    name = f"{dataset}-{network}{'-short' if arguments.short else ''}/{method}/split-{split}"
                    directory = run(ROOT / f"configs/uci-splits/{dataset}-{network}.yaml",
                                    ROOT / "results/uci-splits" / name, settings)
                    if directory:
                        found.append(directory)
                phases = [("deep ensemble", "ensemble_initialization", "")] if number == 0 else []
                if method == "laplace":
                    phases += [("laplace, linearised", "sampling", ", linearised")]
                for label, phase, kind in phases + [(method, "sampling", "")]:
                    values = [own_unit(d, phase, kind) for d in found]
                    if len(values) > 1:
                        print(f"| {dataset} | {network} | {label} | {cell([v[0] for v in values])} | "
                              f"{cell([v[1] for v in values])} | {len(values)} |", flush=True)


if __name__ == "__main__":
    main()
