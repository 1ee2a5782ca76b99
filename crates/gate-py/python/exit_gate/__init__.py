"""gate for Python: judges transcripts of coding agents in the process that has them.

    import exit_gate

    row = exit_gate.judge(open("session.jsonl", "rb").read())
    row["verdict"]  # 'exit', 'continue', …

Rows are those of `gate replay --json`: one for each iteration of a transcript. No check runs, so a
verdict is about what the agent wrote. `check` asks the program, which runs the project's checks.
"""

from __future__ import annotations

from ._errors import GateError, InternalError, UsageError
from ._gate import __version__
from ._judge import Config, Judge, audit, judge, judge_batch, judge_iterations, sweep
from ._program import check, program

__all__ = [
    "Config",
    "GateError",
    "InternalError",
    "Judge",
    "UsageError",
    "__version__",
    "audit",
    "check",
    "judge",
    "judge_batch",
    "judge_iterations",
    "program",
    "sweep",
]
