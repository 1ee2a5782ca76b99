#!/usr/bin/env bash
# A loop around Claude Code, in one session: each iteration goes on where the last one
# stopped, with what gate found missing.
#
#   ./claude-loop.sh "Add the CSV export."
#
# CLAUDE names another program than claude. LOOP names the loop (claude-loop): if several
# loops run in one project, give each its own name. MAX_ITERATIONS (20) bounds the loop.
# If the service limits Claude Code, the loop waits until the limit is over, but no more
# than MAX_WAIT (21600) seconds.
# Exit code: 0 the work is done; otherwise gate's code: it is not (3 at the bound, too).
set -euo pipefail

[[ $# -eq 1 && -n $1 ]] || { echo 'usage: claude-loop.sh TASK' >&2; exit 2; }
limit=${MAX_ITERATIONS:-20}
claude=("${CLAUDE:-claude}" -p --output-format json)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

session= feedback= retry_at=
for ((iteration = 1; iteration <= limit; iteration++)); do
  for ((waited = 0; waited < ${MAX_WAIT:-21600}; waited++)); do
    [[ $(date -u +%Y-%m-%dT%H:%M:%SZ) < $retry_at ]] || break
    ((waited)) || echo "claude-loop: waiting until $retry_at" >&2
    sleep 1
  done

  number=(--run "${LOOP:-claude-loop}" --iteration "$iteration")
  ((iteration > 1)) || number+=(--new-run) # a new start is a new run
  prompt=$feedback # a session that goes on knows the task
  [[ -n $session ]] || prompt=$1$'\n\n'$(gate prompt "${number[@]}")$'\n\n'$feedback
  agent=0
  "${claude[@]}" ${session:+--resume "$session"} <<<"$prompt" >"$folder/output" || agent=$?

  verdict=0
  gate check "${number[@]}" --agent-exit-code "$agent" --feedback "$folder/feedback" "$folder/output" || verdict=$?
  ((verdict == 1)) || exit "$verdict" # 1 is the only code on which a loop goes on

  feedback=$(cat "$folder/feedback")
  id=$(grep -o '"session_id":"[^"]*"' "$folder/output" | tail -n 1 | cut -d '"' -f 4) || id=
  session=${id:-$session}
  # The code of `gate last` is the verdict again.
  retry_at=$(gate last --run "${LOOP:-claude-loop}" --json | sed -n 's/.*"retry_at": *"\([^"]*\)".*/\1/p') || :
done

echo "claude-loop: STOP, not done: $limit iterations" >&2
exit 3
