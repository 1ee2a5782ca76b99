//! The one reply to a stop, for all work trees and projects that it is about.

use std::fs::{DirBuilder, OpenOptions};
use std::path::Path;
use std::time::Duration;

use gate_core::decide::elsewhere::{CheckedElsewhere, WorkElsewhere};
use gate_platform::{DirBuilderExt, OpenOptionsExt};

use super::prompt::is_older_than_prompt;
use super::session::{Session, is_new_message};
use super::{Ground, Grounds, HookCall, OtherGround};
use crate::agent::Agent;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::memory::{Memory, NotJudged};
use crate::panics::guarded;
use crate::settings::Selection;
use crate::trust::{self, NOT_TRUSTED};
use crate::{render, secrets};

/// The longest wait for a store if nothing can be decided. The failure may be the store's own.
const STORE_TIMEOUT: Duration = Duration::from_secs(1);

/// The answer to the client.
pub(crate) enum StopReply {
    /// The agent may stop.
    Allow,
    /// The agent may stop. The person gets this message.
    Notice(String),
    /// The agent may stop: it waits for what starts it again.
    Pause,
    /// The agent has to go on, for this reason.
    Refuse(String),
    /// The agent may stop, but the work is not done. The person gets this message.
    LetGo(String),
}

impl StopReply {
    /// One reply for several projects. A refusal wins over everything else, and unfinished
    /// work over notices.
    fn combine(replies: Vec<Self>) -> Self {
        let (mut refusals, mut undone, mut notices) = (Vec::new(), Vec::new(), Vec::new());
        let mut is_pause = false;
        for reply in replies {
            match reply {
                Self::Allow => {}
                Self::Pause => is_pause = true,
                Self::Notice(message) => notices.push(message),
                Self::Refuse(reason) => refusals.push(reason),
                Self::LetGo(message) => undone.push(message),
            }
        }
        if !refusals.is_empty() {
            Self::Refuse(refusals.join("\n\n"))
        } else if !undone.is_empty() {
            Self::LetGo(undone.join("\n"))
        } else if !notices.is_empty() {
            Self::Notice(notices.join("\n"))
        } else if is_pause {
            Self::Pause
        } else {
            Self::Allow
        }
    }

    /// Adds a message for the person. A refusal stays as it is.
    pub(super) fn with_notice(self, notice: &str) -> Self {
        match self {
            Self::Allow | Self::Pause => Self::Notice(notice.to_owned()),
            Self::Notice(message) => Self::Notice(format!("{message}\n{notice}")),
            Self::LetGo(message) => Self::LetGo(format!("{message}\n{notice}")),
            Self::Refuse(reason) => Self::Refuse(reason),
        }
    }
}

impl HookCall<'_> {
    /// Judges a stop in each work tree and project that it is about, last in the agent's own: its
    /// decision says what was found in the others. With a failure to read the event, none is judged.
    pub(crate) fn answer(&self, grounds: Grounds, read_failure: Option<&Failure>) -> StopReply {
        let Grounds { main, others, mut work_elsewhere } = grounds;
        let mut replies = Vec::new();
        for OtherGround { ground, work } in others {
            let reply = self.answer_in(ground, &[], read_failure);
            let (passed, summary) = match &reply {
                StopReply::Refuse(_) | StopReply::LetGo(_) | StopReply::Pause => {
                    (false, "its checks do not pass")
                }
                StopReply::Allow | StopReply::Notice(_) => (true, "its checks pass"),
            };
            replies.push(match reply {
                StopReply::Refuse(reason) => {
                    StopReply::Refuse(format!("In {}:\n{reason}", work.place))
                }
                reply => reply,
            });
            let checked = Some(CheckedElsewhere { passed, summary: summary.to_owned() });
            work_elsewhere.push(WorkElsewhere { checked, ..work });
        }
        replies.push(self.answer_in(main, &work_elsewhere, read_failure));
        StopReply::combine(replies)
    }

    /// Judges a stop in one work tree.
    fn answer_in(
        &self,
        mut ground: Ground,
        work_elsewhere: &[WorkElsewhere],
        read_failure: Option<&Failure>,
    ) -> StopReply {
        let mut replies = Vec::new();
        for places in &ground.projects {
            let invocation = Invocation { places: places.clone() };
            // A panic becomes a failure: ended by one, the hook would let the agent stop.
            let verdict = match read_failure {
                None => guarded(|| self.judge(&invocation, ground.turn.as_mut(), work_elsewhere)),
                Some(failure) => Err(failure.clone()),
            };
            let session = ground.turn.as_ref().and_then(|turn| turn.session.as_ref());
            replies.push(
                verdict.unwrap_or_else(|failure| self.undecided(&invocation, &failure, session)),
            );
        }
        let reply = StopReply::combine(replies);
        if let Some(turn) = &mut ground.turn {
            // A turn whose stop is not judged goes on, or was broken off: its changes are still to
            // be checked.
            if self.event.not_judged.is_none() {
                let goes_on = matches!(reply, StopReply::Refuse(_) | StopReply::Pause);
                turn.end(self.event.transcript.as_deref(), goes_on);
            }
            turn.note_background(&self.event);
        }
        reply
    }

    /// Answers a stop that gate cannot decide: refuses it once, and then lets the agent go; at
    /// once if only a person can help.
    fn undecided(
        &self,
        invocation: &Invocation,
        failure: &Failure,
        session: Option<&Session>,
    ) -> StopReply {
        let state = invocation.places.state.as_deref();
        let session_id = self.event.session.as_deref();
        let problem = secrets::masked(&gate_core::text::clean(&render::message(failure)));
        // A mistake in a file that is older than the prompt is not the agent's.
        let file_and_session = failure.file.as_deref().zip(session);
        let is_old_mistake = file_and_session
            .is_some_and(|(file, session)| is_older_than_prompt(Path::new(file), session));
        // The agent cannot put that right, and must not.
        let is_for_person = failure.code == NOT_TRUSTED || is_old_mistake;
        let problem = match &failure.hint {
            Some(hint) if is_for_person => format!("{problem} ({hint})"),
            _ => problem,
        };
        if !is_for_person && is_first_undecided(state, self.agent, session_id) {
            return StopReply::Refuse(format!(
                "gate cannot decide whether the work is done: {problem}\n\
                 If you can put that right, do so, and finish again; else tell the person about it."
            ));
        }
        // What keeps gate from deciding may keep it from recording, too.
        let _ = self.record_undecided(invocation, &problem);
        let message = format!("{} {problem}", session_id.unwrap_or_default());
        if is_old_mistake && !is_new_message(state, &invocation.places.folder, &message) {
            return StopReply::Allow;
        }
        StopReply::LetGo(format!(
            "gate could not decide, and let the agent stop, not done: {problem}"
        ))
    }

    /// Records a stop that was allowed undecided, so that `gate last` shows it.
    fn record_undecided(&self, invocation: &Invocation, problem: &str) -> Result<(), Failure> {
        let id = trust::settings_in_force(&invocation.places, &Selection::default())
            .map_or(None, |(settings, _)| settings.policy.project.id);
        let mut memory = Memory::open_within(&invocation.places, id.as_deref(), STORE_TIMEOUT)?;
        memory.undecided(&NotJudged {
            agent: self.agent.name(),
            session: self.event.session.as_deref(),
            why: problem,
        })
    }
}

