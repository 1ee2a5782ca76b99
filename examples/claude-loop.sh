#!/usr/bin/env bash
# A loop around Claude Code, in one session: each iteration goes on where the last one
# stopped, with what gate found missing.
#
#   ./claude-loop.sh "Add the CSV export."
#
# CLAUDE names another program than claude. Exit code: 0 the work is done, otherwise
# gate's code: it is not.
set -euo pipefail

task=${1:?usage: claude-loop.sh TASK}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

session=()
printf '%s\n\n%s\n' "$task" "$(gate prompt)" >"$folder/prompt"
while true; do
  agent=0
  "${CLAUDE:-claude}" -p --output-format json "${session[@]}" <"$folder/prompt" >"$folder/output" || agent=$?

  verdict=0
  gate check --agent-exit-code "$agent" --feedback "$folder/prompt" "$folder/output" || verdict=$?
  ((verdict == 1)) || exit "$verdict" # 1 is the only code on which a loop goes on

  id=$(grep -o '"session_id":"[^"]*"' "$folder/output" | tail -n 1 | cut -d '"' -f 4) || id=
  [[ -z $id ]] || session=(--resume "$id")
done
