# SPDX-License-Identifier: Apache-2.0
"""Errors with a place, a cause and a mend."""

from __future__ import annotations


class SmileError(Exception):
    """What went wrong, in one line: ``place: cause; mend``.

    Attributes
    ----------
    place, cause, mend : str
        Where it is, what is wrong, and what can be done about it.
    """

    def __init__(self, place: str, cause: str, mend: str) -> None:
        super().__init__(f"{place}: {cause}; {mend}")
        self.place, self.cause, self.mend = place, cause, mend

    def __reduce__(self):
        return type(self), (self.place, self.cause, self.mend)


class InputError(SmileError, ValueError):
    """Wrong data, options or use; nothing has been changed."""


class RunError(SmileError, RuntimeError):
    """A run that failed or cannot go on; what it wrote stays."""
