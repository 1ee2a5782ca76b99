#!/usr/bin/env python3
"""Runs an agent until gate says that the work is done, or that the loop must stop.

    ./gate-loop.py PROMPT.md AGENT [ARGS...]     e.g. ./gate-loop.py PROMPT.md claude -p

The agent reads its prompt from the standard input: PROMPT.md, the completion
protocol, and what gate found missing last time. MAX_ITERATIONS (100) bounds the
loop. If the agent ran into a limit of its service, the loop waits until the limit is
over, but no more than MAX_WAIT (21600) seconds. Exit code: 0 the work is done;
otherwise it is not: gate's code (2 or 5 nothing decided, 3 tripped, 4 blocked), 127 if
gate is missing.
"""

import json
import os
import pathlib
import subprocess
import sys
import time

GOES_ON = 1  # the only code on which a loop goes on


def run_agent(command: list[str], prompt: str) -> subprocess.CompletedProcess:
    done = subprocess.run(command, input=prompt, text=True, errors="replace", stdout=subprocess.PIPE)
    sys.stdout.write(done.stdout)
    sys.stdout.flush()
    return done


def decide(output: str, agent_exit_code: int) -> tuple[int, dict]:
    command = ["gate", "check", "--json", "--agent-exit-code", str(agent_exit_code), "-"]
    done = subprocess.run(command, input=output, text=True, errors="replace", stdout=subprocess.PIPE)
    return done.returncode, json.loads(done.stdout or "{}")


def wait_until(retry_at: str) -> None:
    for waited in range(int(os.environ.get("MAX_WAIT", "21600"))):
        if time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()) >= retry_at:
            return
        if waited == 0:
            print(f"gate-loop: waiting until {retry_at}", file=sys.stderr)
        time.sleep(1)


def main(prompt_file: str, *agent: str) -> int:
    task = pathlib.Path(prompt_file)
    limit = int(os.environ.get("MAX_ITERATIONS", "100"))
    feedback = retry_at = ""
    for _ in range(limit):
        wait_until(retry_at)
        # With the iteration's token, if settings require one.
        protocol = subprocess.run(["gate", "prompt"], text=True, stdout=subprocess.PIPE, check=True).stdout
        done = run_agent(list(agent), f"{task.read_text(encoding='utf-8')}\n{protocol}\n{feedback}")
        code, decision = decide(done.stdout, done.returncode)
        if code != GOES_ON:
            for reason in decision.get("reasons", []):
                print(f"gate-loop: {decision['verdict']}: {reason['message']}", file=sys.stderr)
            return code
        feedback = decision["feedback"]
        retry_at = decision.get("retry_at") or ""
    print(f"gate-loop: STOP, not done: {limit} iterations", file=sys.stderr)
    return 3


if __name__ == "__main__":
    if len(sys.argv) < 3 or not os.path.isfile(sys.argv[1]):
        print("usage: gate-loop.py PROMPT.md AGENT [ARGS...]", file=sys.stderr)
        sys.exit(2)
    try:
        sys.exit(main(*sys.argv[1:]))
    except FileNotFoundError as missing:
        print(f"gate-loop: STOP, not done: {missing}", file=sys.stderr)
        sys.exit(127)
    except (OSError, ValueError) as unusable:  # the prompt, a setting, an answer
        print(f"gate-loop: STOP, not done: {unusable}", file=sys.stderr)
        sys.exit(2)
    except subprocess.CalledProcessError as failed:
        sys.exit(failed.returncode)
    except KeyboardInterrupt:
        sys.exit(130)
