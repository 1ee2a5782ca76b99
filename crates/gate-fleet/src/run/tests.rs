//! Run folders: records, names, preambles.

use jiff::Timestamp;
use proptest::prelude::*;

use super::*;

const ENDED: &str = "\
version: 1
run_id: 20260220-1530450000-4121-2
previous_run_id: 20260220-1530450000-4121-1
project_id: shop
task_id: task-20260220-153045-cart
agent: codex
process_ownership: managed
pid: 4130
pgid: 4130
start_time: 2026-02-20T15:30:45.12345678Z
end_time: 2026-02-20T15:31:00Z
exit_code: 7
status: failed
cwd: /src/shop
commandline: codex exec - < /runs/prompt.md
error_summary: agent exited with code 7
agent_version: codex 1.2.3
";

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[test]
fn a_record_is_written_as_it_was_read() {
    let info = RunInfo::parse(ENDED).unwrap();
    assert_eq!(info.to_yaml(), ENDED);
    assert_eq!((info.status, info.exit_code, info.pid), (Status::Failed, 7, 4130));
    let more = format!("{ENDED}colour: '7'\nlater:\n    - a: 1\n      b: \"2\"\n");
    let kept = RunInfo::parse(&more).unwrap().to_yaml();
    assert_eq!(kept, more.replace("'7'", "\"7\""));
}

#[test]
fn what_is_wrong_is_told_with_its_key() {
    let with = |from: &str, to: &str| {
        RunInfo::parse(&ENDED.replace(from, to)).map(drop).unwrap_err().to_string()
    };
    assert_eq!(
        with("status: failed", "status: fine"),
        "line 13: status: running, completed, failed or unknown is expected, and it is \"fine\""
    );
    assert_eq!(
        with("pid: 4130\n", "pid: many\n"),
        "line 8: pid: a whole number is expected, and it is \"many\""
    );
    assert_eq!(with("exit_code: 7\n", ""), "exit_code is missing");
    assert_eq!(with("task_id: task-20260220-153045-cart\n", "task_id: ''\n"), "task_id is missing");
    assert!(with("version: 1", "version: 2").contains("version: 1 is expected, and it is \"2\""));
    assert!(with("end_time: 2026-02-20T15:31:00Z", "end_time: noon").contains("end_time: a time"));
    assert!(with("agent: codex", "agent: [a]").contains("agent: one value is expected"));
}

#[test]
fn an_id_that_is_missing_is_told_by_the_path() {
    let bare = "start_time: 2026-02-20T15:30:45Z\nexit_code: 0\nstatus: completed\n";
    let info = RunInfo::parse_at(bare, "/r/shop/t-1/runs/r-1/run-info.yaml").unwrap();
    let ids = [info.project_id.as_str(), &info.task_id, &info.run_id];
    assert_eq!(ids, ["shop", "t-1", "r-1"]);
    assert_eq!(RunInfo::parse(bare).unwrap_err(), RunInfoError::Missing { key: "run_id" });
}

#[test]
fn a_run_goes_on_and_ends() {
    let start = at("2026-02-20T15:30:45Z");
    let info = RunInfo::begun("r", "p", "t", start);
    assert!(
        info.to_yaml().contains("end_time: 0001-01-01T00:00:00Z\nexit_code: -1\nstatus: running\n")
    );
    assert_eq!(RunInfo::parse(&info.to_yaml()), Ok(info.clone()));
    let end = at("2026-02-20T15:31:45Z");
    let done = info.clone().ended(end, 0, None);
    assert_eq!((done.status, done.error_summary.as_str()), (Status::Completed, ""));
    let late = info.clone().ended(end, -1, Some(AGENT_TIMED_OUT));
    assert_eq!((late.status, late.error_summary.as_str()), (Status::Failed, "timed out"));
    let lost = info.clone().reconciled(end, false);
    assert_eq!((lost.status, lost.error_summary.as_str()), (Status::Failed, RECONCILED));
    assert_eq!(info.clone().reconciled(end, true).status, Status::Completed);
    assert_eq!(done.clone().reconciled(end, false), done);
}

#[test]
fn exit_codes_have_their_words() {
    let words = [0, 1, 2, 7, 137, 143, -1].map(error_summary);
    assert_eq!(
        words,
        [
            "",
            "agent reported failure",
            "agent usage error",
            "agent exited with code 7",
            "agent killed (OOM or signal)",
            "agent terminated (SIGTERM)",
            "agent exited with code -1"
        ]
    );
}

