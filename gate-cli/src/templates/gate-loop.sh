#!/usr/bin/env bash
# Runs an agent until gate says that the work is done, or that the loop must stop.
#
#   ./gate-loop.sh PROMPT.md AGENT [ARGS…]       e.g. ./gate-loop.sh PROMPT.md claude -p
#
# The agent reads its prompt from the standard input: PROMPT.md, the completion
# protocol, and what gate found missing last time. MAX_ITERATIONS (100) bounds the
# loop. If the agent ran into a limit of its service, the loop waits until the limit is
# over, but no more than MAX_WAIT (21600) seconds. Exit code: 0 the work is done;
# otherwise it is not: gate's code (2 or 5 nothing decided, 3 tripped, 4 blocked), 127 if
# gate is missing.
set -euo pipefail

[[ $# -ge 2 && -f $1 && -r $1 && -n $2 ]] || { echo 'usage: gate-loop.sh PROMPT.md AGENT [ARGS…]' >&2; exit 2; }
prompt=$1
shift

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
: >"$folder/feedback"

limit=${MAX_ITERATIONS:-100}
retry_at=
for ((iteration = 1; iteration <= limit; iteration++)); do
  for ((waited = 0; waited < ${MAX_WAIT:-21600}; waited++)); do
    [[ $(date -u +%Y-%m-%dT%H:%M:%SZ) < $retry_at ]] || break
    ((waited)) || echo "gate-loop: waiting until $retry_at" >&2
    sleep 1
  done

  protocol=$(gate prompt) # with the iteration's token, if settings require one
  { cat "$prompt"; printf '\n%s\n\n' "$protocol"; cat "$folder/feedback"; } >"$folder/prompt"

  agent=0
  "$@" <"$folder/prompt" | tee "$folder/output" || agent=${PIPESTATUS[0]}

  verdict=0
  gate check --json --agent-exit-code "$agent" --feedback "$folder/feedback" "$folder/output" \
    >"$folder/decision" || verdict=$?
  if grep -q '"gate.decision' "$folder/decision"; then
    gate last && : # shows it; its code is the verdict again
  fi
  if ((verdict != 1)); then # 1 is the only code on which a loop goes on
    exit "$verdict"
  fi
  retry_at=$(sed -n 's/.*"retry_at": *"\([^"]*\)".*/\1/p' "$folder/decision")
done

echo "gate-loop: STOP, not done: $limit iterations" >&2
exit 3
