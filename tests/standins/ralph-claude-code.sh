#!/usr/bin/env bash
# A stand-in for the loop ralph-claude-code: what ends it, in its order, without its waits
# and without its own look at progress.
#
#   ralph-claude-code.sh json|live|text      CLAUDE_CODE_CMD is its agent
set -u
mode=$1
signals=.ralph/.exit_signals
breaker=.ralph/.circuit_breaker_state
analysis=.ralph/.response_analysis
mkdir -p .ralph/logs

"$CLAUDE_CODE_CMD" --version 2>/dev/null | grep -qE '[0-9]+\.[0-9]+' || echo '[WARN] no version'
echo '{"test_only_loops":[],"done_signals":[],"completion_indicators":[]}' >"$signals"
rm -f "$analysis"
[[ -f $breaker ]] || echo '{"state":"CLOSED"}' >"$breaker"
session=

opened() {
  [[ ${CB_AUTO_RESET:-} != true ]] || echo '{"state":"CLOSED"}' >"$breaker"
  [[ $(jq -r .state "$breaker") == OPEN ]]
}
signalled() { jq ".$1 | length" "$signals"; }
ends() { echo "[SUCCESS] the project is completed: $1"; exit 0; }
halts() { echo "[ERROR] halted: $1"; exit 0; }

# What the status block in a text says, as that loop reads it.
block() { grep -qE '^ *---RALPH_STATUS---' <<<"$1" && grep 'EXIT_SIGNAL:' <<<"$1" | cut -d: -f2 | xargs; }

for ((loop = 1; loop <= 12; loop++)); do
  ! opened || halts circuit_breaker
  [[ ! -f $analysis || $(jq .denied "$analysis") != true ]] || halts permission_denied
  (($(signalled test_only_loops) < 3)) || ends test_saturation
  (($(signalled done_signals) < 2)) || ends completion_signals
  ticked=$(grep -cE '^ *- \[[xX]\]' .ralph/fix_plan.md)
  open=$(grep -cE '^ *- \[ \]' .ralph/fix_plan.md)
  ((ticked == 0 || open > 0)) || ends plan_complete

  output=.ralph/logs/claude_output_$loop.log
  arguments=()
  [[ $mode != json ]] || arguments+=(--output-format json)
  [[ $mode != live ]] || arguments+=(--output-format stream-json)
  arguments+=(--allowedTools Write Bash)
  [[ -z $session ]] || arguments+=(--resume "$session")
  arguments+=(-p "$(cat .ralph/PROMPT.md)")
  if [[ $mode == live ]]; then
    "$CLAUDE_CODE_CMD" "${arguments[@]}" --verbose </dev/null 2>/dev/null >"$output"
    code=$?
    last=$(grep -E '"type" *: *"result"' "$output" | tail -n 1)
    [[ -z $last ]] || echo "$last" >"$output"
  else
    "$CLAUDE_CODE_CMD" "${arguments[@]}" </dev/null >"$output" 2>&1
    code=$?
  fi
  if ((code != 0)) || [[ $(jq -r .is_error "$output" 2>/dev/null) == true ]]; then
    echo "[WARN] the call failed with code $code: $(tail -n 1 "$output")"
    continue
  fi

  done=false signal=false denied=false tests=false
  if [[ $(head -c 1 "$output") == '{' ]] && jq empty "$output" 2>/dev/null; then
    said=$(jq -r '.result // ""' "$output")
    session=$(jq -r '.session_id // ""' "$output")
    [[ $(block "$said") != true ]] || signal=true done=true
    [[ $(jq '.permission_denials // [] | length' "$output") == 0 ]] || denied=true
    [[ $(jq -r .work_type "$output") != TEST_ONLY ]] || tests=true
  else
    said=$(cat "$output")
    [[ $(block "$said") != true ]] || signal=true
    words='done|complete|finished|ready for review|nothing to do|no changes|already implemented|up to date'
    ! grep -qiE "$words" "$output" || done=true
    ! grep -qiE 'running tests|npm test|bats|pytest|jest' "$output" || tests=true
    ! grep -qiE 'implementing|creating|writing|adding|function|class' "$output" || tests=false
  fi
  jq -n --argjson denied "$denied" '{denied: $denied}' >"$analysis"
  jq -c --argjson done "$done" --argjson signal "$signal" --argjson tests "$tests" --argjson loop "$loop" '
    if $tests then .test_only_loops += [$loop] else . end
    | if $done then .done_signals += [$loop] else . end
    | if $signal then .completion_indicators += [$loop] else . end' "$signals" >"$signals.new"
  mv "$signals.new" "$signals"
  ! opened || halts circuit_breaker
done
echo '[WARN] it would go on'
exit 9
