# SPDX-License-Identifier: Apache-2.0
"""What `verbose` shows: a bar of tqdm on terminals and in notebooks, lines in logs."""

from __future__ import annotations

import math
import sys
import time
from typing import Any


def _has_bar() -> bool:
    """Whether someone looks: a terminal, or a notebook."""
    if sys.stderr.isatty():
        return True
    ipython = sys.modules.get("IPython")
    return "ipykernel" in sys.modules and ipython is not None and ipython.get_ipython() is not None


class Shown:
    """Progress and messages of one fit."""

    #: Seconds between two lines where there is no bar.
    EVERY = 10.0

    def __init__(self) -> None:
        self._bar: Any = None
        self._phase = ""
        self._line = 0.0
        try:
            from tqdm.auto import tqdm

            self._tqdm: Any = tqdm if _has_bar() else None
        except ImportError:
            self._tqdm = None

    def progress(
        self,
        phase: str,
        done: int,
        total: int,
        unit: str,
        per_second: float,
        log_density: float,
        step_size: float,
        finished: bool,
    ) -> None:
        facts = {}
        if math.isfinite(log_density):
            facts["log-density"] = f"{log_density:.6g}"
        if math.isfinite(step_size):
            facts["ε"] = f"{step_size:.3g}"
        if self._tqdm is None:
            now = time.monotonic()
            if finished or now - self._line >= self.EVERY:
                self._line = now
                text = "".join(f", {name} {value}" for name, value in facts.items())
                self._say(f"{phase}: {done} of {total} {unit}, {per_second:.0f}/s{text}")
            return
        if self._bar is None or phase != self._phase:
            self.close()
            self._phase = phase
            self._bar = self._tqdm(total=total, desc=phase, unit=f" {unit}", unit_scale=True)
        self._bar.total = total
        self._bar.set_postfix(facts, refresh=False)
        self._bar.update(done - self._bar.n)
        if finished:
            self.close()

    def message(self, text: str) -> None:
        if self._bar is not None:
            self._bar.write(text, file=sys.stderr)
        else:
            self._say(text)

    def _say(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
