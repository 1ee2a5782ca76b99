//! What happens between gate and a client: the same in all of them.

use super::client::Client;
use super::ended::Ended;
use super::model::Reply::{self, Fails, Runs, Says};
use super::session::Session;
use crate::support::{Run, STUCK, UNDONE, gate};

pub(super) use super::beside::*;

/// The agent's claim.
pub(super) const DONE: &str = "\
I have put the shelf straight, and all of the work is finished. It is ready for review.

<promise>COMPLETE</promise>
";

/// The same claim in another spelling.
pub(super) const DONE_TOO: &str = "\
The shelf is straight now: it hung on one screw, and has two. All of the work is finished.

EXIT_STATUS: COMPLETE
EXIT_REASON: the shelf is straight
";

/// The work itself.
pub(super) const MEND: Reply = Runs("echo straight > shelf.txt");

/// What the feedback says while the shelf is crooked.
pub(super) const REASON: &str = "tests failed";

const CHECK: &str = "[checks.tests]\ncommand = [\"sh\", \"check.sh\"]\n";

/// A repository whose check fails until `shelf.txt` says that it is straight.
/// `gate --version` only makes its folder.
fn project() -> Run {
    let check = "grep -q straight shelf.txt\n";
    gate("--version").file("check.sh", check).file("shelf.txt", "crooked\n")
}

pub(super) fn gated(more: &str) -> Run {
    project().settings(&format!("{CHECK}{more}")).committed()
}

/// The same whose check is green.
pub(super) fn straight() -> Run {
    gated("").file("shelf.txt", "straight\n").committed()
}

/// Blocked while the check fails, let go when the work is done, with the hook that
/// `gate install` puts in: it is called, and gone again afterwards, to the byte.
pub(super) fn mended(client: &'static Client) {
    let script = [Says(DONE), MEND, Says(DONE_TOO)];
    let ended = Session::new(client, gated(""), &script).installed().run();
    assert_eq!(ended.file("shelf.txt"), "straight\n");
    ended.asked(3..=3).reads(1, REASON).last(0);
}

/// The same with a plug-in, which the client's own commands put in.
pub(super) fn plugged(client: &'static Client, calls: &[&[&str]]) -> Ended {
    let script = [Says(DONE), MEND, Says(DONE_TOO)];
    let ended = Session::new(client, gated(""), &script).plugin(calls).run();
    assert_eq!(ended.file("shelf.txt"), "straight\n");
    ended.asked(3..=3).reads(1, REASON).last(0)
}

/// A command of a plug-in, before anything was decided. The model is shown what gate says.
pub(super) fn told(client: &'static Client, calls: &[&[&str]], prompt: &'static str) -> Ended {
    let session = Session::new(client, gated(""), &[Says("Stops are judged here.")]);
    session.prompt(prompt).plugin(calls).run().asked(1..=1)
}

/// A session leaves what the tree was before its first tool call, and its stops are
/// compared with that.
pub(super) fn began(client: &'static Client) {
    let script = [Runs("echo true > check.sh"), Says("It checks nothing now.")];
    let project = gated("").file("mine.txt", "not committed\n");
    let ended = Session::new(client, project, &script).installed().run();
    assert_eq!(ended.asked(2..=2).changed(), ["check.sh"]);
}

/// `gate run` starts the client again until the work is done, and tells it what
/// was missing.
pub(super) fn in_a_loop(client: &'static Client) {
    let script = [Says(DONE), Says(DONE), MEND, Says(DONE_TOO)];
    let project = gated("").file("PROMPT.md", "The shelf is crooked. Mend it.\n");
    let ended = Session::new(client, project, &script).looped().run();
    assert_eq!(ended.file("shelf.txt"), "straight\n");
    ended.asked(4..=4).reads(1, REASON).last(0);
}

/// A loop that gets nowhere is stopped, as what it is.
pub(super) fn in_an_endless_loop(client: &'static Client) {
    let project = gated("").file("PROMPT.md", "The shelf is crooked. Mend it.\n");
    let ended = Session::new(client, project, &[Says(DONE)]).looped().run();
    ended.code(1).last(3).never_passed();
}

