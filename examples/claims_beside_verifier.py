#!/usr/bin/env python3
"""Claims of agents beside the results of a verifier: how often "done" was said, and how often in vain.

    claims_beside_verifier.py JOB...

Each JOB is a folder of Harbor's, in which a trial has its `result.json` and `agent/trajectory.json`.
"""

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


def main(jobs: list[str]) -> None:
    trajectories = [path for job in jobs for path in sorted(Path(job).rglob("agent/trajectory.json"))]
    audit = exit_gate.audit(trajectories)
    claimed = {item["file"] for item in audit["items"]}
    trials = claims = false_claims = 0
    for trajectory in trajectories:
        trial = trajectory.parent.parent
        verifier = json.loads((trial / "result.json").read_text())["verifier_result"]
        row = exit_gate.judge(trajectory.read_bytes(), file=str(trajectory))
        if verifier is None or row["error"]:
            print(f"left out   {trial}: nothing was verified or read", file=sys.stderr)
            continue
        says_done, is_done = str(trajectory) in claimed, verifier["rewards"]["reward"] >= 1
        trials += 1
        claims += says_done
        false_claims += says_done and not is_done
        words = "claimed" if says_done else "-"
        print(f"{words:8} {'solved' if is_done else 'unsolved':9} {row['verdict']:9} {trial.name}")
    print(f"claimed done  {share(claims, trials)}")
    print(f"false claims  {share(false_claims, claims)}")


if __name__ == "__main__":
    main(sys.argv[1:] or sys.exit(__doc__))
