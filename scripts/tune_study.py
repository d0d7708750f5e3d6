#!/usr/bin/env python3
"""How near `smile tune` comes to the best step of a fine grid: whole runs at each step of the grid, compared by the LPPD
of the validation rows, against the choice of the search and its gradients. Writes a table in Markdown to standard output.

    python3 scripts/tune_study.py --smile build/quickstart/bin/smile [--only airfoil] [--samples 5000] [--seeds 1]
"""
import argparse
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
import zipfile


def config(data, seed, sampler, warmup, samples):
    return f"""data:
  path: {data}
  task: mean_regr
rng: {seed}
model:
  hidden_structure: [16, 16, 16, 1]
training:
  sampler:
    name: {sampler}
    n_chains: 10
    warmup_steps: {warmup}
    n_samples: {samples}
"""


def run(arguments):
    done = subprocess.run(arguments, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(arguments)}\n{done.stderr}")
    return done.stdout


def validation_rows(folder):
    with zipfile.ZipFile(os.path.join(folder, "dataset_splits.npz")) as archive:
        content = archive.read("valid.npy")
    start = 10 + struct.unpack("<H", content[8:10])[0]
    return struct.unpack(f"<{(len(content) - start) // 4}I", content[start:])


def lppd_of_run(smile, data, yaml, step, folder):
    """Whole run at one step, then the LPPD of its validation rows; None where chains failed."""
    run_folder = os.path.join(folder, f"run-{step:.3g}")
    try:
        run([smile, "run", yaml, "--out", run_folder, "--quiet", "--set", f"training.sampler.step_size={step:.8g}",
             "--set", "evaluations=[Lppd]"])
    except RuntimeError:
        return None
    with open(data) as file:
        lines = file.read().splitlines()
    rows = os.path.join(folder, "valid.data")
    with open(rows, "w") as file:
        file.writelines(lines[i] + "\n" for i in validation_rows(run_folder))
    out = run([smile, "predict", run_folder, "--data", rows, "--out", os.path.join(folder, "p.csv"), "--quiet"])
    return float(re.search(r"^LPPD: (\S+)", out, re.M)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smile", default="build/quickstart/bin/smile")
    parser.add_argument("--only", default="airfoil,energy")
    parser.add_argument("--sampler", default="psmile-naive")
    parser.add_argument("--warmup", type=int, default=10000)
    parser.add_argument("--samples", type=int, default=5000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--lowest", type=float, default=2e-4)
    parser.add_argument("--highest", type=float, default=2e-2)
    parser.add_argument("--per-decade", type=int, default=4)
    given = parser.parse_args()
    count = round(math.log10(given.highest / given.lowest) * given.per_decade) + 1
    grid = [given.lowest * 10 ** (i / given.per_decade) for i in range(count)]
    print("| data set | seed | " + " | ".join(f"{step:.2g}" for step in grid) +
          " | best of grid | tune | ratio | gradients of the run |")
    print("|---" * (count + 6) + "|", flush=True)
    for name in given.only.split(","):
        for seed in range(1, given.seeds + 1):
            with tempfile.TemporaryDirectory() as folder:
                yaml = os.path.join(folder, "config.yaml")
                data = os.path.abspath(f"data/uci/{name}.data")
                with open(yaml, "w") as file:
                    file.write(config(data, seed, given.sampler, given.warmup, given.samples))
                out = run([given.smile, "tune", yaml, "--out", os.path.join(folder, "tune"), "--quiet"])
                chosen = float(re.search(r"^step_size: (\S+)", out, re.M)[1])
                share = float(re.search(r"\(([\d.]+) % of a run", out)[1])
                print(out, file=sys.stderr, flush=True)
                values = [lppd_of_run(given.smile, data, yaml, step, folder) for step in grid]
                best = max((value, step) for value, step in zip(values, grid) if value is not None)[1]
                cells = " | ".join("failed" if value is None else f"{value:.3f}" for value in values)
                ratio = max(chosen / best, best / chosen)
                print(f"| {name} | {seed} | {cells} | {best:.2g} | {chosen:.3g} | {ratio:.2f} | {share:.1f} % |", flush=True)


if __name__ == "__main__":
    main()
