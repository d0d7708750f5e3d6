#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds against the LibTorch of a Python installation and checks this library on its GPU: unit tests on the device, the
# time of a step and the share of the sampler's own work, and a short run. Under eight minutes with a build folder that
# has the core already; the first build takes longer.
#
#   scripts/gpu_check.sh [BUILD_FOLDER]      PYTHON=python3 and JOBS=$(nproc) can be set from outside
#
# DEVICE=cpu is a rehearsal of the script itself where there is no GPU.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
jobs=${JOBS:-$(nproc)}
device=${DEVICE:-cuda}
build=${1:-build/gpu}
# A wheel with CUDA wants CMake 3.27 or newer (its CUDA20 dialect); `pip install cmake` beside PyTorch brings one.
cmake=cmake
beside=$(dirname "$(command -v "$python" || echo "$python")")/cmake
[ ! -x "$beside" ] || cmake=$beside

if [ "$device" = cuda ] && ! "$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
  echo "error: PyTorch of $python: it is missing or finds no CUDA device; install one with CUDA, or set PYTHON" >&2
  exit 2
fi
prefix=$("$python" -c 'import torch; print(torch.utils.cmake_prefix_path)')
abi=$("$python" -c 'import torch; print(int(torch._C._GLIBCXX_USE_CXX11_ABI))')
if [ "$abi" != 1 ]; then
  echo "error: PyTorch: built with the old C++ ABI, which GTest, yaml-cpp and fmt of this system do not have; install a PyTorch with the new one (2.6 or later)" >&2
  exit 2
fi
"$python" -c 'import torch; print("PyTorch", torch.__version__, "CUDA", torch.version.cuda, torch.cuda.get_device_name() if torch.cuda.is_available() else "no device")'

"$cmake" -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSMILE_WITH_TORCH=ON -DSMILE_BUILD_BENCHMARKS=ON -DCMAKE_PREFIX_PATH="$prefix"
"$cmake" --build "$build" --target smile_program unit_torch bench_network_step -j "$jobs"

echo "== unit tests: CPU and CUDA agree"
timeout 120 "$build/tests/unit_torch" --gtest_brief=1

echo "== steps"
networks=(resnet18 vit gpt) steps=30
[ "$device" = cuda ] || { networks=(lenet) steps=5; }
timeout 150 "$build/bench/bench_network_step" --device "$device" --steps "$steps" "${networks[@]}"

echo "== a short run of psmile on the device"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" - "$work" <<'PY'
import pathlib, random, struct, sys
random.seed(1)
folder = pathlib.Path(sys.argv[1])
for part, count in (("train", 2000), ("t10k", 500)):
    labels = [i % 4 for i in range(count)]
    pixels = bytearray()
    for label in labels:
        for y in range(28):
            for x in range(28):
                bright = (y < 14) == (label // 2 == 0) and (x < 14) == (label % 2 == 0)
                pixels.append((130 if bright else 60) + random.randrange(120))
    (folder / f"{part}-images-idx3-ubyte").write_bytes(struct.pack(">4I", 2051, count, 28, 28) + pixels)
    (folder / f"{part}-labels-idx1-ubyte").write_bytes(struct.pack(">2I", 2049, count) + bytes(labels))
PY
cat > "$work/config.yaml" <<YAML
data: {path: $work, data_type: image, task: class, train_split: 0.8, valid_split: 0.195, test_split: 0.005}
model: {model: LeNet, activation: gelu}
training:
  warmstart: {max_epochs: 5, batch_size: 128}
  sampler: {name: psmile, step_size: 0.001, n_chains: 2, batch_size: 256, warmup_steps: 100, n_samples: 200, n_thinning: 10}
YAML
timeout 120 "$build/bin/smile" run "$work/config.yaml" --out "$work/run" --device "$device"
