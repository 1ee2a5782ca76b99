#!/usr/bin/env python3
"""Claims of agents beside the results of a verifier: how often "done" was said, and how often in vain.

    claims_beside_verifier.py JOB...

Each JOB is a folder of Harbor's, in which a trial has its `result.json` and `agent/trajectory.json`.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import exit_gate


def share(part: int, whole: int) -> str:
    """A share with Wilson's interval at 95 %."""
    if whole == 0:
        return "0 of 0"
    z, rate = 1.959964, part / whole
    middle = (rate + z * z / (2 * whole)) / (1 + z * z / whole)
    half = z / (1 + z * z / whole) * math.sqrt(rate * (1 - rate) / whole + (z / (2 * whole)) ** 2)
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return f"{part} of {whole} = {rate:.0%} ({low:.0%} to {high:.0%})"


def reward_of(trial: Path) -> float | None:
    """The verifier's reward; None if the trial has none, as one that was ended early."""
    try:
        result = json.loads((trial / "result.json").read_text(encoding="utf-8"))
        return float(result["verifier_result"]["rewards"]["reward"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def main(jobs: list[str]) -> None:
    trajectories = []
    for job in jobs:
        trajectories_of_job = sorted(Path(job).rglob("agent/trajectory.json"))
        if not trajectories_of_job:
            sys.exit(f"{job}: there is no trial with an agent/trajectory.json")
        trajectories += trajectories_of_job
    audit = exit_gate.audit(trajectories)
    claimed = {item["file"] for item in audit["items"]}
    trials = claims = false_claims = 0
    for trajectory in trajectories:
        trial = trajectory.parent.parent
        reward = reward_of(trial)
        row = exit_gate.judge(trajectory.read_bytes(), file=str(trajectory))
        if reward is None or row["error"]:
            print(f"left out   {trial}: nothing was verified or read", file=sys.stderr)
            continue
        says_done, is_done = str(trajectory) in claimed, reward >= 1
        trials += 1
        claims += says_done
        false_claims += says_done and not is_done
        words = "claimed" if says_done else "-"
        print(f"{words:8} {'solved' if is_done else 'unsolved':9} {row['verdict']:9} {trial.name}")
    print(f"claimed done  {share(claims, trials)}")
    print(f"false claims  {share(false_claims, claims)}")


if __name__ == "__main__":
    main(sys.argv[1:] or sys.exit(__doc__))
