#!/usr/bin/env python3
"""Puts one draw of a run back into the network it came from, and compares its outputs with those the run has kept.

    load_draw.py RUN NETWORK.pt FOLDER [--chain 0] [--draw 0]

The run was made with `evaluations: [PredSaver]`, so that eval/outputs-KK.npy has the logits of every draw.
"""
import argparse
import json
import pathlib

import numpy
import torch

from train import load


def put_draw(network, run, chain, draw):
    """The ten lines that matter: names and places of the parameters are in parameters.json."""
    row = numpy.load(pathlib.Path(run) / f"samples/chain-{chain:02}.npy", mmap_mode="r")[draw]
    state = network.state_dict()
    for entry in json.loads((pathlib.Path(run) / "parameters.json").read_text()):
        size = int(numpy.prod(entry["shape"]))
        values = row[entry["offset"]:entry["offset"] + size].reshape(entry["shape"])
        state[entry["name"]] = torch.from_numpy(numpy.array(values)).reshape(state[entry["name"]].shape)
    network.load_state_dict(state)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run")
    parser.add_argument("network")
    parser.add_argument("folder")
    parser.add_argument("--chain", type=int, default=0)
    parser.add_argument("--draw", type=int, default=0)
    options = parser.parse_args()
    network = torch.jit.load(options.network)
    put_draw(network, options.run, options.chain, options.draw)
    kept = numpy.load(pathlib.Path(options.run) / f"eval/outputs-{options.chain:02}.npy", mmap_mode="r")[options.draw]
    images, labels = load(options.folder, "t10k")
    with torch.no_grad():
        logits = torch.cat([network(batch) for batch in images.split(500)]).numpy()
    ours = numpy.array(kept).reshape(-1, logits.shape[1])
    difference = float(numpy.abs(logits[:len(ours)] - ours).max() / max(1.0, numpy.abs(ours).max()))
    print(f"largest difference {difference:.2e}, accuracy {(logits.argmax(1) == labels.numpy()).mean():.4f}")
    return 0 if difference < 1e-5 else 1


if __name__ == "__main__":
    raise SystemExit(main())
