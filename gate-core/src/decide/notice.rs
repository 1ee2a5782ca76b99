//! The notices to a person about stops that were let go.

use super::decision::Decision;
use super::situation::{Course, Released, Situation};

/// The occasions on which a person gets a notice of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Never: nothing is worth a message.
    Silent,
    /// Each time.
    Always,
    /// The first time in a session.
    OncePerSession,
    /// The first time in a project.
    OncePerProject,
}

impl Decision {
    /// The occasion on which the person gets a notice of this release.
    pub fn notice(&self) -> Notice {
        let Some(situation) = self.situation() else { return Notice::Silent };
        let has_run_checks = !self.input.evidence.is_empty();
        match self.released {
            None => Notice::Silent,
            Some(Released::Waiting) => Notice::Silent,
            Some(Released::Red) => Notice::Always,
            Some(Released::Green) if situation.is_unattended() => Notice::Silent,
            Some(Released::Green) => Notice::Always,
            Some(Released::NotRun) if situation.news().is_some() => Notice::Always,
            Some(Released::NotRun) if self.input.observed.is_work_missing() => Notice::Always,
            Some(Released::NotRun) if has_run_checks => Notice::OncePerSession,
            Some(Released::NotRun) if situation.owed_red().is_some() => Notice::Always,
            Some(Released::NotRun) => match situation.course(self.input.signal.status) {
                Course::Release | Course::Wait => Notice::Silent,
                Course::Look | Course::Decide => Notice::OncePerProject,
            },
        }
    }

    /// The circumstances of the stop; `None` unless a hook asked.
    pub fn situation(&self) -> Option<&Situation> {
        self.input.observed.stop.as_ref()?.situation.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::decision::decide;
    use crate::decide::evidence::{Evidence, Outcome};
    use crate::decide::input::Input;
    use crate::decide::policy::{Mode, Policy};
    use crate::decide::signal::{Signal, Status};
    use crate::decide::situation::{Owed, Work};
    use crate::decide::stop::Stop;

    fn decision(released: Option<Released>, situation: Option<Situation>) -> Decision {
        let signal = Signal { status: Status::Absent, ..Signal::absent() };
        let mut decision = decide(&Input::new(signal, Vec::new()), &Policy::default());
        let (agent, background) = ("codex".to_owned(), Vec::new());
        decision.input.observed.stop = Some(Stop { agent, prompt: None, background, situation });
        Decision { released, ..decision }
    }

    fn notice(released: Released, situation: &Situation) -> Notice {
        decision(Some(released), Some(situation.clone())).notice()
    }

    #[test]
    fn only_a_release_in_a_hook_is_worth_a_message() {
        assert_eq!(decision(None, Some(Situation::default())).notice(), Notice::Silent);
        assert_eq!(decision(Some(Released::Red), None).notice(), Notice::Silent);
        assert_eq!(notice(Released::Red, &Situation::default()), Notice::Always);
    }

    #[test]
    fn green_is_told_only_to_a_person_who_is_there() {
        for (headless, expected) in [(false, Notice::Always), (true, Notice::Silent)] {
            let situation = Situation { presence: Some(headless).into(), ..Situation::default() };
            assert_eq!(notice(Released::Green, &situation), expected);
        }
    }

    #[test]
    fn checks_that_did_not_run_are_told_as_often_as_it_matters() {
        let idle = Situation::default();
        let changed = Situation { work: Work::Changed, ..Situation::default() };
        let red = Owed { red: vec!["test_a".to_owned()] };
        let owing = Situation { owed: Some(red), ..Situation::default() };
        assert_eq!(notice(Released::NotRun, &idle), Notice::Silent);
        assert_eq!(notice(Released::NotRun, &changed), Notice::OncePerProject);
        assert_eq!(notice(Released::NotRun, &owing), Notice::Always);
        for situation in [idle, changed, owing] {
            let evidence = vec![Evidence::new("tests", Mode::Require, Outcome::Skipped)];
            let mut decision = decision(Some(Released::NotRun), Some(situation));
            decision.input.evidence = evidence;
            assert_eq!(decision.notice(), Notice::OncePerSession);
        }
    }
}
