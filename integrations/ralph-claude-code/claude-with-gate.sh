#!/usr/bin/env bash
# Claude Code for ralph-claude-code: the loop ends with success only when gate says "exit".
#
#   CLAUDE_CODE_CMD=/path/to/claude-with-gate.sh ralph
#
# That loop ends on the status block in its agent's output, on words in that output, on
# the boxes of .ralph/fix_plan.md and on counters of its own. Until gate says "exit":
#
#   - the loop gets a short status with EXIT_SIGNAL: false instead of the output;
#   - its counters in .ralph/.exit_signals are empty;
#   - a plan whose boxes are ticked gets an open one as its first line while no agent runs;
#   - gate's feedback is added to the agent's next prompt.
#
# When gate says "exit", the loop ends with success before it calls the agent again. When
# gate ends with any code but 0 and 1, the loop's circuit breaker opens, and it halts.
#
# Needs gate and jq. GATE_CLAUDE names another program than claude. The diagnostics of
# gate and of the agent are in .ralph/logs/claude-with-gate.log, not in the output.
set -euo pipefail

claude=${GATE_CLAUDE:-claude}
format=text
prompted=
previous=
for argument in "$@"; do
  [[ $argument != -p ]] || prompted=yes
  [[ $previous != --output-format ]] || format=$argument
  previous=$argument
done

# A call without a prompt, such as `--version`, is none of the loop's iterations.
[[ $prompted ]] || exec "$claude" "$@"

mkdir -p .ralph/logs
plan=.ralph/fix_plan.md
counters=.ralph/.exit_signals
breaker=.ralph/.circuit_breaker_state
feedback=.ralph/logs/gate-feedback.txt
log=.ralph/logs/claude-with-gate.log
box='- [ ] gate: the checks do not pass yet (gate adds and removes this line)'
folder=$(mktemp -d)
verdict=
answered=

# Whether the plan keeps the loop going by itself. Boxes in optional sections do not; what
# may stand below such a heading is left out.
is_open() {
  local custom=${OPTIONAL_SECTIONS:-}
  ! grep -qs '^ *OPTIONAL_SECTIONS=' .ralphrc || custom=yes
  CUSTOM=$custom awk '
    /^[[:space:]]*#+[[:space:]]/ && (ENVIRON["CUSTOM"] != "" || tolower($0) ~ /optional|future|nice to have/) { exit }
    /^[[:space:]]*- \[ \]/ { open = 1; exit }
    END { exit !open }' "$plan"
}

add_box() {
  if grep -qs '^[[:space:]]*- \[[xX]\]' "$plan" && ! is_open; then
    { printf '%s\n' "$box" && cat "$plan"; } >"$folder/plan"
    cat "$folder/plan" >"$plan"
  fi
}

remove_box() {
  if [[ -f $plan && $(head -n 1 "$plan") == "$box" ]]; then
    tail -n +2 "$plan" >"$folder/plan"
    cat "$folder/plan" >"$plan"
  fi
}

# Sets how many times the loop has counted its agent as ready, if it counts at all.
count() {
  if [[ -f $counters ]]; then
    printf '{"test_only_loops": [], "done_signals": [%s], "completion_indicators": []}\n' "$1" >"$counters"
  fi
}

# The agent's result: the last one of a stream, or the only one.
result() {
  jq -cnR '[inputs | fromjson? | if type == "array" then .[] else . end
    | objects | select(.type == "result")] | last // {}' "$folder/output" 2>>"$log" || echo '{}'
}

# Answers the loop in the agent's place. No word of it may be one that the loop takes for
# success: it looks for them even in a block that says false.
refuse() {
  local said
  printf -v said '%s\n' "gate: $2" '' '---RALPH_STATUS---' "STATUS: $1" 'EXIT_SIGNAL: false' '---END_RALPH_STATUS---'
  answered=yes
  if [[ $format == text ]]; then
    printf '%s' "$said"
  else
    result | jq -c --arg said "$said" --argjson denials "${3:-[]}" '
      {type: "result", is_error: false, result: $said, session_id, num_turns, total_cost_usd, usage}
      | with_entries(select(.value != null))
      | if $denials == [] then . else .permission_denials = $denials end'
  fi
}

