#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How near `smile tune` comes to the best step of a fine grid. For each data set, sampler and seed: the search, then
whole runs at its choice times 3^(k/2), k = -4 ... 4 (on where the best is at an end), compared by the LPPD of the
validation rows. Writes a table in Markdown to standard output: LPPDs, the best step over the choice, what the choice
loses, and the search's gradients.

    python3 scripts/tune_study.py [--smile build/quickstart/bin/smile] [--only airfoil,energy] [--sampler psmile-naive]
                                  [--seeds 1,2] [--chains 6] [--warmup 10000] [--samples 5000] [--task mean_regr]
"""
import argparse
import os
import re
import struct
import subprocess
import sys
import tempfile
import zipfile


def config(data, task, seed, sampler, chains, warmup, samples):
    return f"""data:
  path: {data}
  task: {task}
rng: {seed}
model:
  hidden_structure: [16, 16, 16, 1]
training:
  sampler:
    name: {sampler}
    n_chains: {chains}
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


class Runs:
    """Whole runs of one configuration at any step."""

    def __init__(self, smile, data, yaml, folder):
        self.smile, self.data, self.yaml, self.folder = smile, data, yaml, folder
        self.known = {}

    def lppd(self, k, step):
        """LPPD of the validation rows at a step, -inf where chains failed."""
        if k not in self.known:
            self.known[k] = self.measure(step)
        return self.known[k]

    def measure(self, step):
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            run_folder = os.path.join(folder, "run")
            try:
                run([self.smile, "run", self.yaml, "--out", run_folder, "--quiet", "--no-report",
                     "--set", f"training.sampler.step_size={step:.8g}", "--set", "evaluations=[Lppd]"])
            except RuntimeError as error:
                print(error, file=sys.stderr)
                return float("-inf")
            with open(self.data) as file:
                lines = file.read().splitlines()
            rows = os.path.join(folder, "valid.data")
            with open(rows, "w") as file:
                file.writelines(lines[i] + "\n" for i in validation_rows(run_folder))
            out = run([self.smile, "predict", run_folder, "--data", rows, "--out", os.path.join(folder, "p.csv"),
                       "--quantiles", "0.5", "--quiet"])
            return float(re.search(r"^LPPD: (\S+)", out, re.M)[1])


def study(given, name, sampler, seed):
    with tempfile.TemporaryDirectory() as folder:
        yaml = os.path.join(folder, "config.yaml")
        data = os.path.abspath(f"data/uci/{name}.data")
        with open(yaml, "w") as file:
            file.write(config(data, given.task, seed, sampler, given.chains, given.warmup, given.samples))
        out = run([given.smile, "tune", yaml, "--out", os.path.join(folder, "tune"), "--quiet"])
        print(f"{name} {sampler} seed {seed}\n{out}", file=sys.stderr, flush=True)
        chosen = float(re.search(r"^step_size: (\S+)", out, re.M)[1])
        share = float(re.search(r"\(([\d.]+) % of a run", out)[1])
        runs = Runs(given.smile, data, yaml, folder)
        low, high = -4, 4
        while True:
            values = {k: runs.lppd(k, chosen * 3 ** (k / 2)) for k in range(low, high + 1)}
            best = max(values, key=values.get)
            if best == low and low > -8:
                low -= 2
            elif best == high and high < 8:
                high += 2
            else:
                break
        cells = " | ".join("–" if values[k] == float("-inf") else f"{values[k]:.3f}" for k in range(-4, 5))
        print(f"| {name} | {sampler} | {seed} | {chosen:.3g} | {cells} | {3 ** (best / 2):.2g} | "
              f"{values[best] - values[0]:.3f} | {share:.1f} % |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smile", default="build/quickstart/bin/smile")
    parser.add_argument("--only", default="airfoil,energy")
    parser.add_argument("--task", default="mean_regr")
    parser.add_argument("--sampler", default="psmile-naive")
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--chains", type=int, default=6)
    parser.add_argument("--warmup", type=int, default=10000)
    parser.add_argument("--samples", type=int, default=5000)
    given = parser.parse_args()
    print("| data set | sampler | seed | chosen ε | ε/9 | ε/5.2 | ε/3 | ε/1.7 | ε | 1.7 ε | 3 ε | 5.2 ε | 9 ε | "
          "best/ε | LPPD lost | gradients |")
    print("|---" * 16 + "|", flush=True)
    for sampler in given.sampler.split(","):
        for name in given.only.split(","):
            for seed in map(int, given.seeds.split(",")):
                study(given, name, sampler, seed)


if __name__ == "__main__":
    main()
