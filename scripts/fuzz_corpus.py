#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the corpora of the fuzzers from files of the repository and one small run.

    scripts/fuzz_corpus.py SMILE FOLDER     SMILE: the program; FOLDER/NAME gets the first inputs of fuzz_NAME
"""
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import zlib

root = pathlib.Path(__file__).resolve().parent.parent
program, corpora = sys.argv[1], pathlib.Path(sys.argv[2])


def add(target, name, content):
    folder = corpora / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


def png(width, height, colour, depth=8):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    rows = b"".join(b"\0" + bytes((i + y) % 4 for i in range((width * channels * depth + 7) // 8)) for y in range(height))
    palette = chunk(b"PLTE", bytes(range(12))) if colour == 3 else b""
    header = struct.pack(">2I5B", width, height, depth, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + palette + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def npy(kind, shape, data, version=1):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    length = 2 if version == 1 else 4
    header += b" " * (63 - (len(header) + 8 + length) % 64) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + len(header).to_bytes(length, "little") + header + data


for path in sorted((root / "configs").rglob("*.yaml"))[::6] + sorted((root / "tests/robustness/config/files").glob("*.yaml")):
    add("configuration", "-".join(path.relative_to(root).parts), path.read_bytes())
for choice in (0, 1, 3, 4, 8, 16):
    for path in sorted((root / "tests/data/awkward").iterdir()):
        add("table", f"{choice}-{path.name}", bytes([choice]) + path.read_bytes()[:2000])
for kind, size in (("<f4", 4), ("<f8", 8), ("<i8", 8), ("|u1", 1), ("<f2", 2), ("<u2", 2), ("|b1", 1)):
    for version in (1, 2):
        add("numpy", f"{kind[1:]}-{version}.npy", npy(kind, (3, 4), bytes(i % 2 for i in range(12 * size)), version))
add("numpy", "empty.npy", npy("<f4", (0, 4), b""))
pixels = bytes(k % 251 for k in range(2 * 3 * 4))
add("idx", "images", struct.pack(">4I", 2051, 2, 3, 4) + pixels)
add("idx", "labels", struct.pack(">2I", 2049, 5) + bytes(range(5)))
for name, label in (("ten", 1), ("hundred", 2)):
    add("cifar", name, b"".join(bytes([3] * label) + bytes(k % 256 for k in range(3072)) for _ in range(2)))
for colour, depth in ((0, 8), (0, 16), (0, 1), (2, 8), (3, 8), (3, 2), (4, 8), (6, 8), (6, 16)):
    add("picture", f"{colour}-{depth}.png", png(5, 3, colour, depth))
# A baseline JPEG of one grey block: headers and tables are where readers go wrong.
tables = b"\xff\xdb\x00\x43\x00" + bytes([1] * 64)
frame = b"\xff\xc0\x00\x0b\x08\x00\x08\x00\x08\x01\x01\x11\x00"
huffman = b"".join(b"\xff\xc4\x00\x14" + bytes([kind, 1] + [0] * 15 + [0]) for kind in (0x00, 0x10))
exif = b"\xff\xe1\x00\x22Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"
scan = b"\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00\x3f\xff\xd9"
add("picture", "grey.jpg", b"\xff\xd8" + tables + frame + huffman + scan)
add("picture", "turned.jpg", b"\xff\xd8" + exif + tables + frame + huffman + scan)

with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    (folder / "table.data").write_text("".join(f"{i % 7} {i % 5} {(i % 7) * 0.3 - (i % 5) * 0.1:.2f}\n" for i in range(60)))
    (folder / "config.yaml").write_text(
        f"rng: 3\ndata: {{path: {folder}/table.data, task: mean_regr}}\nmodel: {{hidden_structure: [2, 1]}}\ntraining:\n"
        "  warmstart: {max_epochs: 2, batch_size: 16}\n"
        "  sampler: {name: psmile, batch_size: 16, n_chains: 2, warmup_steps: 8, n_samples: 8, n_thinning: 2}\n")
    run = folder / "run"
    subprocess.run([program, "run", folder / "config.yaml", "--out", run, "--quiet", "--no-report"], check=True, stdout=subprocess.DEVNULL)
    files = sorted(path for path in run.rglob("*") if path.is_file() and path.name != "run.log")
    packed = b"".join(b"=== " + str(path.relative_to(run)).encode() + b"\n" + path.read_bytes() + b"\n" for path in files)
    add("run_folder", "whole", packed)
    for left_out in ("status.json", "eval/", "checkpoint/", "warmstart/", "network.json", "samples/"):
        rest = [path for path in files if not str(path.relative_to(run)).startswith(left_out)]
        add("run_folder", "without-" + re.sub(r"\W", "", left_out), b"".join(
            b"=== " + str(path.relative_to(run)).encode() + b"\n" + path.read_bytes() + b"\n" for path in rest))
    for index, file in enumerate(("eval/metrics.json", "eval/chains.json", "progress.json", "status.json", "network.json",
                                  "trace/chain-00-draws.csv")):
        add("run_json", file.replace("/", "-"), bytes([index]) + (run / file).read_bytes())
    for path in run.rglob("*.npz"):
        add("npz", path.name, path.read_bytes())
    for path in run.rglob("*.npy"):
        add("numpy", path.name, path.read_bytes())
    for path in run.rglob("*.bin"):
        add("checkpoint", path.name, path.read_bytes())
        add("checkpoint", path.name + "-inside", path.read_bytes()[32:])
