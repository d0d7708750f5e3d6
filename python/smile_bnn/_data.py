# SPDX-License-Identifier: Apache-2.0
"""From arrays and data frames to the columns that the library reads where they lie."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._errors import InputError

#: (name, numbers, words by code)
Column = tuple[str, np.ndarray, list[str]]

_IN_PLACE = (np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.int64))


def is_frame(X: Any) -> bool:
    """Whether X is a data frame of pandas (or quacks like one)."""
    return hasattr(X, "columns") and hasattr(X, "dtypes") and hasattr(X, "iloc")


def _is_words(series: Any) -> bool:
    kind = getattr(series.dtype, "kind", "O")
    return kind not in "fiub" or str(series.dtype) == "category"


def has_words(X: Any) -> bool:
    """Whether some column of a frame holds words or categories."""
    return any(_is_words(X.iloc[:, j]) for j in range(X.shape[1]))


def numbers(values: np.ndarray) -> np.ndarray:
    """The array itself where its numbers are read in place, else a copy in double precision."""
    return values if values.dtype in _IN_PLACE else values.astype(np.float64)


def coded(values: Any, name: str) -> Column:
    """Words become codes of their sorted list."""
    try:
        import pandas as pd

        missing = np.asarray(pd.isna(values))
    except ImportError:
        missing = np.array([v is None for v in values])
    words = np.asarray(values, dtype=object)
    if missing.any():
        raise InputError(
            f"column {name}, row {int(np.argmax(missing))}",
            "missing value in a column of words, which have no mean",
            "fill it in or leave the row out",
        )
    for row, word in enumerate(words):
        if not isinstance(word, (str, bytes, int, float, np.generic, bool)):
            raise TypeError(
                f"column {name}, row {row}: argument must be a string or a number, not {type(word).__name__!r}"
            )
    text = np.array([str(word) for word in words], dtype=object)
    names, codes = np.unique(text.astype(str), return_inverse=True)
    return name, codes.astype(np.int64), [str(word) for word in names]


def columns_of(X: Any) -> list[Column]:
    """The columns of a two-dimensional array or of a frame."""
    if is_frame(X):
        columns: list[Column] = []
        for j, name in enumerate(X.columns):
            series = X.iloc[:, j]
            if _is_words(series):
                columns.append(coded(series, str(name)))
            else:
                columns.append((str(name), numbers(series.to_numpy()), []))
        return columns
    X = numbers(X)
    return [(f"column{j + 1}", X[:, j], []) for j in range(X.shape[1])]


def target_name(y: Any, taken: list[str]) -> str:
    """The series' own name, or ``target``, made different from those of the features."""
    name = str(getattr(y, "name", None) or "target")
    while name in taken:
        name += "_"
    return name
