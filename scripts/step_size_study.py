#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares step-size rules from five starting steps (spec 1.13) and writes the tables and pictures of
docs/results/step-size.md.

    python3 scripts/step_size_study.py [--seeds 1,2,3] [--only airfoil,energy] [--integrators mclachlan]

Runs go to results/step-size-study/; complete ones are not run again. Position-Verlet takes one gradient a step and so
twice the steps: all comparisons are at equal numbers of gradients.
"""
import argparse
import csv
import math

from experiments import ROOT, cell, chains, mean, metric, run

DATASETS = ["airfoil", "energy", "bikesharing", "concrete", "yacht", "protein-5000"]
STARTS = [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]
RULES = {"fixed": "psmile-naive", "energy": "psmile", "turn": "psmile-auto"}
COLOURS = ["#4053d3", "#00b25d", "#b51d14", "#ddb310", "#fb49b0"]


def directory_of(dataset, rule, start, seed, integrator):
    return ROOT / f"results/step-size-study/{dataset}/{integrator}/{rule}/start-{start:g}/seed-{seed}"


def run_one(dataset, rule, start, seed, integrator):
    settings = {"rng": seed, "training.sampler.name": RULES[rule], "training.sampler.step_size": start}
    if integrator == "position-verlet":
        settings |= {"training.sampler.integrator": "position-verlet", "training.sampler.warmup_steps": 40000,
                     "training.sampler.n_samples": 10000, "training.sampler.n_thinning": 20}
    return run(ROOT / f"configs/step-size/{dataset}.yaml", directory_of(dataset, rule, start, seed, integrator), settings)


def final_step(directory):
    steps = [c["step_size_last"] for c in chains(directory)]
    return math.exp(mean([math.log(s) for s in steps]))


def trace(directory, chain=0):
    with open(directory / f"trace/chain-{chain:02d}.csv") as file:
        rows = list(csv.DictReader(file))
    return [(int(r["step"]), float(r["step_size"])) for r in rows if float(r["step_size"]) > 0]


def picture(dataset, integrator, seed, path):
    """Step size against step for the five starts: the energy rule left, the turning-angle rule right."""
    width, height, left, top, gap = 380, 220, 52, 28, 40
    low, high = -9.0, 1.0
    panels = []
    for p, rule in enumerate(("energy", "turn")):
        x0 = left + p * (width + gap)
        lines = [f'<text x="{x0}" y="{top - 10}" font-weight="bold">'
                 f'{"energy rule (the paper)" if rule == "energy" else "turning-angle rule"}</text>']
        for decade in range(int(low), int(high) + 1, 2):
            y = top + height * (high - decade) / (high - low)
            lines.append(f'<line x1="{x0}" x2="{x0 + width}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
                         f'<text x="{x0 - 6}" y="{y + 4:.1f}" text-anchor="end">1e{decade}</text>')
        last = 0
        for start, colour in zip(STARTS, COLOURS):
            points = trace(directory_of(dataset, rule, start, seed, integrator))
            last = max(last, points[-1][0])
            stride = max(1, len(points) // 300)
            coordinates = " ".join(
                f"{x0 + width * t / points[-1][0]:.1f},"
                f"{top + height * (high - max(low, min(high, math.log10(e)))) / (high - low):.1f}"
                for t, e in points[::stride])
            lines.append(f'<polyline fill="none" stroke="{colour}" stroke-width="1.5" points="{coordinates}"/>')
        lines.append(f'<text x="{x0 + width / 2}" y="{top + height + 18}" text-anchor="middle">step 0 … {last}</text>')
        panels.append("\n".join(lines))
    legend = "".join(f'<tspan fill="{c}">  ■ from {s:g}</tspan>' for s, c in zip(STARTS, COLOURS))
    total = left + 2 * width + gap + 10
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} {top + height + 48}" font-family="sans-serif" '
        f'font-size="12"><rect width="100%" height="100%" fill="white"/>\n' + "\n".join(panels) +
        f'\n<text x="{left}" y="{top + height + 40}">{dataset}: ε of chain 0{legend}</text></svg>\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--only", default=",".join(DATASETS))
    parser.add_argument("--integrators", default="mclachlan,position-verlet")
    arguments = parser.parse_args()
    seeds = [int(s) for s in arguments.seeds.split(",")]
    for integrator in arguments.integrators.split(","):
        for dataset in arguments.only.split(","):
            table = {}
            for rule in RULES:
                for start in STARTS:
                    table[rule, start] = [d for d in (run_one(dataset, rule, start, s, integrator) for s in seeds) if d]
            print(f"\n### {dataset}, {integrator}\n")
            print("| start | fixed: LPPD | energy rule: LPPD | final ε | turning angle: LPPD | final ε |\n"
                  "|---|---|---|---|---|---|")
            for start in STARTS:
                cells = [cell([metric(d, "LPPD") for d in table["fixed", start]], 2)]
                for rule in ("energy", "turn"):
                    cells.append(cell([metric(d, "LPPD") for d in table[rule, start]], 2))
                    ends = [final_step(d) for d in table[rule, start]]
                    cells.append(f"{math.exp(mean([math.log(e) for e in ends])):.2g}" if ends else "–")
                print(f"| {start:g} | " + " | ".join(cells) + " |")
            best = max(mean([metric(d, "LPPD") for d in table["fixed", s]]) for s in STARTS if table["fixed", s])
            turned = [mean([metric(d, "LPPD") for d in table["turn", s]]) for s in STARTS if table["turn", s]]
            ends = [final_step(d) for s in STARTS for d in table["turn", s]]
            print(f"\nBest fixed {best:.2f}; turning angle {min(turned):.2f} … {max(turned):.2f}; its final steps differ by a "
                  f"factor {max(ends) / min(ends):.2f} over all starts and seeds.", flush=True)
            if integrator == "mclachlan":
                picture(dataset, integrator, seeds[0], ROOT / f"docs/results/step-size-{dataset}.svg")


if __name__ == "__main__":
    main()
