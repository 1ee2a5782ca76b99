#!/usr/bin/env python3
"""Makes transcripts from a fixed seed: small ones and long ones, and some that are damaged.

    make.py FOLDER [SMALL [LONG]]

FOLDER gets `files/`, `parquet/` with the same bytes in a column `transcript` beside their `file`, and
`list.txt`. As a default there are 100,000 of 10 KB and 200 of 5 MB.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

KB = 1000
SMALL_BYTES, LONG_BYTES = 10 * KB, 5000 * KB
# Bytes of transcripts in one Parquet file.
FILE_BYTES = 50_000 * KB
WORDS = """the parser reads each line and keeps its place so that an error names it a test for dates before
1970 fails with a panic in the writer I will look at the failing case next then run the suite again the
remaining work is in the importer and two tests are red all tests pass now nothing is left to do because
of the new index lookups take less time""".split()
LAST = [
    "All tasks are completed.\n\nEXIT_STATUS: COMPLETE",
    "EXIT_STATUS: CONTINUE\nREMAINING: the writer",
    "EXIT_STATUS: BLOCKED\nREASON: no access to the database",
    "Everything is implemented and all tests pass.",
    "When its tests pass I will write EXIT_STATUS: COMPLETE.",
    "<promise>DONE</promise>",
]


def prose(rng: random.Random, length: int) -> str:
    lines, size = [], 0
    while size < length:
        line = " ".join(rng.choices(WORDS, k=rng.randint(5, 18)))
        lines.append(line)
        size += len(line) + 1
    return "\n".join(lines)


def claude(rng: random.Random, session: str, length: int) -> str:
    def record(kind: str, content: list[dict[str, object]]) -> str:
        message = {"role": kind, "content": content}
        return json.dumps({"type": kind, "session_id": session, "message": message})

    lines = [json.dumps({"type": "system", "subtype": "init", "session_id": session, "model": "m"})]
    size, step = 0, 0
    while size < length:
        step += 1
        call = {"type": "tool_use", "id": f"t{step}", "name": "Bash", "input": {"command": "cargo test"}}
        answer = {"type": "tool_result", "tool_use_id": f"t{step}", "content": prose(rng, length // 20)}
        lines.append(record("assistant", [{"type": "text", "text": prose(rng, 200)}, call]))
        lines.append(record("user", [answer]))
        size += len(lines[-1]) + len(lines[-2])
    result = rng.choice(LAST)
    lines.append(record("assistant", [{"type": "text", "text": result}]))
    lines.append(json.dumps({"type": "result", "session_id": session, "result": result}))
    return "\n".join(lines) + "\n"


def loop(rng: random.Random, length: int) -> str:
    """A log with three iterations."""
    parts = (
        f"=== Iteration {number} of 3 ===\n{prose(rng, length // 3)}\n{rng.choice(LAST)}\n"
        for number in (1, 2, 3)
    )
    return "".join(parts)


def damaged(rng: random.Random, text: bytes) -> bytes:
    at = rng.randrange(len(text))
    kinds = [
        lambda: text[:at] + b"\xff\xfe\xc3" + text[at:],
        lambda: text[:at],
        lambda: text[:at] + b"\0\0\0" + text[at:],
        lambda: b"",
        lambda: b'{"some": "other json"}\n' * 3,
        lambda: b"[" * 5000,
    ]
    return rng.choice(kinds)()


def transcript(number: int, length: int) -> bytes:
    rng = random.Random(number)
    kinds = [
        lambda: prose(rng, length) + "\n" + rng.choice(LAST) + "\n",
        lambda: claude(rng, f"s-{number}", length),
        lambda: loop(rng, length),
    ]
    text = rng.choices(kinds, weights=[45, 50, 5])[0]().encode()
    return damaged(rng, text) if number % 50 == 7 else text


def transcripts(small: int, long: int) -> Iterator[tuple[str, bytes]]:
    # The long ones stand among the others, as in real collections.
    every = max(1, small // long) if long else small + 1
    made = 0
    for number in range(small):
        yield f"files/{number // 1000:03}/{number:06}.log", transcript(number, SMALL_BYTES)
        if number % every == every // 2 and made < long:
            yield f"files/long/{made:06}.log", transcript(1_000_000 + made, LONG_BYTES)
            made += 1


def main(folder: Path, small: int = 100_000, long: int = 200) -> None:
    (folder / "parquet").mkdir(parents=True)
    names: list[str] = []
    rows: list[tuple[str, bytes]] = []
    size = 0

    def write() -> None:
        columns = [
            pa.array([name for name, _ in rows]),
            pa.array([text for _, text in rows], pa.large_binary()),
        ]
        table = pa.Table.from_arrays(columns, ["file", "transcript"])
        pq.write_table(table, folder / "parquet" / f"{len(names):06}.parquet", compression="zstd")
        rows.clear()

    for name, text in transcripts(small, long):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
        names.append(name)
        rows.append((name, text))
        size += len(text)
        if size > FILE_BYTES:
            write()
            size = 0
    write()
    (folder / "list.txt").write_text("\n".join(names) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
