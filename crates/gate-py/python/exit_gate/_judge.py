"""Judging past transcripts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Union

from . import _gate
from ._errors import UsageError
from ._extras import pyarrow

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


def _settings(config: Config) -> tuple[str, str | None]:
    """The settings as TOML, and the path of their file if there is one."""
    if config is None:
        return "", None
    if isinstance(config, Mapping):
        return _gate.settings_from_json(json.dumps(config)), None
    path = os.fspath(config)
    try:
        with open(path, encoding="utf-8") as file:
            return file.read(), path
    except OSError as error:
        problem = error.strerror
    except UnicodeDecodeError:
        problem = "it is no UTF-8, as settings have to be"
    message = f"cannot read the settings {path}: {problem}"
    raise UsageError({"code": "config-unreadable", "message": message, "file": path})


@lru_cache(maxsize=_WARM_JUDGES)
def _warm(settings: str, origin: str | None, format: str | None) -> _gate.Judge:
    return _gate.Judge(settings, origin, format)


class Judge:
    """A gate with its settings, made ready once for many transcripts.

    It may be used by any number of threads at once, which run in parallel, and it can be pickled: the
    other process judges by the same settings, whatever lies on its disk.

    Raises `UsageError` if the settings are wrong.
    """

    def __init__(self, config: Config = None, *, format: str | None = None) -> None:
        self._open(*_settings(config), format)

    def _open(self, settings: str, origin: str | None, format: str | None) -> None:
        self._state = (settings, origin, format)
        self._judge = _warm(settings, origin, format)

    def __getstate__(self) -> tuple[str, str | None, str | None]:
        return self._state

    def __setstate__(self, state: tuple[str, str | None, str | None]) -> None:
        self._open(*state)

    @property
    def policy_digest(self) -> str:
        """The digest of the policy, as rows and decisions name it."""
        return self._judge.policy_digest

    def judge(self, text: Text, *, file: str = "") -> dict[str, Any]:
        """The row of a transcript's last iteration; see `exit_gate.judge`."""
        return self._judge.last_row(_plain(text), _name(file))

    def judge_iterations(self, text: Text, *, file: str = "") -> list[dict[str, Any]]:
        """The rows of all iterations of a transcript; see `exit_gate.judge_iterations`."""
        return self._judge.rows(_plain(text), _name(file))

    def judge_batch(self, table: Table, column: str = "text", *, file: str | None = None) -> pa.RecordBatch:
        """The transcripts in a column, judged; see `exit_gate.judge_batch`."""
        return _joined(self._judged(table, column, file))

    def _judged(self, table: Table, column: str, file: str | None) -> list[pa.RecordBatch]:
        """The rows of a table, in no more batches than its chunks and the size of its texts demand."""
        batches = _batches(table)
        return [rows for batch in batches for rows in self._judge.batch(batch, column, file)]

    def sweep(
        self,
        table: Table | Iterable[Table],
        column: str = "text",
        *,
        label: str | None = None,
    ) -> list[dict[str, int]]:
        """The numbers of verdicts under each threshold; see `exit_gate.sweep`."""
        pa = pyarrow()
        # A table without rows has counts, too.
        names = [column] if label is None else [column, label]
        totals = self._judge.sweep(pa.RecordBatch.from_pydict({name: [] for name in names}), column, label)
        for one_table in [table] if _is_table(table) else table:
            for batch in _batches(one_table):
                counts = self._judge.sweep(batch, column, label)
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
    """Judges the transcripts in a column of texts or bytes, or of keys of a dictionary of these. `table` is
    one of pyarrow, or exports Arrow's stream, as relations of DuckDB do.

    The result has a row for each iteration, with the other columns of its transcript, and with

    - `gate_iteration` (uint64): its number in the transcript, from 1;
    - `gate_verdict` (string): null if the transcript could not be read;
    - `gate_reasons` (list of string): the codes of the reasons;
    - `gate_error` (string): the code of the failure, else null. A null among the transcripts is one;
    - `gate_row` (large_string): the whole row as JSON, as `gate replay --json` prints it.

    `file` names the column with the transcripts' names. Bytes that are not UTF-8 are read as the program
    reads them. The chunks of a table become one batch, in which a column of more than 2 GiB has a larger
    type, such as large_string. Memory is that of the table and twice that of its rows; less if its batches
    are judged one by one.
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
    """Counts the verdicts on the transcripts in a column under each threshold from 0 to 8. A null counts
    nowhere.

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

    `paths` are files, folders and globs. Raises `UsageError` if none of them can be read.
    """
    named = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    return _gate.audit(named, *_settings(config))


def _plain(text: Text) -> str | bytes:
    if isinstance(text, (bytearray, memoryview)):
        return bytes(text)
    if isinstance(text, str):
        # A lone surrogate has no bytes; a file could not hold it either.
        return text.encode("utf-8", "replace")
    if not isinstance(text, bytes):
        raise TypeError(f"expected str or bytes, got {type(text).__name__}")
    return text


def _name(file: str) -> str:
    """The name of a file as rows have it. Python has its bytes that are not UTF-8 as surrogates."""
    return os.fspath(file).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _is_table(table: Any) -> bool:
    """Tells a table from an iterable of tables."""
    return isinstance(table, Mapping) or any(
        hasattr(table, name) for name in ("__arrow_c_stream__", "__arrow_c_array__")
    )


def _batches(table: Table) -> list[pa.RecordBatch]:
    """The batches of a table. One without rows has none, but columns: here it has an empty one."""
    pa = pyarrow()
    if isinstance(table, pa.RecordBatch):
        return [table]
    table = pa.table(table)
    return table.to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    import pyarrow as pa

    if len(batches) == 1:
        return batches[0]
    schema = batches[0].schema
    columns = [
        _concatenated([batch.column(position) for batch in batches]) for position in range(len(schema))
    ]
    fields = [field.with_type(column.type) for field, column in zip(schema, columns)]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields, schema.metadata))


def _concatenated(chunks: list[pa.Array]) -> pa.Array:
    import pyarrow as pa

    try:
        return pa.concat_arrays(chunks)
    except pa.ArrowInvalid:
        # Together they exceed the 2 GiB of their type, or the keys of their dictionaries.
        large_type = _large(chunks[0].type)
        return pa.concat_arrays([chunk.cast(large_type) for chunk in chunks])


def _large(type: pa.DataType) -> pa.DataType:
    """The type for the same values without these limits."""
    import pyarrow as pa

    if pa.types.is_dictionary(type):
        return _large(type.value_type)
    if pa.types.is_string(type):
        return pa.large_string()
    if pa.types.is_binary(type):
        return pa.large_binary()
    if pa.types.is_list(type):
        return pa.large_list(type.value_field.with_type(_large(type.value_type)))
    if pa.types.is_struct(type):
        return pa.struct([field.with_type(_large(field.type)) for field in type])
    return type
