//! Checks that run a command: `tests`, `build`, `lint`, `typecheck`, and any
//! other name that has one.
//!
//! The exit code decides. For `tests` and `tests-…`, for a command that is a
//! known test runner and where `report` demands it, the runner's report decides too, and
//! can only make it worse: see [`report`].

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::{CheckPolicy, Mode};

use super::kind::with_command;
use super::launch::{Launch, argv};
use crate::check::{Check, CheckContext, CheckId, Cost};
use crate::report::{self, Judged, Reader, Request};
use crate::site::Site;

/// Python tells bytecode from its source by size and by seconds: what a run left
/// behind would be run again after a quick repair of the same size.
const NO_BYTECODE: &str = "PYTHONDONTWRITEBYTECODE";

/// Runs a command.
pub(crate) struct CommandCheck {
    id: CheckId,
    settings: CheckPolicy,
    /// Where the command comes from, if not from the settings.
    found_in: Option<String>,
}

impl CommandCheck {
    /// The check of this name, with its own command or the project's.
    pub(crate) fn new(id: CheckId, settings: &CheckPolicy, site: &Site) -> Self {
        match with_command(id.as_str(), settings, site) {
            Some((settings, found_in)) => Self { id, settings, found_in },
            None => Self { id, settings: settings.clone(), found_in: None },
        }
    }

    fn reads_tests(&self) -> bool {
        let name = self.id.as_str();
        name == "tests"
            || name.starts_with("tests-")
            || self.settings.report.is_some()
            || (!self.settings.shell && report::is_runner(&self.settings.command))
    }

    async fn run_tests(&self, cx: &CheckContext) -> Evidence {
        let demanded = self.settings.report;
        let folder = match tempfile::Builder::new().prefix("gate-report-").tempdir() {
            Ok(folder) => folder,
            Err(error) => {
                let place = std::env::temp_dir();
                let summary = format!("no folder for its report in {}: {error}", place.display());
                return self.inconclusive(summary);
            }
        };
        let cwd = cx.site.folder_of(&self.settings);
        let prepared = report::prepare(&Request {
            argv: &self.settings.command,
            shell: self.settings.shell,
            demanded,
            folder: folder.path(),
            cwd: &cwd,
        });
        let reader = Shared::new(prepared.reader);
        let launch = Launch {
            argv: argv(&prepared.argv, self.settings.shell),
            variables: self.variables(cx, prepared.env, prepared.env_added),
            reader: Some(reader.lines()),
            ..self.launch()
        };
        let launched = match launch.run(cx).await {
            Ok(launched) => launched,
            Err(evidence) => return *evidence,
        };
        let report = reader.finish();
        let Judged { outcome, summary, detail } =
            report::judge(report.as_ref(), launched.exit_code, demanded);
        let mut evidence = launched.came_to(outcome, &summary, Some(("tests", detail)));
        evidence.flaky = report.map(|report| report.flaky).unwrap_or_default();
        evidence
    }

    /// The variables to set, and those to which something is added.
    fn variables(
        &self,
        cx: &CheckContext,
        mut set: Vec<(String, String)>,
        added: Vec<(String, String)>,
    ) -> Vec<(String, String)> {
        for (name, value) in added {
            let asked = self.settings.env.contains(&name);
            let own = cx.site.variable(&name).filter(|own| asked && !own.is_empty());
            set.push((name, own.map_or(value.clone(), |own| format!("{own} {value}"))));
        }
        set.push((NO_BYTECODE.to_owned(), "1".to_owned()));
        set
    }

    async fn run_command(&self, cx: &CheckContext) -> Evidence {
        let launched = match self.launch().run(cx).await {
            Ok(launched) => launched,
            Err(evidence) => return *evidence,
        };
        let (outcome, summary) = match launched.exit_code {
            Some(0) => (Outcome::Pass, "exit code 0".to_owned()),
            // What a shell answers where there is no such program.
            Some(code @ (126 | 127)) => {
                (Outcome::Inconclusive, format!("exit code {code}: its command could not be run"))
            }
            Some(code) => (Outcome::Fail, format!("exit code {code}")),
            None => (Outcome::Fail, "a signal ended it".to_owned()),
        };
        launched.came_to(outcome, &summary, None)
    }

    fn launch(&self) -> Launch<'_> {
        Launch {
            id: &self.id,
            settings: &self.settings,
            argv: argv(&self.settings.command, self.settings.shell),
            variables: Vec::new(),
            stdin: None,
            reader: None,
        }
    }

    fn inconclusive(&self, summary: String) -> Evidence {
        let argv = argv(&self.settings.command, self.settings.shell);
        let evidence = Evidence::new(self.id.as_str(), Mode::default(), Outcome::Inconclusive);
        Evidence { summary, argv, ..evidence }
    }
}

#[async_trait]
impl Check for CommandCheck {
    fn id(&self) -> &CheckId {
        &self.id
    }

    fn cost(&self) -> Cost {
        match self.id.as_str() {
            "lint" | "typecheck" => Cost::Tool,
            "build" => Cost::Build,
            _ => Cost::Run,
        }
    }

    fn program(&self) -> Option<&[String]> {
        Some(&self.settings.command)
    }

    async fn run(&self, cx: &CheckContext) -> Evidence {
        if self.settings.command.is_empty() {
            let summary = "it has no command, and the project shows none; write `command` \
                           (`gate init` looks for one)";
            return self.inconclusive(summary.to_owned());
        }
        let mut evidence =
            if self.reads_tests() { self.run_tests(cx).await } else { self.run_command(cx).await };
        if let Some(place) = &self.found_in {
            evidence.summary = format!("{} (command found in {place})", evidence.summary);
        }
        evidence
    }
}

/// A reader that the process feeds and the check ends.
#[derive(Clone)]
struct Shared(Arc<Mutex<Option<Box<dyn Reader>>>>);

impl Shared {
    fn new(reader: Box<dyn Reader>) -> Self {
        Self(Arc::new(Mutex::new(Some(reader))))
    }

    fn lines(&self) -> crate::process::LineReader {
        let shared = self.clone();
        Box::new(move |stream, line| {
            if let Some(reader) = &mut *shared.lock() {
                reader.line(stream, line);
            }
        })
    }

    fn finish(&self) -> Option<report::TestReport> {
        let reader = self.lock().take();
        reader.and_then(|reader| reader.finish())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Box<dyn Reader>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
