//! One run of a command that reports on tests.

use std::time::Duration;

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::CheckPolicy;
use gate_core::decide::test_failure::TestFailure;
use gate_core::text::whole_lines;
use tokio::time::sleep;

use super::launch::{Collected, CopyReport, EXCERPT, Launch, Launched, argv};
use crate::cancellation::{CancelReason, Grace};
use crate::check::{CheckContext, CheckId};
use crate::decorate::shown;
use crate::report::{self, Judged, Request, TestReport};
use crate::temporary::Temporary;

/// Python compares bytecode with its source by size and by seconds: bytecode that a run left behind
/// would still be used after a quick repair of the same size.
pub(super) const NO_BYTECODE: &str = "PYTHONDONTWRITEBYTECODE";

/// Without a terminal npx installs a package that it misses, in whatever version is the newest. A tool
/// that is not installed is no reason to download one: tests decide with the project's own.
const NO_DOWNLOAD: (&str, &str) = ("npm_config_yes", "false");

/// The variables that name folders for temporary files and caches. A private run has them all in
/// its own folder: a compiler's cache would keep the text of tests.
const PRIVATE_FOLDERS: [&str; 4] = ["TMPDIR", "XDG_CACHE_HOME", "GOCACHE", "npm_config_cache"];

/// A command that is about to be run once.
pub(super) struct TestRun<'a> {
    /// The name that its log has.
    pub(super) id: &'a CheckId,
    pub(super) settings: &'a CheckPolicy,
    pub(super) cx: &'a CheckContext,
    /// The runner goes on after a test has failed.
    pub(super) keep_going: bool,
    /// Variables beside those of the settings.
    pub(super) variables: Vec<(String, String)>,
    pub(super) copy_report: CopyReport<'a>,
}

/// A command that was run to its end.
pub(super) struct Ran {
    pub(super) launched: Launched,
    pub(super) report: Option<TestReport>,
}

impl<'a> TestRun<'a> {
    /// A run in the tree itself.
    pub(super) fn new(id: &'a CheckId, settings: &'a CheckPolicy, cx: &'a CheckContext) -> Self {
        let (variables, copy_report) = (Vec::new(), CopyReport::default());
        Self { id, settings, cx, keep_going: false, variables, copy_report }
    }

    /// Runs it, no longer than the settings say.
    ///
    /// # Errors
    ///
    /// The record of a command that gave no answer.
    pub(super) async fn run(self) -> Result<Ran, Box<Evidence>> {
        let cancel = self.cx.cancel.child();
        let limit = Duration::from_millis(self.settings.timeout_ms);
        let cx = CheckContext { cancel: cancel.clone(), ..self.cx.clone() };
        let run = self.unlimited(&cx);
        tokio::pin!(run);
        tokio::select! {
            ran = &mut run => ran,
            () = sleep(limit) => {
                cancel.cancel(CancelReason::Deadline, Grace::Usual);
                let mut evidence = match run.await {
                    Ok(ran) => Box::new(ran.launched.evidence),
                    Err(evidence) => evidence,
                };
                evidence.outcome = Outcome::Inconclusive;
                evidence.summary = format!("it did not end within {} and was ended", shown(limit));
                Err(evidence)
            }
        }
    }

    async fn unlimited(&self, cx: &CheckContext) -> Result<Ran, Box<Evidence>> {
        let folder = match &cx.private {
            Some(private) => Temporary::inside(&private.folder, "report-"),
            None => Temporary::new("report"),
        };
        let folder = match folder {
            Ok(folder) => folder,
            Err(error) => {
                let place = std::env::temp_dir();
                let summary = format!("no folder for its report in {}: {error}", place.display());
                return Err(Box::new(self.inconclusive(summary)));
            }
        };
        let cwd = cx.site.folder_of(self.settings);
        let prepared = report::prepare(&Request {
            argv: &self.settings.command,
            shell: self.settings.shell,
            demanded: self.settings.report,
            folder: folder.path(),
            cwd: &cwd,
            keep_going: self.keep_going,
        });
        let reader = Collected::new(Some(prepared.reader));
        let launch = Launch {
            variables: self.variables(cx, prepared.env, prepared.env_added),
            reader: Some(reader.reader(|reader, stream, line| {
                if let Some(reader) = reader {
                    reader.line(stream, line);
                }
            })),
            copy_report: self.copy_report,
            ..Launch::new(self.id, self.settings, argv(&prepared.argv, self.settings.shell))
        };
        let launched = launch.run(cx).await?;
        let mut report = reader.take().and_then(|reader| reader.finish());
        report.iter_mut().for_each(|report| report.explain(&cwd));
        // Names of tests are kept with the baseline, and shown.
        for test in report.iter_mut().flat_map(|report| &mut report.tests) {
            cx.masker.cover(&mut test.id);
        }
        Ok(Ran { launched, report })
    }

    /// The variables to set, and those to which something is added.
    fn variables(
        &self,
        cx: &CheckContext,
        mut set: Vec<(String, String)>,
        added: Vec<(String, String)>,
    ) -> Vec<(String, String)> {
        for (name, value) in added {
            let is_configured = self.settings.env.contains(&name);
            let own = cx.site.variable(&name).filter(|own| is_configured && !own.is_empty());
            set.push((name, own.map_or(value.clone(), |own| format!("{own} {value}"))));
        }
        set.push((NO_BYTECODE.to_owned(), "1".to_owned()));
        let (name, value) = NO_DOWNLOAD;
        if !self.settings.env.iter().any(|own| own == name) {
            set.push((name.to_owned(), value.to_owned()));
        }
        if let Some(private) = &cx.private {
            let folder = private.folder.display().to_string();
            set.extend(PRIVATE_FOLDERS.map(|name| (name.to_owned(), folder.clone())));
        }
        set.extend(self.variables.iter().cloned());
        set
    }

    fn inconclusive(&self, summary: String) -> Evidence {
        let mut evidence = self.id.record(Outcome::Inconclusive, summary);
        evidence.argv = argv(&self.settings.command, self.settings.shell);
        evidence
    }
}

impl Ran {
    /// The record that its report and its exit code come to.
    pub(super) fn judged(self, settings: &CheckPolicy) -> Evidence {
        let code = self.launched.exit_code;
        self.judged_as(settings, code)
    }

    /// The same with another exit code in the place of its own.
    pub(super) fn judged_as(self, settings: &CheckPolicy, code: Option<i32>) -> Evidence {
        let Self { launched, report } = self;
        let Judged { mut outcome, mut summary, detail } =
            report::judge(report.as_ref(), code, settings.report);
        let has_run = report.as_ref().is_some_and(|report| report.executed() > 0);
        if !has_run && let Some(missing) = launched.not_installed() {
            (outcome, summary) = missing;
        }
        let mut evidence = launched.came_to(outcome, &summary, Some(("tests", detail)));
        evidence.exit_code = code;
        let failures = evidence.failures();
        if evidence.excerpt.is_some() && !failures.is_empty() {
            evidence.excerpt = Some(whole_lines(&messages(&failures), EXCERPT));
        }
        evidence.flaky = report.map(|report| report.flaky).unwrap_or_default();
        evidence
    }
}

/// The failing tests' own messages, each below its test.
fn messages(failures: &[TestFailure]) -> String {
    let messages = failures.iter().map(|failure| match &failure.test {
        Some(test) => format!("{test}\n{}", failure.message),
        None => failure.message.clone(),
    });
    messages.collect::<Vec<_>>().join("\n")
}