/// The last word counts, also where the client is slow to write it down: an
/// earlier word, or none, does not pass because the checks do.
pub(super) fn not_done_yet(client: &'static Client) {
    let mend = Runs("echo straight > shelf.txt; sleep 1");
    let script = [Runs("sleep 2"), Says(DONE), mend, Says(UNDONE), Says(DONE_TOO)];
    Session::new(client, gated(""), &script).run().asked(5..=5).reads(2, REASON).last(0);
}

/// Let go in the end, as what it is: not done.
pub(super) fn never_mended(client: &'static Client) {
    let ended = Session::new(client, gated(""), &[Says(DONE)]).run();
    ended.asked(2..=6).reads(1, REASON).last(3).never_passed();
}

/// The same where no breaker is in the way: the limit of the hook holds.
pub(super) fn max_blocks(client: &'static Client) {
    let off = "[hook]\nmax_blocks = 4\n\
        [breaker]\nno_progress = 0\nrefused = 0\nno_exit = 0\nsame_error = 0\n";
    let ended = Session::new(client, gated(off), &[Says(DONE)]).run();
    ended.asked(5..=5).reads(1, REASON).last(3).never_passed();
}

/// An agent that says that it cannot go on is let go, as what it is.
pub(super) fn stuck(client: &'static Client) {
    let ended = Session::new(client, gated(""), &[Says(STUCK)]).run();
    ended.asked(1..=1).last(4).never_passed();
}

/// A person's goal refuses work until its command passes, also where nothing else is set up. A goal
/// that is reached costs no call.
pub(super) fn goal(client: &'static Client) {
    let goal = ["goal", "the shelf is straight", "--", "sh", "check.sh"];
    let check = "grep straight shelf.txt || { echo 'assert crooked == straight'; exit 1; }\n";
    let given = project().words("").args(goal).file("check.sh", check).committed();
    let script = [Runs("echo screw > screw.txt"), Says("Done."), MEND, Says("It is straight.")];
    let ended = Session::new(client, given, &script).installed().run();
    let ended = ended.asked(4..=4).reads(2, "assert crooked == straight").released("green");
    let goals = ended.project.beside("goal").output().unwrap();
    assert!(String::from_utf8_lossy(&goals.stdout).contains("none is open here"));
}

/// A question costs one call of the model, also with a dirty tree and a red check.
pub(super) fn answers(client: &'static Client) {
    let talk = "A shelf wants two screws in the wall, not one. That is all there is to it.";
    let project = gated("").file("mine.txt", "not committed\n");
    let ended = Session::new(client, project, &[Says(talk)]).installed().run();
    ended.asked(1..=1).released("not-run");
}

/// Honest work whose check is green costs no call beside its own, and needs no signal.
pub(super) fn green_without_a_signal(client: &'static Client) {
    let script = [Runs("echo 'echo hung' > hang.sh"), Says("I wrote how it hangs.")];
    let ended = Session::new(client, straight(), &script).installed().run();
    ended.asked(2..=2).released("green");
}

/// "Done" in prose over a check that the agent made red is refused with its words.
pub(super) fn red_in_prose(client: &'static Client) {
    let bend = Runs("echo crooked > shelf.txt; git commit -qam bend");
    let script = [bend, Says("All of it is done."), MEND, Says("It is straight again.")];
    let ended = Session::new(client, straight(), &script).installed().run();
    ended.asked(4..=4).reads(2, REASON).released("green");
}

/// A check that was red before the session holds nobody who claims nothing.
pub(super) fn red_before(client: &'static Client) {
    let script = [Runs("echo 'echo hung' > hang.sh"), Says("I wrote how it hangs.")];
    let ended = Session::new(client, gated(""), &script).installed().run();
    ended.asked(2..=2).released("red");
}

/// A rename with its test, as it was asked for, costs no call beside its own.
pub(super) fn renamed_with_its_test(client: &'static Client) {
    let rename = Runs("sed -i s/straight/level/ shelf.txt check.sh");
    let script = [rename, Says("It is called level now, in the test, too.")];
    let ended = Session::new(client, straight(), &script).installed().run();
    ended.asked(2..=2).released("green");
}

