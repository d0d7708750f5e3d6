#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the small configurations with two builds of the program and says where their results differ.

    scripts/compare_builds.py OLD/bin/smile NEW/bin/smile [--full] [--keep DIR] [--only TEXT]

Draws, traces, members, data sets, metrics, predictions and exports are compared byte for byte; in JSON files and logs
only what a clock has measured is left out. Steps are cut to some hundreds unless --full is given. Status 0: no
difference; 1: differences, which are listed.
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLOCK = re.compile(r"seconds|per_second|started|updated|time|_at$|host|pid|process")
SHORT = ["training.sampler.n_chains=2", "training.sampler.warmup_steps=300", "training.sampler.n_samples=500",
         "training.warmstart.max_epochs=15"]


def cases(full):
    """(name, arguments of a run, or the file of a benchmark)"""
    steps = [] if full else SHORT
    for data in ("airfoil", "energy", "bikesharing"):
        for config in sorted((ROOT / "configs/uci" / data).glob("*-small.yaml")):
            if full or data == "airfoil" or config.stem.split("-")[0] in ("psmile", "mile"):
                yield f"{data}/{config.stem}", [config, *steps]
    base = ROOT / "configs/uci/airfoil/psmile-auto-small.yaml"
    for name, keys in {
        "regr": ["data.task=regr", "model.hidden_structure=[16,16,16,2]"],
        "authors": ["compat=authors", "training.sampler.name=psmile"],
        "noise": ["training.sampler.decoherence_length=30"],
        "position-verlet": ["training.sampler.integrator=position-verlet"],
        "fresh": ["training.sampler.energy=fresh"],
        "half": ["training.sampler.draws_dtype=float16", "training.sampler.keep_warmup=true"],
        "epochs": ["training.sampler.epoch_wise_sampling=true", "training.sampler.batches=drop"],
        "frozen": ["training.sampler.params_frozen=[layer0.bias]"],
        "prior": ["training.sampler.prior_config.name=Laplace"],
        "from-prior": ["training.warmstart.include=false", "training.sampler.name=sgld", "training.sampler.step_size=1e-6"],
        "evaluations": ["evaluations=[PredPerf,Lppd,LppdCum,Calibration,Crhat,Ess,ChainVar,PriorLogLik,PredSaver]"],
    }.items():
        yield f"keys/{name}", [base, *steps, *keys]
    digits = ROOT / "data/fashion-mnist-small"
    yield "class/fcn", [base, *steps, f"data.path={digits}", "data.data_type=image", "data.task=class",
                        "data.flatten=true", "model.hidden_structure=[16,10]", "training.sampler.batch_size=100"]
    for config in sorted((ROOT / "configs/analytical").glob("*-small.yaml")):
        yield f"analytic/{config.stem}", config


def shortened(config, folder, full):
    if full:
        return config
    text = re.sub(r"(?m)^steps:.*$", "steps: 1000", config.read_text())
    text = re.sub(r"(?m)^chains:.*$", "chains: 2", text)
    text = re.sub(r"points: \d+", "points: 2", text)
    file = folder / config.name
    file.write_text(text.replace("covariance: ", f"covariance: {config.parent}/"))
    return file


def run(program, name, what, folder, full):
    if isinstance(what, pathlib.Path):
        subprocess.run([program, "analytic", shortened(what, folder, full), "--out", folder / "out"], cwd=ROOT, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return
    config, *keys = what
    arguments = [program, "run", config, "--out", folder / "run", "--quiet"]
    for key in keys:
        arguments += ["--set", key]
    subprocess.run(arguments, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if name.startswith("airfoil/psmile-auto") or name.startswith("keys/regr"):
        for kind, ending in {"npz": "npz", "safetensors": "safetensors", "csv": "csv"}.items():
            subprocess.run([program, "export", folder / "run", "--format", kind, "--out", folder / f"draws.{ending}"],
                           cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run([program, "predict", folder / "run", "--data", ROOT / "data/uci/airfoil.data", "--out",
                        folder / "predictions.csv"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)


def without_clock(value):
    if isinstance(value, dict):
        return {k: without_clock(v) for k, v in value.items() if not CLOCK.search(k)}
    return [without_clock(v) for v in value] if isinstance(value, list) else value


def fields(value, path=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from fields(inner, f"{path}.{key}")
    elif isinstance(value, list):
        yield f"{path}[]", len(value)
        for i, inner in enumerate(value):
            yield from fields(inner, f"{path}[{i}]")
    else:
        yield path, value


def differences(old, new, file):
    if file.suffix == ".json":
        a, b = (without_clock(json.loads((side / file).read_text())) for side in (old, new))
        left, right = dict(fields(a)), dict(fields(b))
        names = [k for k in {**left, **right} if left.get(k, "absent") != right.get(k, "absent")]
        return [f"{file}: {k[1:]}: {left.get(k, 'absent')} -> {right.get(k, 'absent')}" for k in names[:5]]
    return [] if (old / file).read_bytes() == (new / file).read_bytes() else [f"{file} differs"]


def compare(old, new):
    sides = [{f.relative_to(side) for f in side.rglob("*") if f.is_file()} for side in (old, new)]
    # A checkpoint, a log, a report and a table on a screen hold times; the first are tested by resuming.
    skipped = re.compile(r"^run/checkpoint/|run\.log$|report\.html$|progress\.json$|status\.json$|table\.txt$|^[^/]*\.yaml$")
    found = []
    for file in sorted(sides[0] | sides[1]):
        if skipped.search(str(file)):
            continue
        if file not in sides[0] or file not in sides[1]:
            found.append(f"{file} is written by the {'new' if file in sides[1] else 'old'} one only")
        else:
            found += differences(old, new, file)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old"), parser.add_argument("new")
    parser.add_argument("--full", action="store_true", help="the configurations' own lengths")
    parser.add_argument("--only", default="", help="cases whose name holds this")
    parser.add_argument("--keep", help="folder for the runs; default: a temporary one")
    options = parser.parse_args()
    place = pathlib.Path(options.keep or tempfile.mkdtemp())
    programs = [pathlib.Path(p).resolve() for p in (options.old, options.new)]
    wrong = compared = 0
    for name, what in cases(options.full):
        if options.only not in name:
            continue
        sides = []
        for side, program in zip(("old", "new"), programs):
            folder = place / name / side
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            try:
                run(program, name, what, folder, options.full)
            except subprocess.CalledProcessError as error:
                (folder / "failed.txt").write_text(f"status {error.returncode}\n")
            sides.append(folder)
        found = compare(*sides)
        compared += 1
        wrong += bool(found)
        print(f"{name}: {'identical' if not found else ''}")
        for line in found:
            print(f"  {line}")
        if (sides[0] / "failed.txt").exists():
            print("  (the old one failed)")
    if not options.keep:
        shutil.rmtree(place)
    print(f"{compared} cases, {wrong} with differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
