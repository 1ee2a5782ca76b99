"""Packages that only some of the functions need."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def pyarrow() -> Any:
    return _imported("pyarrow", "arrow")


def ray_data() -> Any:
    return _imported("ray.data", "ray")


def _imported(module: str, extra: str) -> Any:
    """The module, which comes with this extra of the wheel."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        hint = f"install the wheel with its extra `{extra}`: pip install './exit_gate-….whl[{extra}]'"
        raise ModuleNotFoundError(f"{error}; {hint}", name=error.name) from None
