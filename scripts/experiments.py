# SPDX-License-Identifier: Apache-2.0
"""Runs of the program for the scripts that write docs/results: finished runs are kept and skipped."""
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("SMILE", str(ROOT / "build/quickstart/bin/smile"))


def run(config, out, settings):
    """Runs `config` into `out` unless it is there and complete; returns the directory, or None where it failed."""
    out = pathlib.Path(out)
    status = out / "status.json"
    wall = out / "wall_seconds.txt"
    if status.exists() and json.loads(status.read_text()).get("status") == "complete" and wall.exists():
        return out
    if out.exists():
        shutil.rmtree(out)
    command = [PROGRAM, "run", str(config), "--out", str(out), "--quiet"]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    start = time.time()
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if result.returncode not in (0, 1) or not (out / "eval/metrics.json").exists():
        print("failed:", " ".join(command), result.stderr.strip(), file=sys.stderr)
        return None
    wall.write_text(f"{time.time() - start:.2f}\n")
    for name in ("samples", "checkpoint"):  # the tables need only what was evaluated
        shutil.rmtree(out / name, ignore_errors=True)
    return out


def metric(directory, name, phase="sampling"):
    for entry in json.loads((directory / "eval/metrics.json").read_text())["metrics"]:
        if entry["name"] == name:
            value = entry[phase]
            return math.nan if value is None else value
    return math.nan


def wall_seconds(directory):
    return float((directory / "wall_seconds.txt").read_text())


def chains(directory):
    return json.loads((directory / "eval/chains.json").read_text())


def mean(values):
    return sum(values) / len(values) if values else math.nan


def sd(values):
    if len(values) < 2:
        return math.nan
    m = mean(values)
    return math.sqrt(sum((v - m) ** 2 for v in values) / (len(values) - 1))


def cell(values, digits=3):
    values = [v for v in values if v is not None]
    if not values:
        return "–"
    text = f"{mean(values):.{digits}f}"
    return text + (f" ± {sd(values):.{digits}f}" if len(values) > 1 else "")
