//! Plug-ins: a program `gate-check-NAME` on PATH, found as git and cargo find theirs. It gets one JSON
//! object on its standard input and prints one.

use std::io::Write;
use std::path::PathBuf;

use async_trait::async_trait;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::CheckPolicy;
use gate_platform::RealPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tempfile::NamedTempFile;

use super::launch::{Collector, Launch};
use crate::check::{Check, CheckContext, CheckId};
use crate::process::Stream;
use gate_core::text::brief;

/// The longest answer that is read.
const MAX_ANSWER_BYTES: usize = 1024 * 1024;

/// The request to a plug-in: `gate.check.request.v1`, one JSON object on its standard input.
/// Fields are added, never changed.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PluginRequest {
    /// Always `gate.check.request.v1`.
    pub schema: String,
    /// The check's name in the settings.
    pub check: String,
    /// The project's folder, which is also the working folder unless `cwd` is
    /// set.
    pub project: String,
    /// The digest of the work tree before the checks.
    pub tree: String,
    /// The task's id.
    pub task: Option<String>,
    /// The run's name.
    pub run: Option<String>,
    /// The iteration's number within the run.
    pub iteration: Option<u64>,
    /// The time limit, in milliseconds.
    pub timeout_ms: u64,
    /// The setting `paths`.
    pub paths: Vec<String>,
}

/// A plug-in's answer: `gate.check.result.v1`, one JSON object on its standard output, with
/// exit code 0. Anything else is inconclusive.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PluginAnswer {
    /// Always `gate.check.result.v1`.
    pub schema: String,
    /// The result of the check.
    pub outcome: PluginOutcome,
    /// One line for a person.
    #[serde(default)]
    pub summary: String,
    /// Anything that stands behind it.
    #[serde(default)]
    pub detail: Option<Value>,
}

/// The result of a plug-in's check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PluginOutcome {
    /// It looked, and all is well.
    Pass,
    /// It looked, and something is wrong.
    Fail,
    /// It could not find out.
    Inconclusive,
    /// Somebody worked around it.
    Tamper,
}

/// A check by a plug-in.
pub(crate) struct Plugin {
    id: CheckId,
    settings: CheckPolicy,
    /// The program's name.
    program: String,
}

impl Plugin {
    pub(crate) fn new(id: CheckId, settings: &CheckPolicy) -> Self {
        let program = format!("gate-check-{id}");
        Self { id, settings: settings.clone(), program }
    }

    pub(crate) fn program(&self) -> &str {
        &self.program
    }

    fn request(&self, cx: &CheckContext) -> PluginRequest {
        PluginRequest {
            schema: "gate.check.request.v1".to_owned(),
            check: self.id.to_string(),
            project: cx.site.project.display().to_string(),
            tree: cx.tree.digest.clone(),
            task: cx.options.about.task.clone(),
            run: cx.options.about.run.clone(),
            iteration: cx.options.about.iteration,
            timeout_ms: self.settings.timeout_ms,
            paths: self.settings.paths.clone(),
        }
    }

    /// Finds the program. A program inside of the work does not count: the work would judge itself.
    fn find_program(&self, cx: &CheckContext) -> Result<PathBuf, String> {
        let name = &self.program;
        let search_path = cx.site.search_path();
        let program = which::which_in(name, Some(search_path), "/")
            .map_err(|_| format!("it has no command, and there is no program {name} in PATH"))?;
        let real_path = program.real_path().unwrap_or_else(|_| program.clone());
        match cx.site.project.real_path() {
            Ok(project) if real_path.starts_with(&project) => Err(format!(
                "its program {} stands in the work that it is to judge",
                real_path.display()
            )),
            _ => Ok(program),
        }
    }

