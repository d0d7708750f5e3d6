#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares R-hat and effective sample sizes of a run with ArviZ's on the same draws.

    python3 scripts/check_against_arviz.py RUN

Exit status 0: equal to 1e-6; 1: not; 3: ArviZ is not installed.
"""
import json
import pathlib
import re
import sys

try:
    import arviz
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(3)


def of_arviz(draws):
    """The quantities of eval/diagnostics.json for draws [chains, draws]."""
    return {
        "rhat": arviz.rhat(draws, method="rank"),
        "rhat_split": arviz.rhat(draws, method="split"),
        "ess_mean": arviz.ess(draws, method="mean"),
        "ess_bulk": arviz.ess(draws, method="bulk"),
        "ess_tail": arviz.ess(draws, method="tail"),
    }


def main():
    run = pathlib.Path(sys.argv[1])
    document = json.loads((run / "eval" / "diagnostics.json").read_text())
    length = document["draws_per_chain"]
    chains = [numpy.load(run / "samples" / f"chain-{c:02}.npy", mmap_mode="r") for c in document["chains_used"]]
    worst, compared = 0.0, 0
    for quantity in document["quantities"]:
        place = re.fullmatch(r"theta\[(\d+)\]", quantity["name"])
        if not place and quantity["name"] != "log_sigma":
            continue
        column = int(place.group(1)) if place else chains[0].shape[1] - 1
        draws = numpy.stack([numpy.asarray(chain[:length, column], dtype=float) for chain in chains])
        if quantity.get("reason") == "constant":
            continue  # defined by us: ESS 0, R-hat NaN
        for name, expected in of_arviz(draws).items():
            expected = float(expected)
            worst = max(worst, abs(quantity[name] - expected) / max(1.0, abs(expected)))
            compared += 1
    print(f"{compared} numbers compared with ArviZ {arviz.__version__}, largest relative difference {worst:.2g}")
    return 0 if compared > 0 and worst <= 1e-6 else 1


sys.exit(main())
