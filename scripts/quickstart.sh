#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh Debian 12 or 13 machine to calibrated predictions: installs what is missing, builds the program, and runs
# psmile-auto on the airfoil data (ten warm-started chains, about a minute on two cores).
set -euo pipefail
cd "$(dirname "$0")/.."

./scripts/install_dependencies.sh
cmake --preset release -DSMILE_BUILD_TESTS=OFF -DSMILE_BUILD_EXAMPLES=OFF -B build/quickstart >/dev/null
cmake --build build/quickstart --target smile_program
exec build/quickstart/bin/smile run configs/uci/airfoil/psmile-auto-small.yaml "$@"
