"""Judging past transcripts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Union

from . import _gate

if TYPE_CHECKING:
    import pyarrow as pa

Config = Union[str, "os.PathLike[str]", Mapping[str, Any], None]
"""Settings: the path of a gate.toml, or a dict of its keys; None for gate's own defaults.

No other settings are read, neither of the machine nor of the folder and the environment, so that a
transcript has the same verdict everywhere.
"""

Text = Union[str, bytes, bytearray, memoryview]

# A table of pyarrow, or what exports Arrow's stream.
Table = Any

# Settings in force at once in one process; each keeps its compiled patterns.
_WARM_JUDGES = 16


def _settings(config: Config) -> tuple[str, str]:
    """The settings as TOML, and their name in errors."""
    if config is None:
        return "", "config"
    if isinstance(config, Mapping):
        return _gate.settings_from_json(json.dumps(config)), "config"
    path = os.fspath(config)
    with open(path, encoding="utf-8") as file:
        return file.read(), path


@lru_cache(maxsize=_WARM_JUDGES)
def _warm(settings: str, origin: str, format: str | None) -> _gate.Judge:
    return _gate.Judge(settings, origin, format)


class Judge:
    """A gate with its settings, made ready once for many transcripts.

    It may be used by any number of threads at once, which run in parallel, and it can be pickled: the
    other process judges by the same settings, whatever lies on its disk.

    Raises `UsageError` if the settings are wrong.
    """

    def __init__(self, config: Config = None, *, format: str | None = None) -> None:
        self._open(*_settings(config), format)

    def _open(self, settings: str, origin: str, format: str | None) -> None:
        self._state = (settings, origin, format)
        self._judge = _warm(settings, origin, format)

    def __getstate__(self) -> tuple[str, str, str | None]:
        return self._state

    def __setstate__(self, state: tuple[str, str, str | None]) -> None:
        self._open(*state)

    @property
    def policy_digest(self) -> str:
        """The digest of the policy, as rows and decisions name it."""
        return self._judge.policy_digest

    def judge(self, text: Text, *, file: str = "") -> dict[str, Any]:
        """The row of a transcript's last iteration; see `exit_gate.judge`."""
        return self._judge.last_row(_plain(text), file)

    def judge_iterations(self, text: Text, *, file: str = "") -> list[dict[str, Any]]:
        """The rows of all iterations of a transcript; see `exit_gate.judge_iterations`."""
        return self._judge.rows(_plain(text), file)

    def judge_batch(self, table: Table, column: str = "text", *, file: str | None = None) -> pa.RecordBatch:
        """The transcripts in a column, judged; see `exit_gate.judge_batch`."""
        import pyarrow as pa

        if isinstance(table, pa.RecordBatch):
            return self._judge.batch(table, column, file)
        table = pa.table(table)
        # A table without rows has no batch, but columns.
        batches = table.to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]
        return _joined([self._judge.batch(batch, column, file) for batch in batches])

    def sweep(
        self,
        table: Table | Iterable[Table],
        column: str = "text",
        *,
        label: str | None = None,
    ) -> list[dict[str, int]]:
        """The numbers of verdicts under each threshold; see `exit_gate.sweep`."""
        totals: list[dict[str, int]] = []
        for batch in _batches(table):
            counts = self._judge.sweep(batch, column, label)
            totals = totals or [dict.fromkeys(count, 0) for count in counts]
            for total, count in zip(totals, counts):
                for name, number in count.items():
                    total[name] += number
        return [{"threshold": threshold, **total} for threshold, total in enumerate(totals)]


def judge(text: Text, *, config: Config = None, format: str | None = None, file: str = "") -> dict[str, Any]:
    """Judges a transcript, and returns the row of its last iteration, as `gate replay --json` prints it.

    `text` is a transcript of any format that gate knows, or the plain output of an agent. `format` names
    the format or the agent, if it is not to be detected. `file` is the transcript's name in the row.
    """
    return Judge(config, format=format).judge(text, file=file)


def judge_iterations(
    text: Text, *, config: Config = None, format: str | None = None, file: str = ""
) -> list[dict[str, Any]]:
    """Judges a transcript, and returns a row for each iteration: the log of a loop holds many."""
    return Judge(config, format=format).judge_iterations(text, file=file)


def judge_batch(
    table: Table,
    column: str = "text",
    *,
    config: Config = None,
    format: str | None = None,
    file: str | None = None,
) -> pa.RecordBatch:
    """Judges the transcripts in a column of texts or bytes. `table` is one of pyarrow, or exports Arrow's
    stream, as relations of DuckDB do.

    The result has a row for each iteration, with the other columns of its transcript, and with

    - `gate_iteration` (uint64): its number in the transcript, from 1;
    - `gate_verdict` (string): null if the transcript could not be read;
    - `gate_reasons` (list of string): the codes of the reasons;
    - `gate_error` (string): the code of the failure, else null. A null among the transcripts is one;
    - `gate_row` (large_string): the whole row as JSON, as `gate replay --json` prints it.

    `file` names the column with the transcripts' names. Bytes that are not UTF-8 are read as the program
    reads them. Memory is that of the batch and of its rows.
    """
    return Judge(config, format=format).judge_batch(table, column, file=file)


def sweep(
    table: Table | Iterable[Table],
    column: str = "text",
    *,
    label: str | None = None,
    config: Config = None,
    format: str | None = None,
) -> list[dict[str, int]]:
    """Counts the verdicts on the transcripts in a column under each threshold from 0 to 8.

    `label` names the column with the right answers: `exit`, `claims-done`, `continue`, `blocked`,
    `unrelated`, or null. It is about the last iteration. Each dict has the threshold and the numbers
    `iterations`, `exits`, `right_exits`, `right_refusals`, `false_exits`, `missed_exits`, `unclear`.
    Tables of an iterable are read one after the other, so together they need not fit in memory.
    """
    return Judge(config, format=format).sweep(table, column, label=label)


def audit(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], *, config: Config = None
) -> dict[str, Any]:
    """Finds the claims in transcripts and the checks behind them, as `gate audit --json` does.

    `paths` are files, folders and globs.
    """
    named = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    return _gate.audit(named, *_settings(config))


def _plain(text: Text) -> str | bytes:
    if isinstance(text, (bytearray, memoryview)):
        return bytes(text)
    if isinstance(text, str):
        # A lone surrogate has no bytes; a file could not hold it either.
        return text.encode("utf-8", "replace")
    return text


def _batches(table: Any) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    is_one = hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__")
    for one in [table] if is_one else table:
        yield from [one] if isinstance(one, pa.RecordBatch) else pa.table(one).to_batches()


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    import pyarrow as pa

    if len(batches) == 1:
        return batches[0]
    columns = [
        pa.concat_arrays([batch.column(position) for batch in batches])
        for position in range(batches[0].num_columns)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=batches[0].schema)
