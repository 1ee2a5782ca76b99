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
        let ran = !self.evidence.is_empty();
        match self.released {
            None => Notice::Silent,
            Some(Released::Red) => Notice::Always,
            Some(Released::Green) if situation.headless => Notice::Silent,
            Some(Released::Green) => Notice::Always,
            Some(Released::NotRun) if ran => Notice::OncePerSession,
            Some(Released::NotRun) if situation.owed_red().is_some() => Notice::Always,
            Some(Released::NotRun) => match situation.course(self.signal.status) {
                Course::Release => Notice::Silent,
                Course::Look | Course::Decide => Notice::OncePerProject,
            },
        }
    }

    /// The circumstances of the stop; none unless a hook asked.
    pub fn situation(&self) -> Option<&Situation> {
        self.observed.stop.as_ref()?.situation.as_ref()
    }
}
