#!/usr/bin/env bash
# A backend for ralph-orchestrator: the loop sees the completion promise only when gate
# says "exit". See ralph.yml beside it.
#
# The agent gives the promise as the last line of its text or as an event (`ralph emit`).
# This script keeps both back until gate has looked at the work:
#
#   exit            the promise goes through, and the loop ends
#   continue        the promise is dropped, and the event `task.resume` tells the agent why
#   any other code  the loop is asked to stop, which ends it without success
#
# An iteration without the promise passes as it is. GATE_PROMISE names the promise where
# `event_loop.completion_promise` is not LOOP_COMPLETE. The agent's program is GATE_BACKEND,
# or the first argument if that is no option, or claude. Needs gate and jq; their
# diagnostics are in .ralph/gate-backend.log, for the loop reads standard error, too.
set -euo pipefail

if [[ -n ${GATE_BACKEND:-} ]]; then
  agent=("$GATE_BACKEND" "$@")
elif [[ ${1:--} == -* ]]; then
  agent=(claude "$@")
else
  agent=("$@")
fi

promise=${GATE_PROMISE:-LOOP_COMPLETE}
loop=${RALPH_WORKSPACE_ROOT:-$PWD}/.ralph
mkdir -p "$loop"
log=$loop/gate-backend.log
run=ralph-$(cat "$loop/current-loop-id" 2>/dev/null || echo loop)
events=${RALPH_EVENTS_FILE:-$loop/events.jsonl}
before=$(($(cat "$events" 2>/dev/null | wc -c)))
folder=$(mktemp -d)
: >"$folder/claims"
settled=
check=

# Moves the promise out of the events of this iteration.
take_events() {
  [[ -f $events ]] || return 0
  local topic='try (fromjson | .topic) catch null'
  tail -c "+$((before + 1))" "$events" >"$folder/new"
  jq -Rr --arg promise "$promise" "select(($topic) == \$promise)" "$folder/new" >>"$folder/claims"
  {
    head -c "$before" "$events"
    jq -Rr --arg promise "$promise" "select(($topic) != \$promise)" "$folder/new"
  } >"$folder/events"
  cat "$folder/events" >"$events"
}

# Ended by the loop or by a person: nobody has looked at the work.
finish() {
  [[ -z $check ]] || kill "$check" 2>/dev/null || true
  [[ -n $settled ]] || take_events 2>>"$log"
  rm -rf "$folder"
}
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# Shows the agent's output without the promise. After a line that tells of an event the
# loop ends its backend soon, so that word goes as well.
show() {
  local line
  while IFS= read -r line || [[ -n $line ]]; do
    if [[ $line == *"$promise"* ]]; then
      line=${line//"$promise"/(kept back by gate)}
      line=${line//Event emitted:/Event:}
    fi
    printf '%s\n' "$line"
  done
}

# The agent's own text, of a stream of Claude Code's or of plain output.
text() {
  if [[ $format == stream ]]; then
    jq -Rr 'fromjson? | objects | select(.type == "assistant" and .parent_tool_use_id == null)
      | .message.content[]? | select(.type == "text") | .text' "$folder/output"
  else
    cat "$folder/output"
  fi
}

# Lets the promise through in the way in which the agent gave it.
release() {
  if [[ -s $folder/claims ]]; then
    tail -n 1 "$folder/claims" >>"$events"
  elif [[ $format == stream ]]; then
    jq -cn --arg text "$promise" '{type: "assistant", message: {content: [{type: "text", text: $text}]}}'
  else
    printf '%s\n' "$promise"
  fi
}

ended=0
"${agent[@]}" | tee "$folder/output" | show || ended=${PIPESTATUS[0]}

format=plain
[[ $(head -c 1 "$folder/output" | tr -d '\0') != '{' ]] || format=stream
take_events 2>>"$log"
last=$(text 2>>"$log" | awk 'NF { last = $0 } END { gsub(/^[ \t\r]+|[ \t\r]+$/, "", last); print last }')
if [[ ! -s $folder/claims && $last != "$promise" ]]; then
  settled=yes
  exit "$ended"
fi

{
  text 2>>"$log" | { grep -vxF -- "$promise" || true; }
  printf '\nEXIT_STATUS: COMPLETE\n'
} >"$folder/said"
: >"$folder/feedback"
gate check --quiet --format text --run "$run" --agent-exit-code "$ended" \
  --feedback "$folder/feedback" "$folder/said" >>"$log" 2>&1 &
check=$!
ticks=0
while kill -0 "$check" 2>/dev/null; do
  sleep 0.2
  # The loop ends a backend that is silent for long.
  ((++ticks % 300)) || echo 'gate: the checks are running'
done
code=0
wait "$check" || code=$?
check=

case $code in
  0) release ;;
  1)
    echo 'gate: the promise was dropped; the next iteration hears why'
    jq -cn --rawfile why "$folder/feedback" --arg now "$(date -u +%Y-%m-%dT%H:%M:%SZ)" \
      '{topic: "task.resume", payload: "gate did not take the completion (\($now)).\n\n\($why)", ts: $now}' >>"$events"
    ;;
  *)
    echo "gate: it ended with code $code, so the loop is asked to stop; run: gate last --run $run"
    : >"$loop/stop-requested"
    ;;
esac
settled=yes
exit "$ended"
