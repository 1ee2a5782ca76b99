#!/usr/bin/env bash
# A `pre.loop.complete` hook for ralph-orchestrator: the loop may end only where gate's
# checks pass. See ralph.yml beside it.
#
# The orchestrator has seen its completion promise by now, which is the agent's signal;
# what is missing is evidence. Any exit code but 0 keeps the loop from ending where
# the hook is configured with `on_error: block`, also that of a missing gate.
set -euo pipefail

# The event on stdin: {"phase_event":"pre.loop.complete","loop":{"id":…},…}
loop=$(grep -o '"loop" *: *{[^}]*' | grep -o '"id" *: *"[^"]*"' | head -n 1 | cut -d '"' -f 4) || loop=

gate check --format text --run "ralph-${loop:-loop}" - <<'END'
The loop's completion promise was seen: all tasks are completed.

EXIT_STATUS: COMPLETE
EXIT_REASON: the orchestrator saw the completion promise
END
