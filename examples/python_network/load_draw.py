#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts one draw of a run back into the network it came from, and compares its outputs with those the run has kept.

    smile export RUN --format safetensors --per-draw --out DRAWS
    load_draw.py DRAWS/chain-00-draw-000000.safetensors NETWORK.pt FOLDER --outputs RUN/eval/outputs-00.npy

The run was made with `evaluations: [PredSaver]`, so that eval/outputs-KK.npy has the logits of every draw of chain KK.
"""
import argparse
import json
import pathlib
import re

import numpy
import torch

from train import load


def read_draw(file):
    """The tensors of a safetensors file of float32 numbers; with the package safetensors: safetensors.torch.load_file."""
    content = pathlib.Path(file).read_bytes()
    begin = 8 + int.from_bytes(content[:8], "little")
    tensors = {}
    for name, entry in json.loads(content[8:begin]).items():
        if name != "__metadata__":
            first, last = entry["data_offsets"]
            values = numpy.frombuffer(content[begin + first:begin + last], "<f4").reshape(entry["shape"])
            tensors[name] = torch.from_numpy(values.copy())
    return tensors


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("draw")
    parser.add_argument("network")
    parser.add_argument("folder")
    parser.add_argument("--outputs", required=True)
    options = parser.parse_args()
    network = torch.jit.load(options.network)
    missing, unexpected = network.load_state_dict(read_draw(options.draw), strict=False)
    if unexpected:
        raise SystemExit(f"the network has no {', '.join(unexpected)}")
    number = int(re.search(r"draw-(\d+)", options.draw).group(1))
    ours = numpy.load(options.outputs, mmap_mode="r")[number]
    images, labels = load(options.folder, "t10k")
    with torch.no_grad():
        logits = torch.cat([network(batch) for batch in images.split(500)]).numpy()
    ours = numpy.array(ours).reshape(-1, logits.shape[1])
    difference = float(numpy.abs(logits[:len(ours)] - ours).max() / max(1.0, numpy.abs(ours).max()))
    print(f"largest difference {difference:.2e}, accuracy {(logits.argmax(1) == labels.numpy()).mean():.4f}, "
          f"kept as trained: {', '.join(missing) or 'nothing'}")
    return 0 if difference < 1e-5 else 1


if __name__ == "__main__":
    raise SystemExit(main())
