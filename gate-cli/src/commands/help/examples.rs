//! An example or two of each command.

/// The command's words behind `gate`, and lines for a shell.
pub(super) const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "setup",
        &[
            "gate setup                             # this project, and the agents that are here",
            "gate setup claude-code codex",
        ],
    ),
    ("demo", &["gate demo"]),
    (
        "check",
        &[
            "gate check out.log                     # may the loop end?",
            "gate check --plan                      # what would run here, and how long",
            "gate check --json out.log | jq .verdict",
            "while my-agent >out.log; gate check --while out.log; do :; done",
        ],
    ),
    (
        "ci",
        &[
            "gate ci                                # in a job of GitHub, GitLab, Bitbucket, Jenkins",
            "gate ci --base main --junit gate.xml",
            "gate ci --approve-tests ada@8c1f2e7    # these changed tests, for this commit",
        ],
    ),
    (
        "scan",
        &[
            "gate scan out.log session.jsonl        # signal and indicators, no checks",
            "my-agent | gate scan -",
        ],
    ),
    (
        "replay",
        &[
            "gate replay ~/.claude/projects         # what gate would have decided",
            "gate replay logs --labels labels.jsonl --only wrong",
            "gate replay logs --by model",
        ],
    ),
    (
        "criteria",
        &["gate criteria                 # runs their commands", "gate criteria --task 42 --json"],
    ),
    (
        "audit",
        &[
            "gate audit                            # all transcripts of this machine",
            "gate audit --since 30d --html audit.html",
            "gate audit ~/.claude/projects --json",
        ],
    ),
    (
        "tune",
        &[
            "gate tune --labels labels.jsonl",
            "gate tune --ledger    # from what `gate wrong` marked",
        ],
    ),
    (
        "run",
        &[
            "gate run --prompt PROMPT.md --agent claude-code",
            "gate run --prompt PROMPT.md --max-iterations 20 -- my-agent --headless",
            "gate run --tests-first --tests-by codex --agent claude --prompt PROMPT.md",
        ],
    ),
    (
        "stop",
        &[
            "gate stop                              # all loops of this project",
            "gate stop --task mend-login",
        ],
    ),
    ("prompt", &["gate prompt >>PROMPT.md"]),
    (
        "init",
        &[
            "gate init                              # writes gate.toml",
            "gate init --merge                      # adds to the gate.toml that is there",
            "gate init --loop bash                  # writes gate-loop.sh",
        ],
    ),
    ("install", &["gate install claude-code", "gate install codex --project --dry-run"]),
    ("uninstall", &["gate uninstall claude-code"]),
    (
        "baseline",
        &[
            "gate baseline                          # before the agent starts",
            "gate baseline --show",
        ],
    ),
    ("config", &["gate config show --origin              # each setting, and where it comes from"]),
    ("config show", &["gate config show --origin"]),
    ("config schema", &["gate config schema >gate.schema.json", "gate config schema decision"]),
    ("config import", &["gate config import exit-gate.json >gate.toml"]),
    (
        "doctor",
        &[
            "gate doctor --self-test                # prove that each check can fail",
            "gate doctor --agent claude-code        # prove that the hook blocks a stop",
        ],
    ),
    ("last", &["gate last", "gate last --log tests                  # all that the check wrote"]),
    (
        "explain",
        &[
            "gate explain                           # the latest decision",
            "gate explain '#12'",
            "gate explain signal-absent",
            "gate explain --md >>pull-request.md",
        ],
    ),
    ("hook", &["gate hook claude-code <event.json"]),
    ("off", &["gate off --for 1h"]),
    (
        "on",
        &[
            "gate on",
            "gate on --session                      # sessions here end only with a signal",
        ],
    ),
    ("status", &["gate status", "gate status --watch"]),
    ("breaker", &["gate breaker status"]),
    ("breaker status", &["gate breaker status --task mend-login"]),
    ("breaker reset", &["gate breaker reset --reason 'the disk was full'"]),
    ("breaker trip", &["gate breaker trip --run nightly --reason 'wrong branch'"]),
    ("breaker isolate", &["gate breaker isolate --task mend-login --reason 'on hold'"]),
    (
        "trust",
        &[
            "gate trust                             # show and approve gate.toml",
            "gate trust --show",
        ],
    ),
    ("ledger", &["gate ledger verify"]),
    (
        "ledger verify",
        &[
            "gate ledger verify                     # this project's records, and the store",
            "gate ledger verify export.jsonl",
        ],
    ),
    ("ledger show", &["gate ledger show 12 --json"]),
    ("ledger accept", &["gate ledger accept --reason 'restored from last night'"]),
    ("ledger backup", &["gate ledger backup /backup/gate.db"]),
    ("ledger export", &["gate ledger export >ledger.jsonl"]),
    ("ledger head", &["gate ledger head"]),
    ("log", &["gate log -n 50", "gate log --follow --run nightly"]),
    ("bus", &["gate bus read"]),
    ("bus post", &["gate bus post --type QUESTION --body 'Which port?'"]),
    ("bus read", &["gate bus read -n 5", "gate bus read --task mend-login --follow"]),
    ("bus poll", &["gate bus poll --since-id MSG-1 --wait 30s"]),
    ("bus discover", &["gate bus discover"]),
    ("fact", &["gate fact add database --body 'The database is SQLite.'"]),
    ("fact add", &["gate fact add database --body 'The database is SQLite.'"]),
    ("fact promote", &["gate fact promote --all"]),
    ("exit", &["gate exit parse out.log"]),
    ("exit parse", &["gate exit parse out.log --json"]),
    ("exit submit", &["gate exit submit out.log --work W-1 --actor agent-7"]),
    ("exit emit", &["gate exit emit --phase DRAFT --reason completed"]),
    ("work", &["gate work add W-1 --title 'Mend the login'", "gate work claim --actor agent-7"]),
    ("work add", &["gate work add W-1 --title 'Mend the login' --file task.md"]),
    ("work claim", &["gate work claim --actor agent-7 --wait 1h"]),
    ("work renew", &["gate work renew W-1 --actor agent-7 --ttl 1h"]),
    ("work release", &["gate work release W-1 --actor agent-7"]),
    ("work unblock", &["gate work unblock W-1"]),
    ("work ci", &["gate work ci W-1 --result passed"]),
    ("work show", &["gate work show W-1"]),
    ("work list", &["gate work list --phase DRAFT"]),
    ("handoff", &["gate handoff check HANDOFF.md"]),
    ("handoff new", &["gate handoff new >HANDOFF.md"]),
    ("handoff check", &["gate handoff check HANDOFF.md"]),
    ("handoff convert", &["gate handoff convert HANDOFF.md --to json"]),
    ("handoff verify", &["gate handoff verify HANDOFF.md"]),
    ("handoff schema", &["gate handoff schema"]),
    (
        "approve",
        &[
            "gate approve",
            "gate approve tests/test_cart.py::test_total --reason 'the price has changed'",
        ],
    ),
    (
        "seal add",
        &["gate seal add tests ../sealed-tests    # laid over the last run before an exit"],
    ),
    ("seal", &["gate seal list"]),
    ("seal list", &["gate seal list"]),
    ("seal remove", &["gate seal remove tests"]),
    ("wrong", &["gate wrong 12 --reason 'the tests had not run'"]),
    (
        "report",
        &["gate report", "gate report --since 12h --html night.html", "gate report nightly --md"],
    ),
    (
        "prune",
        &[
            "gate prune --dry-run                   # what would go, and how large it is",
            "gate prune --older 90d                 # what is older, and folders of older runs",
        ],
    ),
    ("completions", &["gate completions bash >~/.local/share/bash-completion/completions/gate"]),
    ("man", &["gate man >~/.local/share/man/man1/gate.1", "gate man check | man -l -"]),
];
