"""The program `gate`, which this package carries."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from typing import Any

from ._errors import InternalError, UsageError, raised

# Exit codes of `gate check` after which nothing was decided.
_NOTHING_DECIDED = (2, 5)


def program() -> str:
    """The path of the program `gate`: of this environment, else of PATH.

    Raises `FileNotFoundError` if there is none.
    """
    name = "gate.exe" if sys.platform == "win32" else "gate"
    folders = [sysconfig.get_path("scripts")]
    user_scheme = sysconfig.get_preferred_scheme("user") if sys.version_info >= (3, 10) else None
    if user_scheme:
        folders.append(sysconfig.get_path("scripts", user_scheme))
    for folder in folders:
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK):
            return path
    on_path = shutil.which("gate")
    if on_path is None:
        raise FileNotFoundError(f"there is no program gate in {', '.join(folders)} and on PATH")
    return on_path


def check(
    project: str | os.PathLike[str],
    transcript: str | os.PathLike[str] | None = None,
    *,
    message: str | None = None,
    arguments: list[str] | None = None,
    timeout: float | None = None,
) -> dict[str, Any]:
    """Decides in a project as `gate check --json` does: its settings count, and its checks run.

    `transcript` is the path of a transcript; `message` is the agent's last message instead of one.
    `arguments` are further ones of `gate check`, such as `["--run", "nightly"]`. The dict is a decision
    (`gate.decision.v1`); its `verdict` is `exit` if the loop may end.

    Raises `GateError` if nothing was decided, and `subprocess.TimeoutExpired` after `timeout` seconds.
    """
    command = [program(), "-C", os.fspath(project), "check", "--json", *(arguments or [])]
    if (transcript is None) == (message is None):
        raise TypeError("give either a transcript or a message")
    if transcript is None:
        command.append("-")
    else:
        command += ["--", os.path.abspath(transcript)]
    ran = subprocess.run(command, input=message or "", capture_output=True, encoding="utf-8", timeout=timeout)
    try:
        record: dict[str, Any] = json.loads(ran.stdout)
    except ValueError:
        if ran.returncode == 0:
            message = f"`gate check` decides nothing with {' '.join(arguments or [])}"
            raise UsageError({"code": "usage", "message": message}) from None
        last = ran.stderr.strip().rsplit("\n", 1)[-1]
        failure = {"code": "defect", "message": f"gate ended with code {ran.returncode}: {last}"}
        raise InternalError(failure) from None
    if ran.returncode in _NOTHING_DECIDED:
        raise raised(record)
    return record