    /// Asks the plug-in. The error is the record of a plug-in that gave no answer.
    async fn ask(&self, cx: &CheckContext) -> Result<Evidence, Box<Evidence>> {
        let program = self.find_program(cx).map_err(|summary| self.inconclusive(summary))?;
        let request = request_file(&self.request(cx)).map_err(|error| {
            self.inconclusive(format!("its request cannot be written: {error}"))
        })?;
        let collector = Collector::<String>::default();
        let launch = Launch {
            stdin: Some(request.path().to_owned()),
            reader: Some(collector.reader(take_line)),
            explains: false,
            ..Launch::new(&self.id, &self.settings, vec![program.display().to_string()])
        };
        let launched = launch.run(cx).await?;
        let (outcome, summary, detail) = match (launched.exit_code, parse(&collector.take())) {
            (Some(0), Ok(answer)) => (outcome(answer.outcome), answer.summary, answer.detail),
            (Some(0), Err(problem)) => (Outcome::Inconclusive, problem, None),
            (Some(code), _) => (Outcome::Inconclusive, format!("it ended with code {code}"), None),
            (None, _) => (Outcome::Inconclusive, "a signal ended it".to_owned(), None),
        };
        let member = detail.map(|detail| ("plugin", detail));
        let mut evidence = launched.into_evidence(outcome, &brief(&summary, 300), member);
        // The output is the answer, whose summary says what is wrong.
        evidence.excerpt = None;
        Ok(evidence)
    }

    fn inconclusive(&self, summary: String) -> Box<Evidence> {
        Box::new(self.evidence(Outcome::Inconclusive, summary))
    }
}

#[async_trait]
impl Check for Plugin {
    fn id(&self) -> &CheckId {
        &self.id
    }

    async fn run(&self, cx: &CheckContext) -> Evidence {
        self.ask(cx).await.unwrap_or_else(|evidence| *evidence)
    }
}

/// Takes a line of the standard output, up to the longest answer.
fn take_line(text: &mut String, stream: Stream, line: &str) {
    if stream == Stream::Stdout && text.len() < MAX_ANSWER_BYTES {
        text.push_str(line);
        text.push('\n');
    }
}

fn request_file(request: &PluginRequest) -> std::io::Result<NamedTempFile> {
    let mut file = NamedTempFile::new()?;
    serde_json::to_writer(&mut file, request)?;
    file.write_all(b"\n")?;
    Ok(file)
}

fn outcome(answer: PluginOutcome) -> Outcome {
    match answer {
        PluginOutcome::Pass => Outcome::Pass,
        PluginOutcome::Fail => Outcome::Fail,
        PluginOutcome::Inconclusive => Outcome::Inconclusive,
        PluginOutcome::Tamper => Outcome::Tamper,
    }
}

fn parse(text: &str) -> Result<PluginAnswer, String> {
    if text.len() >= MAX_ANSWER_BYTES {
        return Err("its answer is longer than 1 MiB".to_owned());
    }
    // The character stands for bytes that are no UTF-8.
    if text.contains(char::REPLACEMENT_CHARACTER) {
        return Err("its answer is not UTF-8: one of its bytes is no character".to_owned());
    }
    let answer: PluginAnswer = serde_json::from_str(text)
        .map_err(|error| format!("its answer is not one gate.check.result.v1 object: {error}"))?;
    match answer.schema.as_str() {
        "gate.check.result.v1" => Ok(answer),
        schema => Err(format!("its answer is `{}`, not gate.check.result.v1", brief(schema, 60))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_one_object() {
        let good = r#"{"schema":"gate.check.result.v1","outcome":"fail","summary":"two files"}"#;
        let answer = parse(good).unwrap();
        assert_eq!((answer.outcome, answer.summary.as_str()), (PluginOutcome::Fail, "two files"));
        for bad in [
            "",
            "ok",
            &format!("{good}\n{good}"),
            &good.replace("v1", "v2"),
            &good.replace("fail", "ok"),
            &good.replace("\"summary\"", "\"sumary\""),
            &good.replace("\"outcome\":\"fail\"", "\"outcome\":\"fail\",\"outcome\":\"pass\""),
            &good.replace("two", "tw\u{fffd}"),
            &"x".repeat(MAX_ANSWER_BYTES),
        ] {
            assert!(parse(bad).is_err(), "{}", &bad[..bad.len().min(80)]);
        }
    }
}
