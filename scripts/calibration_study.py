#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the tables of docs/results/calibration.md that bench_calibration makes, and draws their figure.

    cmake --preset bench && cmake --build --preset bench --target bench_calibration
    python3 scripts/calibration_study.py [--figure docs/results/calibration-sbc.svg]

BENCH_CALIBRATION in the environment names another program than build/bench/bench/bench_calibration.
"""
import argparse
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("BENCH_CALIBRATION", ROOT / "build/bench/bench/bench_calibration")

# What is compared: label, keys of training.sampler. Step sizes are each sampler's best of a decade's grid by log σ.
SAMPLERS = [
    ("psmile-auto", ["name=psmile-auto"]),
    ("psmile-auto of version 0.1", ["name=psmile-auto", "compat=0.1"]),
    ("smile-auto", ["name=smile-auto"]),
    ("mclmc", ["name=mclmc", "desired_energy_var_start=1e-3", "desired_energy_var_end=1e-4"]),
    ("psmile-naive, ε = 0.03", ["name=psmile-naive", "step_size=0.03"]),
    ("psmile-naive, ε = 0.01", ["name=psmile-naive", "step_size=0.01"]),
    ("psmile", ["name=psmile"]),
    ("adasghmc, ε = 0.003", ["name=adasghmc", "step_size=0.003"]),
    ("adasghmc, ε = 0.01", ["name=adasghmc", "step_size=0.01"]),
    ("sghmc, ε = 1e−5", ["name=sghmc", "step_size=1e-5"]),
    ("sgld, ε = 1e−4", ["name=sgld", "step_size=1e-4"]),
]
# Each choice of the default taken back alone.
CHOICES = [
    ("the default", []),
    ("integrator mclachlan, energy carried", ["integrator=mclachlan"]),
    ("reference scale rms", ["preconditioner_reference=rms"]),
    ("scale never frozen", ["preconditioner_freeze=never"]),
    ("batches even", ["batches=even"]),
    ("no noise (decoherence_length .inf)", ["decoherence_length=.inf"]),
    ("no guardrail", ["smile_tuning.reset_prob=1"]),
]
MODELS = [("linear, R = 4", ["linear", "200", "50"]), ("linear, R = 10", ["linear", "1000", "100"]),
          ("logistic, R = 6", ["logistic", "300", "50"]), ("network, R = 4", ["network", "200", "50"])]


def measure(what, model, replications, steps, keys):
    command = [str(PROGRAM), what, *model, str(replications), str(steps), *keys]
    line = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return line.split("|", 1)[1].strip()


def groups(text):
    """name -> (first number, second number) of ' name 1.00 (worst 1.10)' or ' name 1.000 ± 0.010 (thermometer 1.0)'."""
    found = re.findall(r"([a-z][a-z\- ]*?) (-?[\d.]+|nan|inf) (?:± ([\d.]+|nan) )?\((?:worst|thermometer) (-?[\d.]+|nan|inf)\)",
                       text)
    return {name.strip(): (value, error, other) for name, value, error, other in found}


def rank_variances():
    print("\n## Rank variances\n")
    print("| sampler | " + " | ".join(f"{name}: weights or values | log σ | χ²/df" for name, _ in MODELS) + " |")
    print("|---|" + "---|---|---|" * len(MODELS))
    points = []
    for label, keys in SAMPLERS:
        cells = []
        for name, model in MODELS:
            text = measure("sbc", model, 100, 20000, keys)
            of = groups(text)
            main = of.get("weights") or of.get("values")
            sigma = of.get("log sigma", ("–", "", ""))
            cells += [f"{main[0]} (worst {main[2]})", sigma[0], re.search(r"chi2/df ([\d.naninf]+)", text)[1]]
            if name == MODELS[0][0]:
                points.append((label, float(main[0]), float(sigma[0])))
        print(f"| {label} | " + " | ".join(cells) + " |", flush=True)
    return points


def temperatures(rows, title, model, data_sets, steps):
    print(f"\n## {title}\n")
    print("| | weights | prior-only | weak column | log σ | thermometer, log σ |\n|---|---|---|---|---|---|")
    for label, keys in rows:
        of = groups(measure("moments", model, data_sets, steps, keys))
        cells = [f"{of[g][0]} ± {of[g][1]}" for g in ("weights", "prior-only", "weak", "log sigma")]
        print(f"| {label} | " + " | ".join(cells) + f" | {of['log sigma'][2]} |", flush=True)


def figure(points, path):
    width, row, left = 640, 26, 230
    x = lambda v: left + 380 * min(max(v, 0), 2) / 2
    height = row * len(points) + 70
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="#fff"/>',
           f'<rect x="{x(.82):.0f}" y="20" width="{x(1.18) - x(.82):.0f}" height="{row * len(points)}" fill="#e8eef4"/>',
           f'<line x1="{x(1):.0f}" y1="20" x2="{x(1):.0f}" y2="{20 + row * len(points)}" stroke="#888"/>']
    for i, (label, weights, sigma) in enumerate(points):
        y = 20 + row * (i + .5)
        out.append(f'<text x="{left - 10}" y="{y + 4:.0f}" text-anchor="end">{label}</text>')
        out.append(f'<circle cx="{x(weights):.1f}" cy="{y:.0f}" r="5" fill="#0b6e99"/>')
        out.append(f'<rect x="{x(sigma) - 5:.1f}" y="{y - 5:.0f}" width="10" height="10" fill="#c4541c"/>')
    base = 20 + row * len(points)
    for v in (0, .5, 1, 1.5, 2):
        out.append(f'<text x="{x(v):.0f}" y="{base + 16}" text-anchor="middle">{v:g}{"+" if v == 2 else ""}</text>')
    out.append(f'<text x="{x(1):.0f}" y="{base + 36}" text-anchor="middle">rank variance over uniform: '
               "weights (circle), log σ (square); 1 is right, below: too wide</text></svg>")
    pathlib.Path(path).write_text("\n".join(out) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figure")
    arguments = parser.parse_args()
    points = rank_variances()
    if arguments.figure:
        figure(points, arguments.figure)
    temperatures(SAMPLERS, "Temperatures, N = 200, B = 50 (R = 4)", ["linear", "200", "50"], 20, 60000)
    temperatures([SAMPLERS[0], SAMPLERS[1], SAMPLERS[4], SAMPLERS[7]], "Temperatures, N = 2,000, B = 20 (R = 100)",
                 ["linear", "2000", "20"], 10, 200000)
    temperatures(CHOICES, "Each choice taken back alone, N = 200, B = 50", ["linear", "200", "50"], 20, 60000)


if __name__ == "__main__":
    main()
