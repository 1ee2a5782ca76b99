"""Transcripts, and the rows of the program on the same bytes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import exit_gate
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "bench"))

import make  # noqa: E402

ROOT = Path(__file__).parents[3]

Rows = list[dict[str, Any]]


def untimed(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "duration_ms"}


def in_order(rows: Rows) -> Rows:
    return sorted(map(untimed, rows), key=lambda row: (row["file"], row["iteration"]))


@pytest.fixture(scope="session")
def transcripts() -> list[tuple[str, bytes]]:
    """Transcripts of many formats, those of a loop among them, and damaged ones."""
    samples = [*(ROOT / "tests/transcripts").iterdir(), *(ROOT / "examples/replay").glob("*.*")]
    found = [(f"samples/{path.name}", path.read_bytes()) for path in sorted(samples) if path.is_file()]
    made = list(make.transcripts(300, 0))
    poisoned = [("empty", b""), ("utf8.log", b"\xff\xfeEXIT_STATUS: COMPLETE\n"), ("nul", b"a\0b")]
    return found + made + poisoned


@pytest.fixture(scope="session")
def replayed(
    transcripts: list[tuple[str, bytes]], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Rows]:
    """The rows of `gate replay` on these transcripts, in a folder without settings."""
    folder = tmp_path_factory.mktemp("replayed")
    for name, text in transcripts:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    names = "\n".join(name for name, _ in transcripts)

    def replay(*arguments: str) -> Rows:
        command = [exit_gate.program(), "replay", "--json", *arguments, "-"]
        environment = {"HOME": str(folder), "PATH": "/usr/bin:/bin"}
        ran = subprocess.run(
            command, cwd=folder, input=names, capture_output=True, text=True, env=environment
        )
        return [json.loads(line) for line in ran.stdout.splitlines()]

    return replay
