#!/usr/bin/env bash
# A night of three loops, one of which is done, one stopped, one blocked, and a day of
# transcripts: writes report.html and audit.html into the current folder.
#
#   night.sh GATE
set -euo pipefail
gate=$1
home=$PWD/home
export HOME=$home XDG_CONFIG_HOME=$home/.config XDG_STATE_HOME=$home/.local/state XDG_DATA_HOME=$home/.local/share
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b.c GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b.c
mkdir -p "$home" shop && cd shop
git init -q -b main
cat >test.sh <<'END'
#!/bin/sh
test -e total.txt || { echo "cart_test.sh:4: expected 9000 cents, got 10000"; exit 1; }
END
chmod +x test.sh
printf '[project]\nid = "shop"\n[checks.tests]\ncommand = ["./test.sh"]\n[breaker]\nrefused = 3\n' >gate.toml
printf '{"type":"result","subtype":"success","is_error":false,"session_id":"%%s","total_cost_usd":%%s,"usage":{"input_tokens":900,"output_tokens":100},"result":"%%s"}\\n' >../line
cat >../agent.sh <<'END'
#!/bin/sh
# One turn of an agent that is headless: agent.sh done|wrong|stuck
line=$(cat ../line)
case $1 in
done) echo 1 >total.txt; git add .; git commit -qm total; cost=0.41 said='The total is right.\n\nEXIT_STATUS: COMPLETE\nREMAINING_WORK: none' ;;
wrong) rm -f total.txt; cost=0.37 said='The total is right.\n\nEXIT_STATUS: COMPLETE\nREMAINING_WORK: none' ;;
stuck) cost=0.11 said='The price list is missing.\n\nEXIT_STATUS: BLOCKED\nEXIT_REASON: the price list is missing' ;;
esac
printf "$line" "$1" "$cost" "$said"
END
mkdir tasks; for kind in wrong stuck done; do echo "Mend the total." >"tasks/$kind.md"; done
git add . && git commit -qm shop
"$gate" trust >/dev/null
for kind in wrong stuck done; do
  "$gate" run --task "$kind" --prompt "tasks/$kind.md" --max-iterations 6 -- sh ../agent.sh "$kind" >"../$kind.log" 2>&1 || test $? -le 4
done
"$gate" report --html ../report.html
mkdir ../sessions
event() { printf '{"type":"%s","session_id":"s","message":{"content":%s}}\n' "$1" "$2"; }
session() { # NAME OUTPUT: the output of the tests, none if they did not run
  {
    echo '{"type":"system","subtype":"init","session_id":"s","model":"claude-x"}'
    event user '"Add the discount."'
    event assistant '[{"type":"tool_use","id":"a","name":"Edit","input":{"file_path":"cart.py"}}]'
    event user '[{"type":"tool_result","tool_use_id":"a","content":"updated"}]'
    if [ -n "$2" ]; then
      event assistant '[{"type":"tool_use","id":"b","name":"Bash","input":{"command":"python3 -m pytest -q --tb=short tests/test_cart.py tests/test_discount.py"}}]'
      event user "[{\"type\":\"tool_result\",\"tool_use_id\":\"b\",\"content\":\"$2\"}]"
    fi
    event assistant '[{"type":"text","text":"The discount is in place for carts of every kind, and all of the tests pass."}]'
  } >"../sessions/$1-of-a-long-day-of-work-on-the-shop.jsonl"
}
for number in 1 2 3 4 5 6; do session "passed-$number" '12 passed in 0.31s'; done
for number in 1 2 3; do session "none-$number" ''; done
for number in 1 2; do session "failed-$number" '2 failed, 10 passed in 0.31s'; done
"$gate" audit ../sessions --html ../audit.html