/// A test that was deleted as it was asked for, too.
pub(super) fn deleted_as_asked(client: &'static Client) {
    let both = "[checks.tests]\ncommand = [\"sh\", \"all.sh\"]\n";
    let project = project().settings(both).file("shelf.txt", "straight\n");
    let project = project.file("all.sh", "for t in tests/*.sh; do sh $t || exit 1; done\n");
    let project = project.file("tests/old.sh", "true\n").file("tests/new.sh", "true\n");
    let script = [Runs("git rm -q tests/old.sh; echo >> shelf.txt"), Says("The old test is gone.")];
    let ended = Session::new(client, project.committed(), &script).installed().run();
    ended.asked(2..=2).released("green");
}

/// An edit of the person that is half done and red holds nobody who was asked for something else.
pub(super) fn half_done_by_the_person(client: &'static Client) {
    let project = straight().file("shelf.txt", "half way\n");
    let script = [Runs("echo 'echo hung' > hang.sh"), Says("I wrote how it hangs.")];
    let ended = Session::new(client, project, &script).installed().run();
    ended.asked(2..=2).released("red");
}

/// A test that fails once and then passes is named, and costs nothing.
pub(super) fn flaky_test(client: &'static Client) {
    let flaky = "[ -e \"$HOME/mark\" ] && exit 0\ntouch \"$HOME/mark\"\nexit 1\n";
    let project = gated("").file("check.sh", flaky).committed();
    let script = [Runs("echo 'echo hung' > hang.sh"), Says("I wrote how it hangs.")];
    let ended = Session::new(client, project, &script).installed().run();
    ended.asked(2..=2).released("green");
}

/// Prose that no check names runs nothing.
pub(super) fn only_prose(client: &'static Client) {
    let script = [Runs("mkdir -p docs && echo 'It hangs.' >> docs/NOTES.md"), Says("I noted it.")];
    let ended = Session::new(client, gated(""), &script).installed().run();
    ended.asked(2..=2).released("not-run");
}

/// A hook that crashes or babbles holds nobody, and passes nothing.
pub(super) fn broken_hooks(client: &'static Client) {
    for hook in ["exit 1", "echo '{\"decision\":\"block\"'"] {
        let session = Session::new(client, gated(""), &[Says(DONE)]).hook(hook);
        session.run().asked(1..=1).last(5);
    }
}

/// A hook that is not there holds nobody, and passes nothing.
pub(super) fn missing_hook(client: &'static Client) {
    let session = Session::new(client, gated(""), &[Says(DONE)]).hook("no-such-gate hook");
    session.run().asked(1..=1).last(5);
}

/// A check that takes for ever: gate answers in time, before the client gives up on it,
/// and lets go; and nothing passes.
pub(super) fn slow_check(client: &'static Client) {
    let slow = project().settings("[checks.tests]\ncommand = [\"sleep\", \"600\"]\n").committed();
    let ended = Session::new(client, slow, &[Says(DONE)]).with("--deadline 2s").run();
    ended.asked(1..=1).released("not-run");
}

/// Settings that cannot be read are told, and pass nothing.
pub(super) fn broken_settings(client: &'static Client) {
    let broken = project().settings("[checks.tests]\ncommand = []\n");
    let ended = Session::new(client, broken.committed(), &[Says(DONE)]).run();
    ended.asked(2..=6).never_passed();
}

/// In a project that has no settings nothing is held, and nothing recorded.
pub(super) fn no_settings(client: &'static Client) {
    let talk = "A shelf wants two screws in the wall, not one.";
    let ended = Session::new(client, project().committed(), &[Says(talk)]).run();
    ended.asked(1..=1).last(5);
}

/// A model that fails is the client's to tell; nothing passes.
pub(super) fn model_fails(client: &'static Client) {
    let ended = Session::new(client, gated(""), &[Fails(400)]).run();
    ended.never_passed();
}
