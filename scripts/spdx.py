#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Licence lines: `scripts/spdx.py` names the sources without one (exit status 1), `scripts/spdx.py --fix` writes them.

Left out are files that documents show as they stand (examples/extending) and data.
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TAG = "SPDX-License-Identifier: Apache-2.0"
SLASHES, HASH = (".cpp", ".hpp"), (".py", ".sh", ".cmake", ".toml", ".cff")


def main() -> int:
    if sys.argv[1:] not in ([], ["--fix"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    lacking = 0
    for name in listed:
        path = ROOT / name
        sign = "//" if path.suffix in SLASHES else "#" if path.suffix in HASH or path.name == "CMakeLists.txt" else ""
        if not sign or name.startswith(("examples/extending/", "data/", "tests/data/")) or path.suffix == ".cff":
            continue
        text = path.read_text("utf-8")
        if TAG in text:
            continue
        lacking += 1
        if "--fix" not in sys.argv:
            print(name)
            continue
        lines = text.split("\n")
        lines.insert(1 if lines[0].startswith("#!") else 0, f"{sign} {TAG}")
        path.write_text("\n".join(lines), "utf-8")
    return 1 if lacking and "--fix" not in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
