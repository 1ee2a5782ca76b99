//! The report of a night, the list of loops, and the filters of the log: the same figures in all.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::audit::{CLAIM, Session};
use crate::run::wait;
use crate::support::{DONE, Ran, Run, UNDONE, gate, judge};

/// An agent that prints what Claude Code prints. Each run is a session of its own.
const AGENT: &str = r#"#!/bin/sh
cat >/dev/null
echo x >>count-$1
n=$(wc -l <count-$1 | tr -d ' ')
says() { # TEXT COST
  printf '{"type":"system","subtype":"init","session_id":"%s%s","model":"m-1","tools":["Bash"]}\n' "$mode" "$n"
  printf '{"type":"assistant","session_id":"%s%s","message":{"id":"m","content":[{"type":"text","text":"%s"}]}}\n' "$mode" "$n" "$1"
  printf '{"type":"result","subtype":"success","is_error":false,"result":"%s","session_id":"%s%s","num_turns":1,"duration_ms":1500,"total_cost_usd":%s,"usage":{"input_tokens":1000,"output_tokens":200}}\n' "$1" "$mode" "$n" "$2"
}
mode=$1
case $1 in
  good) if [ "$n" = 1 ]; then echo one >work; else touch fixed; fi
    says 'All tasks are completed.\n\nEXIT_STATUS: COMPLETE\nEXIT_REASON: it is mended' 0.413777 ;;
  idle) says 'I read the code. <script>alert(1)</script>\n\nEXIT_STATUS: CONTINUE\nREMAINING_WORK: the <b>parser</b>' 0.11 ;;
  stuck) says 'I cannot go on.\n\nEXIT_STATUS: BLOCKED\nEXIT_REASON: no key for the payment service' 0.0509 ;;
esac
"#;

const SETTINGS: &str = "[checks.tests]\ncommand = [\"sh\", \"-c\", \
     \"test -e fixed || { echo 'the <i>price</i> is 3, not 4'; exit 1; }\"]\n\
     [breaker]\nno_progress = 3\n";

/// Micro-dollars of each loop, and of the night.
const COSTS: [u64; 3] = [827_554, 440_000, 50_900];
const COST: u64 = 1_318_454;

/// A night: one loop is done, one trips its breaker, one needs a person.
fn night() -> Ran {
    let run = |ran: Run, mode: &str, code: i32| {
        let words = format!(
            "run --task {mode} --prompt PROMPT.md --agent claude-code -- ./agent.sh {mode}"
        );
        ran.words(&words).code(code)
    };
    let start = gate("run")
        .settings(SETTINGS)
        .file("PROMPT.md", "Mend it.\n")
        .file(".gitignore", "count-*\n")
        .script("agent.sh", AGENT)
        .committed();
    let ran = run(start, "good", 0);
    let ran = run(ran.again("run"), "idle", 1);
    run(ran.again("run"), "stuck", 1)
}

#[test]
fn a_night_says_of_each_loop_who_why_how_much_and_what_next() {
    let ran = night().again("report").code(0);
    for part in [
        "3 loops: 1 done, 1 stopped, 1 blocked. $1.32",
        "DONE  good",
        "STOPPED  idle",
        "3 iterations in a row changed no file",
        "gate breaker reset",
        "BLOCKED  stuck",
        "no key for the payment service",
        "start the agent again",
        "2 of completion, 1 refused",
        "1 × required-check-failed",
        "claude-code, m-1",
    ] {
        assert!(ran.stdout.contains(part), "{part}\n{}", ran.stdout);
    }
    let ran = ran.again("report idle").code(0);
    assert!(ran.stdout.starts_with("1 loop: 1 stopped. $0.44"), "{}", ran.stdout);
    ran.again("report idel")
        .code(2)
        .tells("no run, loop or task here is called idel")
        .tells("idle");
}