#[test]
fn names_of_tasks_and_projects() {
    let long = |length| format!("task-20260220-153045-{}", "a".repeat(length));
    for good in ["task-20260220-153045-my-feature", &long(3), &long(50)] {
        assert!(is_task_id(good), "{good}");
    }
    let bad = ["task-2026022-153045-abc", "task-20260220-153045--abc", "task-20260220-153045-abc-"];
    for bad in bad.into_iter().chain([long(2).as_str(), &long(51), "TASK-20260220-153045-abc", ""])
    {
        assert!(!is_task_id(bad), "{bad}");
    }
    for good in ["a", "my-project", "7"] {
        assert_eq!(project_id(good), Ok(good));
    }
    for bad in ["", " ", "a/b", "..", "A", "a_b", "-a", "a-", "a\n"] {
        assert!(project_id(bad).is_err(), "{bad}");
    }
    for bad in ["", "..", ".x", "a/b", "a\\b", "a\0", "-rf", "a b"] {
        assert!(folder_name(bad).is_err(), "{bad}");
    }
    assert_eq!(project_slug("shop"), "shop");
    let (one, other) =
        (project_slug("https://h/Acme/Shop.git"), project_slug("https://i/acme/shop"));
    assert!(
        one.starts_with("shop-") && other.starts_with("shop-") && one != other,
        "{one} {other}"
    );
    assert!(project_id(&project_slug("日本")).is_ok() && project_slug("global") != "global");
    let now = at("2026-02-20T15:30:45Z");
    assert_eq!(task_id(now, "Fix: the cart!", "a1b2c3"), "task-20260220-153045-fix-the-cart");
    assert_eq!(task_id(now, "é", "a1b2c3"), "task-20260220-153045-a1b2c3");
    let long = task_id(now, &"a".repeat(60), "a1b2c3");
    assert_eq!(numbered(&long, 12), format!("task-20260220-153045-{}-12", "a".repeat(47)));
    assert!(is_task_id(&numbered(&long, 12)));
    for good in
        ["20260220-1530450000-4121-1", "20260220-1530450000-4121", "20260220-1530450000-4121-1-Ab9"]
    {
        assert!(is_run_id(good), "{good}");
    }
    assert!(!is_run_id("20260220-153045") && !is_run_id("../20260220-1530450000-4121-1"));
}

#[test]
fn a_prompt_begins_with_its_places() {
    let facts = [("db".to_owned(), "it is sqlite\n".to_owned())];
    let preamble = Preamble {
        task_folder: "/r/p/t",
        run_folder: "/r/p/t/runs/1",
        bus: "/r/p/t/TASK-MESSAGE-BUS.md",
        project_bus: "/r/p/PROJECT-MESSAGE-BUS.md",
        project_messages: "[t] FACT: db is sqlite",
        gate: "/opt/the gate/gate",
        project_id: "p",
        task_id: "t",
        run_id: "1",
        task_state: "half way",
        facts: &facts,
        continues_work: true,
        prompt: "build it",
        ..Preamble::default()
    };
    let text = preamble.to_string();
    assert!(text.starts_with("JRUN_TASK_FOLDER=/r/p/t\nJRUN_RUN_FOLDER=/r/p/t/runs/1\n"), "{text}");
    assert!(text.contains("\nWrite output.md to /r/p/t/runs/1/output.md\n"));
    assert!(text.contains("## Fact: db\n\nit is sqlite\n"));
    assert!(text.contains("## New on the project's message bus\n\n[t] FACT: db is sqlite\n"));
    assert!(text.contains("  '/opt/the gate/gate' bus read --bus /r/p/PROJECT-MESSAGE-BUS.md\n"));
    assert!(text.ends_with("\n---\n\nContinue working on the following:\n\nbuild it\n"), "{text}");
    assert!(!text.contains("PARENT"));
    let plain = Preamble { plain: true, ..preamble.clone() };
    assert_eq!(plain.to_string(), "build it");
    let plain = Preamble { feedback: "tests failed\n", ..plain }.to_string();
    assert_eq!(plain, "## What the last iteration left open\n\ntests failed\n\n---\n\nbuild it\n");
    let spaced = Preamble { bus: "/r/it's here/B.md", ..preamble.clone() }.to_string();
    assert!(spaced.contains("gate' bus read --bus '/r/it'\\''s here/B.md'\n"), "{spaced}");
    let child = Preamble { parent_run_id: "0", ..preamble }.to_string();
    assert!(child.contains("JRUN_PARENT_ID=0\n") && !child.contains("DONE"));
}