/// This is the session's first stop that cannot be decided. A stop that cannot be remembered is none:
/// otherwise gate would refuse every stop, and the agent would be trapped. The store itself may be
/// the reason, so the stops are remembered in files beside it.
pub(super) fn is_first_undecided(
    state: Option<&Path>,
    agent: Agent,
    session: Option<&str>,
) -> bool {
    let (Some(state), Some(session)) = (state, session) else { return false };
    let folder = state.join("undecided");
    if DirBuilder::new().recursive(true).mode(0o700).create(&folder).is_err() {
        return false;
    }
    let name = blake3::hash(format!("{} {session}", agent.name()).as_bytes()).to_hex();
    let file = folder.join(&name[..32]);
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(file).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(text: &str) -> StopReply {
        StopReply::Notice(text.to_owned())
    }

    fn refuse(text: &str) -> StopReply {
        StopReply::Refuse(text.to_owned())
    }

    fn let_go(text: &str) -> StopReply {
        StopReply::LetGo(text.to_owned())
    }

    /// The reply with its text.
    fn shown(reply: StopReply) -> (&'static str, String) {
        match reply {
            StopReply::Allow => ("allow", String::new()),
            StopReply::Notice(text) => ("notice", text),
            StopReply::Refuse(text) => ("refuse", text),
            StopReply::LetGo(text) => ("let go", text),
            StopReply::Pause => ("pause", String::new()),
        }
    }

    #[track_caller]
    fn check(replies: Vec<StopReply>, kind: &'static str, text: &str) {
        assert_eq!(shown(StopReply::combine(replies)), (kind, text.to_owned()));
    }

    #[test]
    fn a_refusal_wins_and_unfinished_work_comes_before_notices() {
        let one_of_each =
            || vec![StopReply::Allow, notice("n"), let_go("l"), refuse("r"), refuse("s")];
        check(one_of_each(), "refuse", "r\n\ns");
        check(one_of_each().into_iter().take(3).chain([let_go("m")]).collect(), "let go", "l\nm");
        check(vec![notice("n"), StopReply::Allow, notice("o")], "notice", "n\no");
        check(vec![StopReply::Allow, StopReply::Allow], "allow", "");
        check(vec![StopReply::Allow, StopReply::Pause], "pause", "");
        check(Vec::new(), "allow", "");
    }

    #[test]
    fn a_notice_joins_every_reply_but_a_refusal() {
        let joined = |reply: StopReply| shown(reply.with_notice("changed"));
        assert_eq!(joined(StopReply::Allow), ("notice", "changed".to_owned()));
        assert_eq!(joined(notice("n")), ("notice", "n\nchanged".to_owned()));
        assert_eq!(joined(let_go("l")), ("let go", "l\nchanged".to_owned()));
        assert_eq!(joined(refuse("r")), ("refuse", "r".to_owned()));
    }
}
