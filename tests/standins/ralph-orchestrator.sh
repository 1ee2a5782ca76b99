#!/usr/bin/env bash
# A stand-in for the loop ralph-orchestrator: how it calls a backend, reads its text and its
# events, and ends.
#
#   ralph-orchestrator.sh BACKEND [ARGS…]      HOOK is its `pre.loop.complete` hook
set -u
promise=LOOP_COMPLETE
mkdir -p .ralph
echo loop-7 >.ralph/current-loop-id
export RALPH_WORKSPACE_ROOT=$PWD RALPH_EVENTS_FILE=$PWD/.ralph/events-1.jsonl
: >"$RALPH_EVENTS_FILE"
: >.ralph/pending
read=0
fallbacks=0

completes() {
  if ! printf '{"phase_event":"pre.loop.complete","loop":{"id":"loop-7"}}' | "$HOOK"; then
    echo 'terminated: a hook blocked'
    exit 1
  fi
  echo 'terminated: completed'
  exit 0
}

for ((iteration = 1; iteration <= 8; iteration++)); do
  { cat PROMPT.md && echo 'PENDING EVENTS' && cat .ralph/pending; } | "$@" >output 2>&1
  cat output
  if [[ -e .ralph/stop-requested ]]; then
    rm .ralph/stop-requested
    echo 'terminated: stopped'
    exit 1
  fi

  # Of the events of an iteration only the last one can be the promise.
  tail -n "+$((read + 1))" "$RALPH_EVENTS_FILE" >.ralph/new
  read=$(wc -l <"$RALPH_EVENTS_FILE")
  [[ $(tail -n 1 .ralph/new | jq -r '.topic // ""') != "$promise" ]] || completes
  jq -r --arg promise "$promise" 'select(.topic != $promise) | "\(.topic): \(.payload)"' .ralph/new >.ralph/pending

  if [[ $(head -c 1 output) == '{' ]]; then
    text=$(jq -Rr 'fromjson? | select(.type == "assistant") | .message.content[] | select(.type == "text") | .text' output)
  else
    text=$(cat output)
  fi
  [[ $(grep -v '^ *$' <<<"$text" | tail -n 1) != "$promise" ]] || completes

  [[ -s .ralph/pending ]] && fallbacks=0 || ((++fallbacks))
  if ((fallbacks > 3)); then
    echo 'terminated: nothing happens'
    exit 1
  fi
done
echo 'terminated: too many iterations'
exit 2
