#!/usr/bin/env bash
# Claude Code for ralph-claude-code, with gate's word in the place of the agent's.
#
# That loop ends when the agent's output says EXIT_SIGNAL: true, and looks at nothing
# else. It starts its agent by the command in CLAUDE_CODE_CMD, so there gate fits in:
#
#   CLAUDE_CODE_CMD=/path/to/claude-with-gate.sh ralph --output-format json
#
# Where gate says "exit" the output goes through as it is. Otherwise its text becomes
# gate's feedback and a status block that says false, which the loop respects, and
# which is the next iteration's to read. Needs gate and jq. GATE_CLAUDE names another
# program than claude.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

agent=0
"${GATE_CLAUDE:-claude}" "$@" >"$folder/output" || agent=$?

verdict=0
: >"$folder/feedback"
gate check --quiet --agent-exit-code "$agent" --feedback "$folder/feedback" \
  "$folder/output" || verdict=$?

if ((verdict == 0)); then
  cat "$folder/output"
  exit "$agent"
fi

# Codes 2 to 5 stop a loop; this one knows no such word, and a person has to look.
{
  cat "$folder/feedback"
  printf '\n---RALPH_STATUS---\nSTATUS: %s\nEXIT_SIGNAL: false\n' \
    "$( ((verdict == 1)) && echo IN_PROGRESS || echo BLOCKED)"
  printf 'RECOMMENDATION: gate ended with code %s; see gate last\n---END_RALPH_STATUS---\n' "$verdict"
} >"$folder/said"

refuse='def refuse: if type == "object" and has("result") then .result = $said else . end;
  if type == "array" then map(refuse) else refuse end'
jq -c --rawfile said "$folder/said" "$refuse" "$folder/output" 2>/dev/null || cat "$folder/said"
exit "$agent"
