"""The examples that use the package."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from conftest import ROOT

TRAJECTORY = {
    "schema_version": "ATIF-v1.7",
    "session_id": "s",
    "agent": {"name": "a", "version": "1"},
    "steps": [{"step_id": 1, "source": "agent", "message": "The fix is not finished."}],
}


def claims_beside_verifier(job: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "examples/claims_beside_verifier.py", job]
    return subprocess.run(command, capture_output=True, text=True)


def test_trials_without_a_reward_are_left_out(tmp_path):
    results = {
        "running": None,
        "cut": "{",
        "unverified": {"verifier_result": None},
        "unrewarded": {"verifier_result": {"rewards": None}},
        "other": {"verifier_result": {"rewards": {"speed": 1.0}}},
        "solved": {"verifier_result": {"rewards": {"reward": 1.0}}},
    }
    for name, result in results.items():
        trial = tmp_path / name
        (trial / "agent").mkdir(parents=True)
        (trial / "agent/trajectory.json").write_text(json.dumps(TRAJECTORY))
        if result is not None:
            (trial / "result.json").write_text(result if isinstance(result, str) else json.dumps(result))
    ran = claims_beside_verifier(tmp_path)
    assert (ran.returncode, ran.stderr.count("left out")) == (0, 5), ran.stderr
    assert ran.stdout.splitlines()[0].split() == ["-", "solved", "continue", "solved"]


def test_a_folder_without_trials_is_an_error(tmp_path):
    ran = claims_beside_verifier(tmp_path)
    assert ran.returncode == 1
    assert "there is no trial" in ran.stderr
