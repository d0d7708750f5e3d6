#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the UCI experiment (spec 4, T2) and prints the tables of docs/results/uci.md.

    python3 scripts/uci_table.py [--only airfoil,energy] [--splits 1,2,3] [--epoch-wise] [--grid]

Runs go to results/uci-table/; those that are complete are not run again. The program is build/quickstart/bin/smile,
or the one named by the environment variable SMILE.
"""
import argparse

from experiments import ROOT, cell, chains, mean, metric, run, wall_seconds

METHODS = ["mile", "adasghmc", "smile-naive", "psmile-naive", "smile", "psmile", "psmile-auto"]
# Step sizes tried for a baseline; the table shows the best by mean test LPPD.
GRIDS = {
    "adasghmc": [0.001, 0.003, 0.01, 0.03],
    "rmsprop-sghmc": [0.001, 0.003, 0.01, 0.03],
    "sgld": [1e-7, 1e-6, 1e-5],
    "psgld": [1e-8, 1e-7, 1e-6],
    "sghmc": [1e-8, 1e-7, 1e-6],
    "sgnht": [1e-4, 3e-4, 1e-3],
}


def runs_of(dataset, method, splits, epoch_wise, step=None):
    found = []
    for split in splits:
        settings = {"rng": split}
        name = method
        if epoch_wise:
            settings["training.sampler.epoch_wise_sampling"] = "true"
            name += "-epochwise"
        if step is not None:
            settings["training.sampler.step_size"] = step
            name += f"-{step:g}"
        directory = run(ROOT / f"configs/uci/{dataset}/{method}.yaml",
                        ROOT / f"results/uci-table/{dataset}/{name}/split-{split}", settings)
        if directory:
            found.append(directory)
    return found


def blown_up(directories):
    return sum(1 for d in directories for c in chains(d) if not c.get("test_rmse") or c["test_rmse"] > 1)


def row(label, directories):
    lppd = [metric(d, "LPPD") for d in directories]
    rmse = [metric(d, "RMSE") for d in directories]
    print(f"| {label} | {cell(lppd)} | {cell(rmse)} | {blown_up(directories)} | "
          f"{mean([wall_seconds(d) for d in directories]):.0f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="airfoil,energy,bikesharing")
    parser.add_argument("--splits", default="1,2,3")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--epoch-wise", action="store_true")
    parser.add_argument("--grid", action="store_true", help="every step size of the baselines' grids")
    arguments = parser.parse_args()
    splits = [int(s) for s in arguments.splits.split(",")]
    for dataset in arguments.only.split(","):
        print(f"\n### {dataset}{', epoch-wise' if arguments.epoch_wise else ''}\n")
        print("| method | LPPD | RMSE | blown-up chains | seconds a run |\n|---|---|---|---|---|")
        for method in arguments.methods.split(","):
            if arguments.epoch_wise and method == "mile":
                continue
            steps = GRIDS.get(method, [None]) if arguments.grid else [None]
            for step in steps:
                directories = runs_of(dataset, method, splits, arguments.epoch_wise, step)
                if method == arguments.methods.split(",")[0] and step == steps[0] and directories:
                    lppd = [metric(d, "LPPD", "ensemble_initialization") for d in directories]
                    rmse = [metric(d, "RMSE", "ensemble_initialization") for d in directories]
                    spread = [metric(d, "LPPD, spread of members", "ensemble_initialization") for d in directories]
                    print(f"| deep ensemble, residual σ | {cell(lppd)} | {cell(rmse)} | | |")
                    print(f"| deep ensemble, spread as σ | {cell(spread)} | | | |")
                if directories:
                    row(method + (f", ε = {step:g}" if step is not None else ""), directories)


if __name__ == "__main__":
    main()