proptest! {
    #[test]
    fn any_record_comes_back(
        words in proptest::array::uniform4(any::<String>()),
        code in any::<i64>(),
        nanos in 0i64..4_000_000_000_000_000_000,
    ) {
        let [agent, cwd, line, why] = words;
        let start = Timestamp::from_nanosecond(nanos.into()).unwrap();
        let mut info = RunInfo::begun("r", "p", "t", start);
        (info.agent, info.cwd, info.commandline) = (agent, cwd, line);
        prop_assert_eq!(&RunInfo::parse(&info.to_yaml()).unwrap(), &info);
        let info = info.ended(start, code, Some(&why));
        prop_assert_eq!(&RunInfo::parse(&info.to_yaml()).unwrap(), &info);
    }
}

#[test]
fn an_id_in_the_record_goes_before_the_path_and_a_path_elsewhere_says_only_the_run() {
    let bare = "start_time: 2026-02-20T15:30:45Z\nexit_code: 0\nstatus: completed\n";
    let ids = |text: &str, path: &str| {
        let info = RunInfo::parse_at(&format!("{text}{bare}"), path);
        info.map(|info| [info.project_id, info.task_id, info.run_id].join(" "))
    };
    let path = "/r/shop/t-1/runs/r-1/run-info.yaml";
    assert_eq!(ids("task_id: t-2\n", path).as_deref(), Ok("shop t-2 r-1"));
    assert_eq!(ids("task_id: ' '\n", path).as_deref(), Ok("shop t-1 r-1"));
    let windows = "C:\\r\\shop\\t-1\\runs\\r-1\\run-info.yaml";
    assert_eq!(ids("", windows).as_deref(), Ok("shop t-1 r-1"));
    let missing = |key| Err(RunInfoError::Missing { key });
    assert_eq!(ids("", "/r/shop/t-1/old/r-1/run-info.yaml"), missing("project_id"));
    assert_eq!(ids("project_id: p\n", "/x/r-1/run-info.yaml"), missing("task_id"));
    assert_eq!(ids("", "run-info.yaml"), missing("run_id"));
}

#[test]
fn what_is_left_blank_is_as_if_it_were_not_there() {
    let with = |more: &str| RunInfo::parse(&format!("{more}{ENDED}")).unwrap();
    let info = with("parent_run_id: ''\nprompt_path:\n");
    assert!(!info.is_delegated() && info.prompt_path.is_empty());
    assert!(with("parent_run_id: r-0\n").is_delegated());
    let blank = ENDED.replace("process_ownership: managed", "process_ownership: ''");
    assert_eq!(RunInfo::parse(&blank).unwrap().process_ownership, None);
    let never = ENDED.replace("2026-02-20T15:31:00Z", "0001-01-01T00:00:00Z");
    assert_eq!(RunInfo::parse(&never).unwrap().end_time, None);
    let other = ENDED.replace("managed", "nobody");
    assert_eq!(
        RunInfo::parse(&other).unwrap_err().to_string(),
        "line 7: process_ownership: managed or external is expected, and it is \"nobody\""
    );
}

#[test]
fn a_prompt_leaves_out_what_is_not_known() {
    let bare =
        Preamble { run_folder: "/r/1", gate: "gate", prompt: "build it\n", ..Preamble::default() };
    let text = bare.to_string();
    assert!(
        text.starts_with("JRUN_RUN_FOLDER=/r/1\n\nWrite output.md to /r/1/output.md\n"),
        "{text}"
    );
    assert!(text.ends_with("\n---\n\nbuild it\n") && !text.contains("## "), "{text}");
    let blank = Preamble { task_state: " \n", messages: "\n", feedback: " ", ..bare.clone() };
    assert_eq!(blank.to_string(), text);
    let known =
        Preamble { task_state: "half way", feedback: "tests failed", messages: "hi", ..bare };
    let known = known.to_string();
    let titles: Vec<_> = known.lines().filter(|line| line.starts_with("## ")).collect();
    let expected =
        ["## TASK_STATE.md", "## New on the message bus", "## What the last iteration left open"];
    assert_eq!(titles, expected);
}