accept() {
  local block=$'\n---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---\n'
  answered=yes
  # A second EXIT_SIGNAL line would make the loop read the first as "false", and a text of
  # more than 128 KiB would be lost to it.
  if [[ $format == text ]]; then
    { grep -v 'EXIT_SIGNAL:' "$folder/output" || true; } | tail -c 20000
    printf '%s' "$block"
  else
    result | jq -c --arg block "$block" '
      (.result // "" | split("\n") | map(select(contains("EXIT_SIGNAL:") | not)) | join("\n")) as $said
      | del(.permission_denials) | .type = "result" | .is_error = false | .result = $said[-20000:] + $block'
  fi
}

# The agent's call failed, and the loop has its own ways to wait and to try again: it
# looks for no success in such an output.
pass_failure() {
  answered=yes
  if [[ $format == stream-json ]]; then
    result
  else
    cat "$folder/output"
  fi
  cat "$folder/stderr" >&2
}

# Halts the loop: by its breaker and, where that is set to close by itself, as after a
# denied tool.
halt() {
  local now
  now=$(date -u +%Y-%m-%dT%H:%M:%S+00:00)
  { cat "$breaker" 2>/dev/null || echo '{}'; } |
    jq --arg now "$now" --arg reason "gate ended with code $verdict; run: gate last" '
      {consecutive_no_progress: 0, consecutive_same_error: 0, consecutive_permission_denials: 0,
        last_progress_loop: 0, current_loop: 0} + .
      | .total_opens = (.total_opens // 0) + 1
      | .state = "OPEN" | .opened_at = $now | .last_change = $now | .reason = $reason' >"$folder/breaker"
  cat "$folder/breaker" >"$breaker"
  refuse BLOCKED "it ended with code $verdict, and a person has to look; run: gate last" '[{"tool_name": "gate"}]'
}

# Whatever ends this script, also the loop's time-out: without gate's word no success.
finish() {
  if [[ $verdict != 0 ]]; then
    count ''
    add_box
    [[ $answered ]] || refuse IN_PROGRESS 'the agent was ended before its work was looked at'
  fi
  rm -rf "$folder"
}
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

arguments=()
previous=
for argument in "$@"; do
  if [[ $previous == -p && -s $feedback ]]; then
    argument+=$'\n\nWhat gate found after the turn before this one:\n\n'$(<"$feedback")
  fi
  arguments+=("$argument")
  previous=$argument
done

remove_box
agent=0
: >"$folder/output"
if [[ $format == stream-json ]]; then # the loop shows it while it runs
  "$claude" "${arguments[@]}" 2>"$folder/stderr" | tee "$folder/output" |
    { grep --line-buffered -v '"type" *: *"result"' || true; } || agent=${PIPESTATUS[0]}
else
  "$claude" "${arguments[@]}" >"$folder/output" 2>"$folder/stderr" || agent=$?
fi
cat "$folder/stderr" >>"$log"

code=0
: >"$folder/feedback"
gate check --quiet --agent-exit-code "$agent" --feedback "$folder/feedback" "$folder/output" >>"$log" 2>&1 || code=$?
verdict=$code

case $verdict in
  0)
    rm -f "$feedback"
    count 0 # the loop counts this answer as well, and two are enough for it
    accept
    ;;
  1)
    if ((agent != 0)); then
      pass_failure
      exit "$((agent == 124 ? 1 : agent))" # the loop would take 124 for its own time-out
    fi
    cp "$folder/feedback" "$feedback"
    if [[ $(result | jq .is_error) == true ]]; then
      pass_failure
    else
      refuse IN_PROGRESS 'the work goes on, and its feedback is in the next prompt'
    fi
    ;;
  *) halt ;;
esac
