# SPDX-License-Identifier: Apache-2.0
"""The run folder that a fitted estimator lives in."""

from __future__ import annotations

import io
import json
import os
import shutil
import tarfile
import tempfile
import weakref
from pathlib import Path
from typing import Any

from . import _core


class RunFolder:
    """A run folder: the user's, or a temporary one that goes with the last reference to it.

    Pickling packs the folder's files; unpickling unpacks them into a new temporary folder.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        if path is None:
            top = tempfile.mkdtemp(prefix="smile_bnn-")
            self._finalizer = weakref.finalize(self, shutil.rmtree, top, ignore_errors=True)
            path = Path(top) / "run"
        self.path = Path(path)
        self._opened: _core.FittedRun | None = None

    @property
    def run(self) -> _core.FittedRun:
        """The draws, opened once."""
        if self._opened is None:
            self._opened = _core.FittedRun(str(self.path), incomplete=True)
        return self._opened

    @property
    def info(self) -> dict[str, Any]:
        """What the run was made of."""
        return self.run.info()

    def json(self, name: str) -> Any:
        """A file of the evaluation, or None where there is none."""
        path = self.path / "eval" / name
        return json.loads(path.read_text("utf-8")) if path.exists() else None

    def copy_to(self, path: Path) -> None:
        """Copies the run to a folder that is not there or empty."""
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            from ._errors import InputError

            raise InputError(str(path), "there is something already", "choose a new folder")
        shutil.copytree(self.path, path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("lock"))

    def __getstate__(self) -> dict[str, Any]:
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            archive.add(self.path, arcname="run", filter=lambda m: None if m.name == "run/lock" else m)
        return {"files": packed.getvalue()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__()  # type: ignore[misc]
        with tarfile.open(fileobj=io.BytesIO(state["files"])) as archive:
            try:
                archive.extractall(self.path.parent, filter="data")
            except TypeError:  # Python before 3.10.12 and 3.11.4 has no filters
                archive.extractall(self.path.parent)
