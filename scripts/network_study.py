#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the reduced experiments on images and text and prints the tables of docs/results/networks.md.

    SMILE=build/torch/bin/smile scripts/network_study.py [STUDY...]      lenet lenet-rules lenet-long resnet7 resnet18 vit gpt-tiny gpt gpt-rules gpt-batch

Runs are kept in results/networks/ and skipped when they are there. All runs of a study start from one deep ensemble,
trained by its first run. Data: Fashion-MNIST from Debian's package, the others under data/ (docs/results/networks.md).
"""
import datetime
import json
import math
import pathlib
import sys

from experiments import ROOT, chains, mean, metric, run

CONFIGS = ROOT / "configs/networks"
RESULTS = ROOT / "results/networks"
SAMPLER = "training.sampler."


def phases(directory):
    """Seconds of warm start and sampling, from the log of the run."""
    times = {}
    lines = [line.split(None, 2) for line in (directory / "run.log").read_text().splitlines()]
    stamps = [(datetime.datetime.fromisoformat(a + " " + b), text) for a, b, text in (line for line in lines if len(line) == 3)]
    for (begin, text), (end, _) in zip(stamps, stamps[1:]):
        times[text] = times.get(text, 0) + (end - begin).total_seconds()
    return times


def value(directory, name, phase="sampling"):
    try:
        number = metric(directory, name, phase)
    except Exception:
        return math.nan
    return math.nan if number is None else number


def study(title, config, points, base, names=("LPPD", "accuracy", "ECE")):
    """One run for each point, starting from the members of the run `base`, which the first point trains."""
    print(f"\n{title}\n")
    print("| run | " + " | ".join(f"{name}" for name in names) + " | refused | distance to Gamma | δ | ε: start → end of warm-up → end | sampling, s |")
    print("|---|" + "---|" * (len(names) + 5))
    ensemble = None
    for label, settings in points:
        out = RESULTS / base / label.replace(" ", "_")
        if ensemble is not None:
            settings = {**settings, "training.warmstart.warmstart_exp_dir": str(ensemble)}
        directory = run(CONFIGS / f"{config}.yaml", out, settings)
        if directory is None:
            print(f"| {label} | " + " | ".join("failed" for _ in names) + " | | | | | |", flush=True)
            continue
        if ensemble is None:
            ensemble = directory
            print("| deep ensemble | " + " | ".join(f"{value(directory, n, 'ensemble_initialization'):.4f}" for n in names)
                  + f" | | | | | (warm start {phases(directory).get('warm start', math.nan):.0f}) |")
        records = chains(directory)
        refused = mean([c["sampling"]["refused"] / max(1, c["sampling"]["steps"]) for c in records])
        distance = mean([c["energy_error"]["kolmogorov_distance"] or math.nan for c in records])
        steps = [records[0][key] for key in ("step_size_first", "step_size_after_warmup", "step_size_last")]
        arrow = " → ".join(f"{step:.2g}" if step else "–" for step in steps)
        turn = mean([c["sampling"]["mean_turn_angle"] or math.nan for c in records])
        times = phases(directory)
        print(f"| {label} | " + " | ".join(f"{value(directory, n):.4f}" for n in names)
              + f" | {refused:.3f} | {distance:.2f} | {turn:.2g} | {arrow} | {times.get('sampling', math.nan):.0f} |",
              flush=True)


def point(name, step=None, **more):
    settings = {SAMPLER + "name": name, **{SAMPLER + key: v for key, v in more.items()}}
    if step is not None:
        settings[SAMPLER + "step_size"] = step
    return (f"{name} {step:g}" if step is not None else name), settings


STUDIES = {
    "lenet": lambda: study("LeNet, samplers of T6", "lenet-small", [
        point("psmile", 0.001), point("psmile-naive", 0.001), point("smile", 0.001), point("smile-naive", 0.0001),
        point("psmile", 0.01), point("psmile-naive", 0.01), point("sghmc", 0.001), point("sghmc", 1e-6),
        point("adasghmc", 0.001), point("psmile-auto")], "lenet"),
    "lenet-rules": lambda: study("LeNet, rules from several starts", "lenet-small", [
        point("psmile", 0.001)] + [point(name, step) for name, step in (
            ("psmile-naive", 1e-4), ("psmile", 1e-4), ("psmile-auto", 1e-4), ("psmile-auto", 1e-2),
            ("psmile-naive", 1e-1), ("psmile", 1e-1))] + [
        ("psmile-auto, prior sd 0.1", {SAMPLER + "name": "psmile-auto", SAMPLER + "prior_config.name": "Normal",
                                       SAMPLER + "prior_config.parameters": "{loc: 0.0, scale: 0.1}"}),
        ("psmile 0.01, prior sd 0.1", {SAMPLER + "name": "psmile", SAMPLER + "step_size": 0.01,
                                       SAMPLER + "prior_config.name": "Normal",
                                       SAMPLER + "prior_config.parameters": "{loc: 0.0, scale: 0.1}"})], "lenet"),
    "lenet-long": lambda: study("LeNet, ten times as long", "lenet-small", [point("psmile", 0.001)] + [
        (f"{name} {step:g}, 9,000 steps", {SAMPLER + "name": name, SAMPLER + "step_size": step,
                                           SAMPLER + "warmup_steps": 3000, SAMPLER + "n_samples": 6000,
                                           SAMPLER + "n_thinning": 200})
        for name, step in (("psmile-auto", 0.001), ("psmile-naive", 0.1), ("psmile", 0.001))], "lenet"),
    "resnet7": lambda: study("ResNet-7, F1", "resnet7-small", [
        point("psmile", 0.1), point("psmile-naive", 0.1), point("smile", 0.01), point("smile-naive", 0.01)], "resnet7"),
    "resnet18": lambda: study("ResNet-18", "resnet18-small", [point("psmile", 0.015)], "resnet18"),
    "vit": lambda: study("ViT", "vit-small", [point("psmile", s) for s in (0.01, 0.001, 0.1)], "vit"),
    "gpt": lambda: study("GPT, F2", "gpt-small", [
        point("psmile", 1.7e-3), point("psmile", 1.7e-2), point("adasghmc", 1.7e-2), point("adasghmc", 1.7e-3),
        point("psmile", 1.7e-4), point("psmile", 1.7e-5), point("adasghmc", 1.7e-4), point("adasghmc", 1.7e-5)], "gpt",
        ("perplexity", "accuracy", "LPPD")),
    "gpt-batch": lambda: study("GPT, four times the batch", "gpt-small", [point("psmile", 1.7e-3)] + [
        (f"psmile {step:g}, B = 64", {SAMPLER + "name": "psmile", SAMPLER + "step_size": step, SAMPLER + "batch_size": 64})
        for step in (1.7e-2, 1.7e-3)], "gpt", ("perplexity", "accuracy", "LPPD")),
    "gpt-tiny": lambda: study("GPT of 31,000 parameters, F2", "gpt-tiny", [
        point(name, step) for name in ("psmile", "adasghmc") for step in (5e-3, 5e-5, 5e-4, 5e-2)]
        + [point("psmile-auto"), point("psmile-auto", 5e-5), point("psmile-auto", 5e-2), point("psmile-naive", 5e-3)],
        "gpt-tiny", ("perplexity", "accuracy", "LPPD")),
    "gpt-rules": lambda: study("GPT, rules from several starts", "gpt-small", [point("psmile", 1.7e-3)] + [
        point(name, step) for step in (1.7e-5, 1.7e-2) for name in ("psmile-auto", "psmile-naive")], "gpt",
        ("perplexity", "accuracy", "LPPD")),
}

if __name__ == "__main__":
    for chosen in sys.argv[1:] or STUDIES:
        STUDIES[chosen]()
