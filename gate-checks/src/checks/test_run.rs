//! One run of a command that reports on tests.

use std::time::Duration;

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::CheckPolicy;
use gate_core::decide::test_failure::TestFailure;
use gate_core::text::whole_lines;
use tokio::time::sleep;

use super::launch::{Collector, CopyReport, Launch, Launched, MAX_EXCERPT_CHARS, argv, messages};
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
    /// The name of the run's log.
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
pub(super) struct FinishedRun {
    pub(super) launched: Launched,
    pub(super) report: Option<TestReport>,
}

impl<'a> TestRun<'a> {
    /// A run in the tree itself.
    pub(super) fn new(id: &'a CheckId, settings: &'a CheckPolicy, cx: &'a CheckContext) -> Self {
        let (variables, copy_report) = (Vec::new(), CopyReport::default());
        Self { id, settings, cx, keep_going: false, variables, copy_report }
    }

    /// Runs the command, no longer than the settings say.
    ///
    /// # Errors
    ///
    /// The record of a command that gave no answer.
    pub(super) async fn run(self) -> Result<FinishedRun, Box<Evidence>> {
        let cancel = self.cx.cancel.child();
        let limit = Duration::from_millis(self.settings.timeout_ms);
        let cx = CheckContext { cancel: cancel.clone(), ..self.cx.clone() };
        let running = self.run_without_limit(&cx);
        tokio::pin!(running);
        tokio::select! {
            result = &mut running => result,
            () = sleep(limit) => {
                cancel.cancel(CancelReason::Deadline, Grace::Usual);
                // Its processes have a grace, and the run ends after them.
                let mut evidence = match running.await {
                    Ok(run) => Box::new(run.launched.evidence),
                    Err(evidence) => evidence,
                };
                evidence.outcome = Outcome::Inconclusive;
                evidence.summary = format!("it did not end within {} and was ended", shown(limit));
                Err(evidence)
            }
        }
    }

    async fn run_without_limit(&self, cx: &CheckContext) -> Result<FinishedRun, Box<Evidence>> {
        let created = match &cx.private {
            Some(private) => Temporary::inside(&private.folder, "report-"),
            None => Temporary::new("report"),
        };
        let report_folder = match created {
            Ok(folder) => folder,
            Err(error) => {
                let parent = std::env::temp_dir();
                let summary = format!("no folder for its report in {}: {error}", parent.display());
                return Err(Box::new(self.inconclusive(summary)));
            }
        };
        let cwd = cx.site.folder_of(self.settings);
        let prepared = report::prepare(&Request {
            argv: &self.settings.command,
            shell: self.settings.shell,
            demanded: self.settings.report,
            folder: report_folder.path(),
            cwd: &cwd,
            keep_going: self.keep_going,
        });
        let collector = Collector::new(Some(prepared.reader));
        let launch = Launch {
            variables: self.variables(cx, prepared.env, prepared.env_added),
            reader: Some(collector.reader(|reader, stream, line| {
                if let Some(reader) = reader {
                    reader.line(stream, line);
                }
            })),
            // The report has the failing assertions.
            explains: false,
            copy_report: self.copy_report,
            ..Launch::new(self.id, self.settings, argv(&prepared.argv, self.settings.shell))
        };
        let launched = launch.run(cx).await?;
        let mut report = collector.take().and_then(|reader| reader.finish());
        if let Some(report) = &mut report {
            report.explain(&cwd);
            // ControlNames of tests are kept with the baseline, and shown: they may hold secrets too.
            for test in &mut report.tests {
                cx.masker.cover(&mut test.id);
            }
        }
        Ok(FinishedRun { launched, report })
    }

    /// The variables of the run. The value of each one in `extensions` is added to that of the
    /// environment, if the check gets it.
    fn variables(
        &self,
        cx: &CheckContext,
        mut variables: Vec<(String, String)>,
        extensions: Vec<(String, String)>,
    ) -> Vec<(String, String)> {
        for (name, extension) in extensions {
            let is_configured = self.settings.env.contains(&name);
            let value = match cx.site.variable(&name) {
                Some(value) if is_configured && !value.is_empty() => format!("{value} {extension}"),
                _ => extension,
            };
            variables.push((name, value));
        }
        variables.push((NO_BYTECODE.to_owned(), "1".to_owned()));
        let (name, value) = NO_DOWNLOAD;
        if !self.settings.env.iter().any(|configured| configured == name) {
            variables.push((name.to_owned(), value.to_owned()));
        }
        if let Some(private) = &cx.private {
            let folder = private.folder.display().to_string();
            variables.extend(PRIVATE_FOLDERS.map(|name| (name.to_owned(), folder.clone())));
        }
        // The caller's variables come last: they take the place of others.
        variables.extend(self.variables.iter().cloned());
        variables
    }

    fn inconclusive(&self, summary: String) -> Evidence {
        let mut evidence = self.id.record(Outcome::Inconclusive, summary);
        evidence.argv = argv(&self.settings.command, self.settings.shell);
        evidence
    }
}

impl FinishedRun {
    /// The record that its report and its exit code come to.
    pub(super) fn judged(self, settings: &CheckPolicy) -> Evidence {
        let Self { launched, report } = self;
        let exit_code = launched.exit_code;
        let Judged { mut outcome, mut summary, detail } =
            report::judge(report.as_ref(), exit_code, settings.report);
        // A test that ran may have printed the same words.
        let has_run_tests = report.as_ref().is_some_and(|report| report.executed() > 0);
        if !has_run_tests && let Some(outcome_and_summary) = launched.missing_program() {
            (outcome, summary) = outcome_and_summary;
        }
        let mut evidence = launched.into_evidence(outcome, &summary, Some(("tests", detail)));
        evidence.exit_code = exit_code;
        let failures = evidence.failures();
        if evidence.excerpt.is_some() && !failures.is_empty() {
            evidence.excerpt = Some(excerpt(&failures));
        }
        evidence.flaky = report.map(|report| report.flaky).unwrap_or_default();
        evidence
    }
}

/// As many of the failures' own messages as an excerpt has room for.
pub(super) fn excerpt(failures: &[TestFailure]) -> String {
    whole_lines(&messages(failures), MAX_EXCERPT_CHARS)
}
