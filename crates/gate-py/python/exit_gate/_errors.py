"""gate's failures as exceptions. Each has the fields of `gate.error.v1`."""

from __future__ import annotations

from typing import Any


class GateError(Exception):
    """gate could not answer.

    `code` is one of gate's codes; `gate explain CODE` says more about it.
    """

    code: str
    message: str
    file: str | None
    line: int | None
    key: str | None
    hint: str | None

    def __init__(self, failure: dict[str, Any]) -> None:
        super().__init__(failure)
        self.code = failure["code"]
        self.message = failure["message"]
        self.file = failure.get("file")
        self.line = failure.get("line")
        self.key = failure.get("key")
        self.hint = failure.get("hint")

    def __str__(self) -> str:
        place = f"line {self.line}: " if self.line and self.file else ""
        place = f"{self.file}: {place}" if self.file and self.file not in self.message else place
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.code}: {place}{self.message}{hint}"


class UsageError(GateError):
    """Something that the caller has to put right: exit code 2 of the program."""


class InternalError(GateError):
    """Something that went wrong in gate or on the machine: exit code 5 of the program."""


def raised(failure: dict[str, Any]) -> GateError:
    """The exception for a failure, by its exit code."""
    kind = UsageError if failure.get("exit_code") == 2 else InternalError
    return kind(failure)
