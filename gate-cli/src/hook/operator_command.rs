//! Commands to gate in an agent's prompt. They count as the operator's if a person typed them
//! (`typed`).

use std::time::Duration;

use crate::settings::parse_duration;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OperatorCommand {
    /// `gate off [--for D]`.
    Off(Option<Duration>),
    /// `gate on`.
    On,
    /// `gate on --session`.
    OnForSession,
    /// `gate status`.
    Status,
    /// `gate last`.
    Last,
    /// `gate trust`.
    Trust,
    /// `gate goal`.
    Goals,
    /// `gate goal TEXT`.
    Goal(String),
    /// `gate goal TEXT -- COMMAND`, as it is typed.
    GoalWithCommand(String),
    /// `gate goal drop [TEXT]`.
    DropGoals(Option<String>),
    /// `gate approve TEST… [REASON]`, with its words.
    Approve(Vec<String>),
}

impl OperatorCommand {
    /// The command that a prompt is; `None` unless the whole prompt is one.
    pub(super) fn parse(prompt: &str) -> Option<Self> {
        let command = prompt.trim().trim_start_matches(['!', '/']);
        let words: Vec<_> = command.split_whitespace().collect();
        match words.as_slice() {
            ["gate", "off"] => Some(Self::Off(None)),
            ["gate", "off", "--for", length] => Some(Self::Off(Some(parse_duration(length).ok()?))),
            ["gate", "on"] => Some(Self::On),
            ["gate", "on", "--session"] => Some(Self::OnForSession),
            ["gate", "status"] => Some(Self::Status),
            ["gate", "last"] => Some(Self::Last),
            ["gate", "trust"] => Some(Self::Trust),
            ["gate", "goal"] | ["gate", "goal", "show" | "list"] => Some(Self::Goals),
            ["gate", "goal", ..] => Some(Self::goal(command)),
            ["gate", "approve", ..] => {
                // Names of tests may have blanks, so they are read as a shell reads them.
                Some(Self::Approve(shlex::split(command)?.into_iter().skip(2).collect()))
            }
            _ => None,
        }
    }

    /// A command about goals. A text may stand without quotes, and then an apostrophe is one.
    fn goal(command: &str) -> Self {
        let words = shlex::split(command)
            .unwrap_or_else(|| command.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        let words = words.get(2..).unwrap_or_default();
        let text = words.join(" ");
        match words {
            _ if words.iter().any(|word| word == "--") => Self::GoalWithCommand(command.to_owned()),
            [act] if act == "drop" => Self::DropGoals(None),
            [act, ..] if act == "drop" => Self::DropGoals(Some(words[1..].join(" "))),
            _ => Self::Goal(text),
        }
    }

    /// Only a person may give it. To ask, and to have stops checked, harms nobody.
    pub(super) fn needs_person(&self) -> bool {
        !matches!(
            self,
            Self::On
                | Self::OnForSession
                | Self::Status
                | Self::Last
                | Self::Goals
                | Self::GoalWithCommand(_)
        )
    }

    /// The answer to a command that gate does not take for a person's. `typed` is its text.
    pub(super) fn not_obeyed(&self, typed: &str, doubt: &str) -> String {
        let effect = match self {
            Self::Off(_) => "switch gate off here",
            Self::Trust => "approve the settings as they are",
            Self::Approve(_) => "approve what it names",
            Self::Goal(_) | Self::GoalWithCommand(_) => "give the agent a goal",
            Self::DropGoals(_) => "drop a goal",
            Self::On | Self::OnForSession => "have stops checked",
            Self::Status | Self::Last | Self::Goals => "show something",
        };
        let command = typed.trim().trim_start_matches(['!', '/']);
        format!(
            "gate: this would {effect}. Nothing has changed: {doubt}. If you want it, type it in a terminal: {command}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_the_whole_prompt() {
        assert_eq!(OperatorCommand::parse("gate off"), Some(OperatorCommand::Off(None)));
        let hour = Some(OperatorCommand::Off(Some(Duration::from_secs(3600))));
        assert_eq!(OperatorCommand::parse(" gate off --for 1h\n"), hour);
        assert_eq!(
            OperatorCommand::parse("gate on --session"),
            Some(OperatorCommand::OnForSession)
        );
        let approval = |words: &[&str]| {
            Some(OperatorCommand::Approve(words.iter().map(|word| (*word).to_owned()).collect()))
        };
        let command = OperatorCommand::parse("gate approve 'a > b' new price");
        assert_eq!(command, approval(&["a > b", "new", "price"]));
        assert_eq!(OperatorCommand::parse("!gate approve"), approval(&[]));
        for prompt in [
            "please gate off",
            "gate approved",
            "gate approve 'a",
            "gate off and go on",
            "gate off --for ever",
            "gate",
            "",
        ] {
            assert_eq!(OperatorCommand::parse(prompt), None, "{prompt}");
        }
    }

    #[test]
    fn a_goal_is_text_alone() {
        let goal = |text: &str| Some(OperatorCommand::Goal(text.to_owned()));
        for prompt in [
            "gate goal \"the user's export\"",
            "/gate goal the user's export",
            "gate  goal the  user's export",
        ] {
            assert_eq!(OperatorCommand::parse(prompt), goal("the user's export"), "{prompt}");
        }
        assert_eq!(OperatorCommand::parse("gate goal 'drop -- it'"), goal("drop -- it"));
        assert_eq!(OperatorCommand::parse("gate goal"), Some(OperatorCommand::Goals));
        let dropped =
            |text: Option<&str>| Some(OperatorCommand::DropGoals(text.map(str::to_owned)));
        assert_eq!(OperatorCommand::parse("gate goal drop"), dropped(None));
        assert_eq!(OperatorCommand::parse("gate goal drop 'a b'"), dropped(Some("a b")));
        for prompt in ["gate goal \"tax\" -- pytest -k tax", "gate goal it's tax -- pytest"] {
            let command = Some(OperatorCommand::GoalWithCommand(prompt.to_owned()));
            assert_eq!(OperatorCommand::parse(prompt), command);
        }
    }

    #[test]
    fn a_command_may_be_typed_as_clients_mark_theirs() {
        for (prompt, command) in [
            ("!gate trust", OperatorCommand::Trust),
            ("/gate on", OperatorCommand::On),
            ("  !gate   off ", OperatorCommand::Off(None)),
        ] {
            assert_eq!(OperatorCommand::parse(prompt), Some(command), "{prompt}");
        }
        for prompt in ["#gate on", "Gate on", "gate on --session now", "gate off --for 0s", "!"] {
            assert_eq!(OperatorCommand::parse(prompt), None, "{prompt}");
        }
    }
}
