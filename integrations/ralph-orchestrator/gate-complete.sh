#!/usr/bin/env bash
# A `pre.loop.complete` hook for ralph-orchestrator: aborts the end of a loop in which
# gate-backend.sh did not hear "exit" last, as when a hat has a backend of its own.
#
# Any exit code but 0 aborts where the hook is configured with `on_error: block`, also
# that of a missing gate.
set -euo pipefail

# The event on stdin: {"phase_event":"pre.loop.complete","loop":{"id":…},…}
loop=$(grep -o '"loop" *: *{[^}]*' | grep -o '"id" *: *"[^"]*"' | head -n 1 | cut -d '"' -f 4) || loop=

exec gate last --run "ralph-${loop:-loop}"
