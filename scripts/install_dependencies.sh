#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what a fresh Debian 12 or 13 machine lacks to build smile.cpp (as root, or through sudo). Installs nothing that is
# there already. With "--tests" also what the tests need, with "--torch" LibTorch, for -DSMILE_WITH_TORCH=ON and its tests,
# with "--python" what `pip install .` needs, with "--fuzz" Clang for scripts/fuzz.sh, with "--cluster" Slurm, for
# the long test of a cluster of one node.
set -euo pipefail

packages=(g++ cmake ninja-build pkg-config zlib1g-dev libjpeg-dev libpng-dev libyaml-cpp-dev libfmt-dev nlohmann-json3-dev libcli11-dev
          libboost-dev libboost-math-dev librandom123-dev libhwy-dev libeigen3-dev libnetcdf-dev)
for argument in "$@"; do
  case "$argument" in
    --tests) packages+=(libgtest-dev libgmock-dev python3 python3-numpy r-cran-posterior netcdf-bin chromium openmpi-bin mpich) ;;
    --cluster) packages+=(slurm-wlm munge) ;;
    --torch) packages+=(libtorch-dev libopenblas0-pthread python3-torch python3-numpy) ;;
    --fuzz) packages+=(clang python3) ;;
    --python) packages+=(python3-dev python3-venv ccache doxygen) ;;
    *) echo "error: $argument: unknown option; use --tests, --torch, --python, --fuzz, --cluster or nothing" >&2; exit 2 ;;
  esac
done

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q "install ok installed" || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "error: packages: ${missing[*]} are missing and this is neither root nor a machine with sudo; install them as root" >&2; exit 2; }
  as_root=(sudo)
fi
echo "Installing: ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
