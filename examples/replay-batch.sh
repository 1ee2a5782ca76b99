#!/usr/bin/env bash
# Replays a folder in batches of 100 files with GNU parallel: here on all cores,
# with --sshlogin on other machines that see the same files. The rows come in
# the order of the files, one JSON object a line.
#
#     replay-batch.sh FOLDER >rows.jsonl
set -euo pipefail
find "${1:?usage: replay-batch.sh FOLDER}" -type f \( -name '*.log' -o -name '*.jsonl' \) |
  sort |
  parallel --will-cite --pipe --keep-order -N 100 gate replay --jobs 1 --json -
