# SPDX-License-Identifier: Apache-2.0
"""``python -m smile_bnn …`` and the command ``smile``: the program that the wheel holds."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def program() -> Path:
    """Where the program lies."""
    return Path(__file__).parent / "bin" / "smile"


def main() -> int:
    """Becomes the program, with the arguments of this process."""
    path = program()
    if not path.exists():
        print(f"error: {path}: the program is not there; install smile-bnn again", file=sys.stderr)
        return 1
    os.execv(path, ["smile", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
