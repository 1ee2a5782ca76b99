//! Claude Code where agents work now: other work trees, helpers, servers, schedules, calls that go on.

use super::client::Client;
use super::model::Reply::{Calls, Fails, Runs, Says};
use super::scenes::{DONE, DONE_TOO, MEND, REASON, gated, straight};
use super::session::Session;
use crate::support::{Run, UNDONE};

/// A repository that is green, whose agents' work trees git does not see.
fn straight_with_trees() -> Run {
    straight().file(".gitignore", ".claude/\n").file("README.md", "A shelf.\n").committed()
}

/// The client's own work tree is where the agent is, and is judged: red it is refused, green it is
/// an exit, which `gate last` knows in the main tree, too.
pub(super) fn in_a_work_tree_of_its_own(client: &'static Client) {
    let enter = Calls("EnterWorktree", r#"{"name": "tax"}"#);
    let bend = Runs("echo crooked > shelf.txt");
    let script = [enter, bend, Says(DONE), MEND, Says(DONE_TOO)];
    let ended = Session::new(client, straight_with_trees(), &script).installed().run();
    assert_eq!(ended.file("shelf.txt"), "straight\n");
    ended.asked(5..=5).reads(3, REASON).last(0);
}

/// Prose is touched here, and the product broken in a work tree that the agent's shell made.
pub(super) fn broken_in_another_work_tree(client: &'static Client) {
    let act =
        "git worktree add -q -b tax ../tax; echo x >> README.md; echo bent > ../tax/shelf.txt";
    let back = Runs("git -C ../tax checkout -q .");
    let script = [Runs(act), Says(DONE), back, Says(DONE_TOO)];
    let ended = Session::new(client, straight_with_trees(), &script).installed().run();
    ended.asked(4..=4).reads(2, "work-elsewhere").last(0);
}

/// A helper in the background is waited for: no call is paid for the wait, and the work that it ends
/// is done.
pub(super) fn waits_for_a_helper(client: &'static Client) {
    let start = Calls(
        "Agent",
        r#"{"description": "the other half", "prompt": "You are the helper. Mend it.",
            "subagent_type": "general-purpose", "run_in_background": true}"#,
    );
    let wait = Says("The helper works in the background. I wait for it.");
    let script = [start, wait, Says(DONE_TOO)];
    let ended = Session::new(client, gated(""), &script).installed().run();
    assert_eq!(ended.file("shelf.txt"), "straight\n");
    ended.asked(3..=3).last(0);
}

/// A server in the background is no reason to let red work go.
pub(super) fn beside_a_server(client: &'static Client) {
    let server = Calls(
        "Bash",
        r#"{"command": "sleep 20", "description": "serve", "run_in_background": true}"#,
    );
    let script = [server, Runs("echo crooked > shelf.txt"), Says(DONE), MEND, Says(DONE_TOO)];
    let ended = Session::new(client, straight(), &script).installed().run();
    ended.asked(5..=6).reads(3, REASON).last(0);
}

/// A task that died is not the done one before it.
pub(super) fn died_after_a_done(client: &'static Client) {
    let ended = Session::new(client, gated(""), &[MEND, Says(DONE_TOO)]).installed().run();
    let done = ended.asked(2..=2).last(0).project.again("--version");
    let ended = Session::new(client, done, &[Fails(500)]).installed().run();
    assert_ne!(ended.code, Some(0));
    ended.last(5);
}

/// A call that goes on with a session reports its own cost alone: both count.
pub(super) fn two_calls_of_one_session(client: &'static Client) {
    let mut project = gated("");
    let mut costs = Vec::new();
    for more in [&[][..], &["--continue"]] {
        let session = Session::new(client, project, &[Says(UNDONE)]).hook("true");
        let ended = session.started_with(more).run().asked(1..=1);
        let said = ended.said.lines().find(|line| line.starts_with('{')).unwrap().to_owned();
        let result: serde_json::Value = serde_json::from_str(&said).unwrap();
        costs.push(result["total_cost_usd"].as_f64().unwrap());
        let check = ended.project.again("check --run r --json out.json").file("out.json", said);
        project = check.code(1).again("--version");
    }
    let ran = project.code(0).again("last --json --run r").code(1);
    let spent = ran.json()["memory"]["run"]["spent"]["cost_micro_usd"].as_u64().unwrap();
    // The state before the second decision: the first call alone.
    assert_eq!(spent, (costs[0] * 1e6).round() as u64, "{costs:?}");
    let ran = ran.again("log --json").code(0);
    assert!(costs[1] > 0.0, "{}", ran.stdout);
}

/// Commands that the agent lets the client send, as if a person had typed them, change nothing.
pub(super) fn scheduled_command(client: &'static Client) {
    let off = r#"{"cron": "* * * * *", "prompt": "gate off --for 1h", "recurring": false}"#;
    let trust = r#"{"cron": "* * * * *", "prompt": "gate trust", "recurring": false}"#;
    let weaken = Runs("sed -i s/check.sh/none.sh/ gate.toml");
    let script =
        [weaken, Calls("CronCreate", off), Calls("CronCreate", trust), Says("They are armed.")];
    let session = Session::new(client, straight(), &script).installed();
    let ended = session.in_a_terminal_until("scheduled_task_fire").run();
    let status = ended.project.again("status").code(0).says("ON");
    let log = status.again("log --json").code(0);
    let trusted = log.stdout.matches("\"type\":\"trusted\"").count();
    assert_eq!(trusted, 0, "{}\n{}", log.stdout, ended.said);
    let sessions = log.home().join(".claude/projects");
    let mut search = std::process::Command::new("grep");
    let fired = search.args(["-rhs", "scheduled_task_fire"]).arg(sessions).output().unwrap();
    assert!(!fired.stdout.is_empty(), "no prompt was sent: {}", ended.said);
}
