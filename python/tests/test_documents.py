# SPDX-License-Identifier: Apache-2.0
"""What the documents show is what happens: README, notebook, reference."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

#: The repository, or what of it was copied beside the tests where it cannot be seen.
_SHIPPED = Path(os.environ.get("SMILE_DOCUMENTS", Path(__file__).parent / "shipped"))
ROOT = _SHIPPED if _SHIPPED.is_dir() else Path(__file__).resolve().parents[2]


def _needs(path: str) -> Path:
    found = ROOT / path
    if not found.exists():
        pytest.skip(f"{path} is not here")
    return found


def test_the_lines_of_the_readme(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    text = _needs("README.md").read_text("utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, flags=re.S)
    (tmp_path / "data" / "uci").mkdir(parents=True)
    shutil.copy(_needs("data/uci/airfoil.data"), tmp_path / "data" / "uci")
    env = {**os.environ, "MPLBACKEND": "Agg"}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report.html").stat().st_size > 10000
    assert "<svg" in (tmp_path / "calibration.svg").read_text("utf-8")


def test_the_notebook(tmp_path):
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    notebook = nbformat.read(_needs("python/notebooks/quick-start.ipynb"), as_version=4)
    shutil.copy(_needs("data/uci/airfoil.data"), tmp_path)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = str(notebook.cells)
    for words in ("before sampling", "image/png", "report.html", "layer0.weight"):
        assert words in shown


@pytest.mark.docs
def test_the_reference_is_built_without_warnings(tmp_path):
    pytest.importorskip("sphinx", reason="Sphinx is not installed")
    source = _needs("docs/python")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(source), str(tmp_path / "html")],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "html" / "estimators.html").read_text("utf-8")
    for name in ("SmileRegressor.fit", "SmileClassifier.predict_proba", "smile_bnn.load"):
        assert f'id="smile_bnn.{name}"' in page or f'id="{name}"' in page


def test_every_public_name_is_documented():
    import smile_bnn

    text = "".join(path.read_text("utf-8") for path in _needs("docs/python").glob("*.rst"))
    for name in smile_bnn.__all__:
        assert name == "__version__" or re.search(rf"^\.\. auto\w+:: {name}$", text, flags=re.M), name
        assert getattr(smile_bnn, name).__doc__ or name == "__version__"