#[test]
fn report_runs_log_and_ledger_count_the_same_money() {
    let ran = night().again("report --json").code(0);
    let report = ran.json();
    assert_eq!(report["schema"], "gate.report.v1");
    let totals = &report["totals"];
    assert_eq!(totals["usage"]["cost_micro_usd"], COST, "{totals}");
    assert_eq!(totals["usage"]["tokens"], 7 * 1200, "{totals}");
    assert_eq!((&totals["claims"], &totals["refused"]), (&json!(2), &json!(1)));
    let costs = |value: &Value, list: &str| {
        let list = value[list].as_array().unwrap();
        list.iter().map(|one| one["usage"]["cost_micro_usd"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(costs(&report, "loops"), COSTS);
    let agent = &report["agents"][0];
    assert_eq!((&agent["loops"], &agent["done"]), (&json!(3), &json!(1)), "{agent}");
    assert_eq!(agent["cost_per_done_usd"], 1.318_454);

    let ran = ran.again("status --json").code(0);
    let mut runs = costs(&ran.json(), "loops");
    runs.reverse();
    assert_eq!(runs, COSTS, "the latest first");
    let states: Vec<_> =
        ran.json()["loops"].as_array().unwrap().iter().map(|run| run["state"].clone()).collect();
    assert_eq!(states, ["blocked", "stopped", "done"]);

    let ran = ran.again("log --json").code(0);
    let ended = ran.json_lines().into_iter().filter(|record| record["type"] == "run_ended");
    let ended: Vec<_> = ended.map(|end| end["body"]["cost_micro_usd"].as_u64().unwrap()).collect();
    assert_eq!(ended, COSTS);

    let ran = ran.again("log --cost --since 1h").code(0);
    let sum = ran.stdout.lines().last().unwrap();
    assert!(sum.starts_with("7 decisions in 3 runs: $1.32, "), "{sum}");
    assert!(sum.ends_with(", 8400 tokens"), "{sum}");
    let ran =
        ran.again("report --md").code(0).says("**3 loops: 1 done, 1 stopped, 1 blocked. $1.32");
    assert!(ran.stdout.contains("| 1 | "), "{}", ran.stdout);
}

#[test]
fn a_loop_whose_agent_could_not_be_started_is_listed_with_the_way_out() {
    let words = "run --task night --prompt PROMPT.md --json -- no-such-agent";
    let run = gate(words).settings(SETTINGS).file("PROMPT.md", "Mend it.\n").committed();
    let ran = run.code(1);
    let message = ran.json()["message"].as_str().unwrap().to_owned();
    assert_eq!(message.matches("could not be started").count(), 1, "{message}");
    let next = ran.json()["next"].as_str().unwrap().to_owned();
    assert!(next.contains("behind `--`"), "{next}");
    let ran = ran.again("run --task night --prompt PROMPT.md -- no-such-agent").code(1).says(&next);
    let ran = ran.again("report").code(0).says("2 loops: 2 stopped.").says("STOPPED  night");
    let ran = ran.says(&message).says(&next).again("status --json").code(0);
    let run = &ran.json()["loops"][0];
    assert_eq!((&run["state"], &run["agent"]), (&json!("stopped"), &json!("no-such-agent")));
    ran.again("report --all-projects --md").code(0).says("## STOPPED: night");
}

#[test]
fn words_of_others_are_only_words_in_the_page() {
    let ran = night().again("report --html night.html").code(0).says("wrote night.html");
    let page = ran.file("night.html");
    assert!(page.starts_with("<!DOCTYPE html><html lang=\"en\">"), "{page}");
    assert!(!page.contains("<script") && !page.contains("<b>parser"), "{page}");
    assert!(page.contains("the &lt;b&gt;parser&lt;/b&gt;"), "{page}");
    for outside in ["http:", "https:", "src=", "url(", "@import"] {
        assert!(!page.contains(outside), "{outside}");
    }
    let ran = ran.again("report --md").code(0);
    assert!(!ran.stdout.contains("<b>"), "{}", ran.stdout);
    let secret = "AKIA7Q3ZP5XM2LKJW4TB";
    let agent = AGENT.replace("no key for", &format!("no key {secret} for"));
    let ran = ran
        .again("run --task stuck2 --prompt PROMPT.md -- ./agent.sh stuck")
        .script("agent.sh", &agent);
    let ran = ran.code(1).again("report --html -").code(0);
    assert!(ran.stdout.contains("stuck2") && !ran.stdout.contains(secret), "{}", ran.stdout);
}

#[test]
fn a_report_of_nothing_says_so() {
    gate("report").settings("").code(0).says("No loops.");
    gate("report --html x/y.html").settings("").code(2).tells("x/y.html");
    gate("report --since 9999999d").settings("").code(0).says("No loops.");
    gate("report --since yesterday").code(2).tells("--since");
}

#[test]
fn the_log_is_filtered_by_time_task_verdict_and_project() {
    let ran = judge("check out.log --run nightly", UNDONE).settings("[breaker]\nno_progress = 0\n");
    let ran = ran.code(1).again("check out.log --run nightly").file("out.log", DONE).code(0);
    let mut ran = ran.again("check out.log --run weekly --task 42").file("out.log", UNDONE).code(1);
    for (words, lines) in [
        ("log --task 42", 1),
        ("log --verdict exit", 1),
        ("log --verdict continue", 2),
        ("log --verdict released", 0),
        ("log --since 1h", 3),
        ("log --since 1h -n 2", 2),
        ("log --all-projects", 3),
        ("log --since 1h --task 42 --verdict exit", 0),
    ] {
        ran = ran.again(words).code(0);
        assert_eq!(ran.stdout.lines().count(), lines, "{words}\n{}", ran.stdout);
    }
    ran.again("log --verdict done").code(2).tells("exit");
}

#[test]
fn a_loop_that_runs_says_what_it_does() {
    let ran = gate("man")
        .settings(SETTINGS)
        .file("PROMPT.md", "Wait.\n")
        .script("agent.sh", "#!/bin/sh\ntouch began\nsleep 300\n")
        .committed()
        .code(0);
    let mut runner = ran.beside("run --task slow --prompt PROMPT.md -- ./agent.sh");
    let mut runner = runner.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let began = ran.path("began");
    wait(|| began.exists());
    let ran = ran.again("status --json").code(0);
    let runs = ran.json();
    let run = &runs["loops"][0];
    assert_eq!((&run["state"], &run["task"]), (&json!("running"), &json!("slow")), "{run}");
    assert_eq!((&run["doing"], &run["iteration"]), (&json!("the agent works"), &json!(1)), "{run}");
    let ran = ran.again("stop --task slow").code(0);
    runner.wait().unwrap();
    let ran = ran.again("status --json").code(0);
    assert_eq!(ran.json()["loops"][0]["state"], "stopped", "{}", ran.stdout);
}

#[test]
fn the_checks_behind_the_claims_are_told_from_the_transcripts() {
    let words =
        "run --task t1 --prompt PROMPT.md --agent claude-code --max-iterations 2 -- ./agent.sh";
    let says = format!("{CLAIM}\n\nEXIT_STATUS: COMPLETE\n");
    let without = Session::new().edit("a.rs").says(&says);
    let with = Session::new().edit("a.rs").ran("cargo test", "ok").says(&says);
    let agent = "#!/bin/sh\ncat >/dev/null\necho x >>work\n\
                 if test -e once; then cat with; else touch once; cat without; fi\n";
    let ran = gate(words)
        .settings(SETTINGS)
        .file("PROMPT.md", "Mend it.\n")
        .file("without", without.text())
        .file("with", with.text())
        .script("agent.sh", agent)
        .committed()
        .code(1);
    let report = ran.again("report --json").code(0);
    let behind = json!({
        "transcripts": 2, "changed": 2, "claims": 2, "passed_after": 1, "stale": 0, "failed": 0,
        "none": 1, "unknown": 0,
    });
    assert_eq!(report.json()["behind"], behind);
    let says = "2 claims of turns that changed files: 1 with none, 1 with a check that passed after \
                the last edit";
    for words in ["report --md", "report --html -"] {
        let output = report.beside(words).output().unwrap();
        assert!(String::from_utf8_lossy(&output.stdout).contains(says), "{words}");
    }
    let other = report.beside("report --json nothing-else").output().unwrap();
    assert_eq!(other.status.code(), Some(2));
}

/// The agent kills gate, whose attendant started it.
#[cfg(target_os = "linux")]
#[test]
fn a_loop_that_died_is_told_until_it_ends_however_long_ago_it_began() {
    let kills = "#!/bin/sh\nread -r _ _ _ gate _ </proc/$PPID/stat\nkill -9 $gate\n";
    let run = gate("run --task a --prompt PROMPT.md -- ./agent").script("agent", kills);
    let run = run.file("PROMPT.md", "Mend it.\n").file("done", DONE);
    let run = run.settings("[checks.tests]\ncommand = [\"true\"]\n");
    let ran = run.committed().run().again("report --since 1ms --json").code(0);
    let report = ran.json();
    assert_eq!(report["loops"][0]["state"], "died", "{report}");
    let name = report["loops"][0]["run"].as_str().unwrap();
    let ran = ran.again("status").code(0).says("DIED");
    let ran = ran.again(&format!("check --run {name} done")).run().again("status").code(0);
    assert!(!ran.stdout.contains("DIED"), "{}", ran.stdout);
}
