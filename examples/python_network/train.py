#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small network on images in IDX files (Fashion-MNIST) and saves it as TorchScript, for `smile run`.

    train.py FOLDER OUT.pt [--epochs 3] [--images 10000] [--seed 0]

Needs PyTorch (Debian: python3-torch) and NumPy. What matters for sampling: the module is scripted in evaluation mode and
has no layer that mixes the rows of a batch (no BatchNorm); its parameters, by their names, become the sampled vector.
"""
import argparse
import gzip
import pathlib

import numpy
import torch


def idx(path):
    """The array of an IDX file, packed or not."""
    packed = path.with_name(path.name + ".gz")
    data = gzip.open(packed).read() if packed.exists() else path.read_bytes()
    shape = [int.from_bytes(data[4 + 4 * i:8 + 4 * i], "big") for i in range(data[3])]
    return numpy.frombuffer(data, numpy.uint8, offset=4 + 4 * len(shape)).reshape(shape)


def load(folder, part):
    """Images in [0, 1] as [N, 1, H, W], and labels."""
    folder = pathlib.Path(folder)
    images, labels = idx(folder / f"{part}-images-idx3-ubyte"), idx(folder / f"{part}-labels-idx1-ubyte")
    return torch.from_numpy(images[:, None].astype(numpy.float32) / 255), torch.from_numpy(labels.astype(numpy.int64))


class Network(torch.nn.Module):
    def __init__(self, classes: int):
        super().__init__()
        self.features = torch.nn.Sequential(
            torch.nn.Conv2d(1, 8, 3, padding=1), torch.nn.GELU(), torch.nn.AvgPool2d(2),
            torch.nn.Conv2d(8, 16, 3, padding=1), torch.nn.GELU(), torch.nn.AdaptiveAvgPool2d(4))
        self.head = torch.nn.Linear(16 * 16, classes)

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("out")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--images", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    x, y = load(options.folder, "train")
    x, y = x[:options.images], y[:options.images]
    network = Network(int(y.max()) + 1)
    optimizer = torch.optim.AdamW(network.parameters(), lr=0.003)
    for epoch in range(options.epochs):
        order = torch.randperm(len(x))
        for rows in order.split(64):
            loss = torch.nn.functional.cross_entropy(network(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.3f}")
    torch.jit.script(network.eval()).save(options.out)


if __name__ == "__main__":
    main()
