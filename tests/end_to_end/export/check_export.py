#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads what `smile export` wrote with readers of its own (Python's standard library; ArviZ and PyTorch where they are
installed) and compares it with the run's files.   check_export.py RUN FORMAT PATH [--per-draw] [--every N]
Prints a line that says what was compared; any difference is an AssertionError."""
import argparse
import array
import ast
import collections
import csv
import io
import json
import math
import os
import pickle
import re
import struct
import subprocess
import zipfile


def read_npy(content):
    assert content[:6] == b"\x93NUMPY"
    size, start = (struct.unpack("<H", content[8:10])[0], 10) if content[6] == 1 else (
        struct.unpack("<I", content[8:12])[0], 12)
    header = ast.literal_eval(content[start:start + size].decode())
    assert header["descr"] == "<f4" and not header["fortran_order"], header
    values = array.array("f")
    values.frombytes(content[start + size:])
    assert len(values) == math.prod(header["shape"]), (len(values), header)
    return header["shape"], values


class Run:
    def __init__(self, folder, every):
        self.folder = folder
        with open(os.path.join(folder, "parameters.json")) as file:
            self.tensors = json.load(file)
        self.chains = []
        for name in sorted(os.listdir(os.path.join(folder, "samples"))):
            if name.startswith("chain-"):
                with open(os.path.join(folder, "samples", name), "rb") as file:
                    (rows, columns), values = read_npy(file.read())
                self.chains.append([values[i * columns:(i + 1) * columns] for i in range(0, rows, every)])
        self.places = list(range(0, rows, every))

    def shape(self, tensor):
        return (len(self.chains), len(self.chains[0])) + tuple(tensor["shape"])

    def stacked(self, tensor):
        """All values of a tensor, chain by chain, draw by draw."""
        out, size = array.array("f"), math.prod(tensor["shape"])
        for chain in self.chains:
            for draw in chain:
                out += draw[tensor["offset"]:tensor["offset"] + size]
        return out

    def single(self, tensor, chain, draw):
        return self.chains[chain][draw][tensor["offset"]:tensor["offset"] + math.prod(tensor["shape"])]


def check_npz(run, path):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert sorted(archive.namelist()) == sorted(t["name"] + ".npy" for t in run.tensors)
        for tensor in run.tensors:
            shape, values = read_npy(archive.read(tensor["name"] + ".npy"))
            assert tuple(shape) == run.shape(tensor), shape
            assert values == run.stacked(tensor), tensor["name"]


def read_safetensors(path):
    with open(path, "rb") as file:
        content = file.read()
    size = struct.unpack("<Q", content[:8])[0]
    assert size % 8 == 0
    header = json.loads(content[8:8 + size])
    header.pop("__metadata__")
    tensors, end = {}, 0
    for name, entry in header.items():
        begin, stop = entry["data_offsets"]
        assert entry["dtype"] == "F32" and begin == end, entry
        values = array.array("f")
        values.frombytes(content[8 + size + begin:8 + size + stop])
        tensors[name] = (tuple(entry["shape"]), values)
        end = stop
    assert 8 + size + end == len(content)
    return tensors


def read_torch(path):
    """The dictionary of torch.save, without PyTorch."""
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        root = archive.namelist()[0].split("/")[0]
        assert archive.read(root + "/version") == b"3\n"
        with open(path, "rb") as file:
            for info in archive.infolist():
                if "/data/" in info.filename:  # aligned, as torch.save does
                    file.seek(info.header_offset + 26)
                    name, extra = struct.unpack("<HH", file.read(4))
                    assert (info.header_offset + 30 + name + extra) % 64 == 0, info

        class Reader(pickle.Unpickler):
            def find_class(self, module, name):
                known = {("collections", "OrderedDict"): collections.OrderedDict,
                         ("torch", "FloatStorage"): "float",
                         ("torch._utils", "_rebuild_tensor_v2"): rebuild}
                return known[module, name]

            def persistent_load(self, identity):
                kind, dtype, key, device, count = identity
                assert (kind, dtype, device) == ("storage", "float", "cpu")
                values = array.array("f")
                values.frombytes(archive.read(f"{root}/data/{key}"))
                assert len(values) == count
                return values

        def rebuild(storage, offset, shape, strides, needs_gradient, hooks):
            assert offset == 0 and not needs_gradient and not hooks
            expected, stride = [], 1
            for length in reversed(shape):
                expected.insert(0, stride)
                stride *= length
            assert tuple(expected) == strides, (shape, strides)
            return shape, storage

        return Reader(io.BytesIO(archive.read(root + "/data.pkl"))).load()


def torch_name(name):
    return re.sub(r"^layer(\d+)\.", lambda match: f"{2 * int(match[1])}.", name)


def check_tensors(run, path, per_draw, ending, read, name_of):
    if not per_draw:
        tensors = read(path)
        assert list(tensors) == [name_of(t["name"]) for t in run.tensors]
        for tensor in run.tensors:
            shape, values = tensors[name_of(tensor["name"])]
            assert shape == run.shape(tensor), shape
            assert values == run.stacked(tensor), tensor["name"]
        return
    assert len(os.listdir(path)) == len(run.chains) * len(run.places)
    for chain in range(len(run.chains)):
        for draw, place in enumerate(run.places):
            tensors = read(os.path.join(path, f"chain-{chain:02}-draw-{place:06}.{ending}"))
            for tensor in run.tensors:
                shape, values = tensors[name_of(tensor["name"])]
                assert shape == tuple(tensor["shape"]) and values == run.single(tensor, chain, draw)


def check_csv(run, path):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0][:3] == ["chain", "draw", "layer0.weight[0,0]"] and rows[0][-1] == "log_sigma", rows[0]
    assert len(rows) == 1 + len(run.chains) * len(run.places)
    at = 1
    for chain, draws in enumerate(run.chains):
        for place, draw in zip(run.places, draws):
            assert rows[at][:2] == [str(chain), str(place)]
            assert array.array("f", map(float, rows[at][2:])) == draw
            at += 1


class NcDump:
    """The text of ncdump, taken apart."""

    def __init__(self, path):
        text = subprocess.run(["ncdump", "-p", "9,17", path], check=True, capture_output=True, text=True).stdout
        self.groups = dict(re.findall(r"^group: (\w+) \{\n(.*?)\n  \} // group", text, re.M | re.S))

    def header(self, group):
        return self.groups[group].split("\n  data:\n")[0]

    def values(self, group, variable):
        data = self.groups[group].split("\n  data:\n")[1]
        body = re.search(rf"^\s*{re.escape(variable)} =([^;]*);", data, re.M)[1]
        return [value.strip().rstrip("b") for value in body.split(",")]


def trace_of(run, chain):
    with open(os.path.join(run.folder, "trace", f"chain-{chain:02}-draws.csv"), newline="") as file:
        return list(csv.DictReader(file))


TRAINING = ["posterior_predictive", "observed_data", "log_likelihood"]


def check_netcdf(run, path, log_likelihood, training_rows):
    dump = NcDump(path)
    # What the posterior is conditioned on has its own groups: test rows never stand there.
    expected = ["posterior", "sample_stats", "predictions", "predictions_constant_data"]
    expected += ["predictions_log_density"] * log_likelihood + TRAINING * training_rows
    assert list(dump.groups) == expected, list(dump.groups)
    statistics = dump.header("sample_stats")
    for declared in ["byte diverging(chain, draw)", "double step_size(chain, draw)", "double energy_error(chain, draw)",
                     ':inference_library = "smile.cpp"']:
        assert declared in statistics, statistics
    assert "y(chain, draw, row)" in dump.header("predictions")
    assert list(map(int, dump.values("posterior", "draw"))) == run.places
    for tensor in run.tensors:
        values = array.array("f", map(float, dump.values("posterior", tensor["name"])))
        assert values == run.stacked(tensor), tensor["name"]
    traces = [[trace_of(run, chain)[place] for place in run.places] for chain in range(len(run.chains))]
    for name, column in [("step_size", "step_size"), ("energy_error", "energy_change"), ("lp", "log_density")]:
        wanted = [row[column] for trace in traces for row in trace]
        for value, text in zip(dump.values("sample_stats", name), wanted, strict=True):
            assert (value in ("NaN", "_") and text == "") or math.isclose(float(value), float(text)), (value, text)
    resets = list(map(int, dump.values("sample_stats", "resets")))
    assert sum(resets) == sum(int(trace[-1]["refused_so_far"]) for trace in traces)
    assert min(resets) >= 0
    diverging = list(map(int, dump.values("sample_stats", "diverging")))
    assert set(diverging) <= {0, 1}
    rows = len(dump.values("predictions_constant_data", "y"))
    drawn = list(map(float, dump.values("predictions", "y")))
    draws = len(run.chains) * len(run.places)
    assert len(drawn) == rows * draws
    if training_rows:
        check_training_rows(run, dump, draws)
    with_arviz(run, path, log_likelihood, training_rows)


def check_training_rows(run, dump, draws):
    """The effective number of parameters of WAIC: not negative, not above the number of parameters, as that of rows
    the posterior has seen is and that of others is not."""
    training = set(dump.values("observed_data", "row"))
    assert not training & set(dump.values("predictions_constant_data", "row"))
    rows = len(training)
    assert len(dump.values("posterior_predictive", "y")) == rows * draws
    pointwise = array.array("d", map(float, dump.values("log_likelihood", "y")))
    assert len(pointwise) == rows * draws
    p_waic = 0.0
    for row in range(rows):
        of_row = pointwise[row::rows]
        mean = sum(of_row) / draws
        p_waic += sum((value - mean) ** 2 for value in of_row) / (draws - 1)
    parameters = sum(math.prod(tensor["shape"]) for tensor in run.tensors)
    assert 0 < p_waic < parameters, (p_waic, parameters)
    print(f"p_waic {p_waic:.1f} of {parameters} parameters on {rows} training rows")


def with_arviz(run, path, log_likelihood, training_rows):
    try:
        import arviz
        import numpy
    except ImportError:
        print("ArviZ is not installed; checked with ncdump")
        return
    data = arviz.from_netcdf(path)
    assert data.posterior.sizes["chain"] == len(run.chains) and data.posterior.sizes["draw"] == len(run.places)
    first = run.tensors[0]
    values = numpy.asarray(data.posterior[first["name"]], dtype="float32").ravel()
    assert (values == numpy.frombuffer(run.stacked(first), dtype="float32")).all()
    assert data.sample_stats.diverging.dtype == bool
    summary = arviz.summary(data, var_names=["log_sigma"])
    assert "r_hat" in summary.columns and len(summary) == 1
    # The predictive draws surround the targets.
    y = data.predictions_constant_data.y.values
    drawn = data.predictions.y.values.reshape(-1, y.size)
    inside = ((numpy.quantile(drawn, 0.05, axis=0) <= y) & (y <= numpy.quantile(drawn, 0.95, axis=0))).mean()
    with open(os.path.join(run.folder, "eval", "metrics.json")) as file:
        metrics = {row["name"]: row["sampling"] for row in json.load(file)["metrics"]}
    if len(run.places) > 50:  # quantiles of random draws, against those of the exact mixture
        assert abs(inside - metrics["coverage of 90 % intervals"]) < 0.03, (inside, metrics)
    if log_likelihood:
        pointwise = data.predictions_log_density.y.values.reshape(-1, y.size)
        lppd = (numpy.logaddexp.reduce(pointwise, axis=0) - math.log(len(pointwise))).mean()
        scale = metrics["RMSE, own unit"] / metrics["RMSE"]
        if len(run.places) > 50:
            assert abs(lppd + math.log(scale) - metrics["LPPD"]) < 1e-4, (lppd, metrics["LPPD"])
    if training_rows:
        loo = arviz.loo(data)
        effective = float(getattr(loo, "p_loo", getattr(loo, "p", float("nan"))))
        assert 0 < effective < sum(math.prod(tensor["shape"]) for tensor in run.tensors), loo
    print("opened by ArviZ", arviz.__version__)


def with_torch(run, path, per_draw):
    try:
        import torch
    except ImportError:
        print("PyTorch is not installed; checked with a reader of the standard library")
        return
    first = run.tensors[0]
    if not per_draw:
        tensors = torch.load(path)
        assert tuple(tensors["0.weight"].shape) == run.shape(first)
        assert tensors["0.weight"].flatten().tolist() == run.stacked(first).tolist()
        return
    widths = [t["shape"] for t in run.tensors if t["name"].endswith(".weight")]
    layers = []
    for i, (outputs, inputs) in enumerate(widths):
        layers += [torch.nn.Linear(inputs, outputs)] + [torch.nn.ReLU()] * (i + 1 < len(widths))
    network = torch.nn.Sequential(*layers)
    network.log_sigma = torch.nn.Parameter(torch.zeros(1))
    network.load_state_dict(torch.load(os.path.join(path, "chain-00-draw-000000.pt")))
    assert network[0].weight.flatten().tolist() == run.single(first, 0, 0).tolist()
    print("opened by PyTorch", torch.__version__)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("run")
    parser.add_argument("format")
    parser.add_argument("path")
    parser.add_argument("--per-draw", action="store_true")
    parser.add_argument("--log-likelihood", action="store_true")
    parser.add_argument("--training-rows", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    given = parser.parse_args()
    run = Run(given.run, given.every)
    if given.format == "npz":
        check_npz(run, given.path)
    elif given.format == "safetensors":
        check_tensors(run, given.path, given.per_draw, "safetensors", read_safetensors, lambda name: name)
    elif given.format == "torch":
        check_tensors(run, given.path, given.per_draw, "pt", read_torch, torch_name)
        with_torch(run, given.path, given.per_draw)
    elif given.format == "csv":
        check_csv(run, given.path)
    else:
        check_netcdf(run, given.path, given.log_likelihood, given.training_rows)
    print(f"{given.format}: {len(run.chains)} chains of {len(run.places)} draws are those of the run")


main()
