//! Findings and failing tests as SARIF 2.1.0, for code scanning, editors and review tools.
//!
//! Files are named relative to the work tree's root (`%SRCROOT%`), and nothing
//! absolute is written. What the operator allowed is there as suppressed.

use std::path::Path;

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::integrity::{Finding, RuleInfo, Severity, rules};
use serde::Serialize;
use serde_json::{Value, json};

use super::common::write_file;
use crate::failure::Failure;
use crate::pull_request::{CiProblem, ProblemKind};
use crate::render::findings::findings;

/// The rule of failing tests.
const FAILED_TEST: &str = "failed-test";

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

#[derive(Serialize)]
struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Value; 1],
}

/// A failing test, and its place.
pub(super) struct FailedTest {
    name: String,
    message: String,
    file: String,
    line: Option<u64>,
}

/// Writes the findings of these checks, and failing tests, to the file that the caller names.
///
/// # Errors
///
/// A file that cannot be written.
pub(super) fn write_sarif(
    file: &Path,
    evidence: &[Evidence],
    failed_tests: &[FailedTest],
) -> Result<(), Failure> {
    write_file(file, sarif(evidence, failed_tests)?.as_bytes()).map_err(|error| {
        let failure = Failure::file("sarif-unwritable", "write the findings to", file, &error);
        Failure { exit_code: 5, ..failure }
    })
}

/// The failing tests of these checks that name a place.
pub(super) fn failed_tests(evidence: &[Evidence]) -> Vec<FailedTest> {
    let failures = evidence.iter().flat_map(Evidence::failures);
    let tests = failures.filter_map(|failure| {
        let (name, file) = (failure.test?, failure.file?);
        Some(FailedTest { name, message: failure.message, file, line: failure.line })
    });
    tests.collect()
}

/// The failing tests among the problems of a change.
pub(super) fn failed_places(problems: &[CiProblem]) -> Vec<FailedTest> {
    // Findings have results of their own.
    let failures = problems.iter().filter(|problem| problem.kind != ProblemKind::Finding);
    let tests = failures.filter_map(|problem| {
        Some(FailedTest {
            name: problem.tests.first()?.clone(),
            message: problem.detail.clone(),
            file: problem.file.clone()?,
            line: problem.line,
        })
    });
    tests.collect()
}

fn sarif(evidence: &[Evidence], failed_tests: &[FailedTest]) -> Result<String, Failure> {
    let run = sarif_run(evidence, failed_tests);
    crate::render::json(&Log { schema: SCHEMA, version: "2.1.0", runs: [run] })
}

fn sarif_run(evidence: &[Evidence], failed_tests: &[FailedTest]) -> Value {
    let (open, allowed) = findings(evidence);
    let all_findings = open.iter().chain(allowed.iter().map(|allowed| &allowed.finding));
    // Only rules with a finding are described: there are many.
    let used_rules: Vec<&RuleInfo> = rules()
        .filter(|rule| all_findings.clone().any(|finding| finding.rule == rule.id))
        .collect();
    let mut results: Vec<Value> =
        open.iter().map(|finding| finding_result(finding, &used_rules)).collect();
    for allowed in &allowed {
        let mut result = finding_result(&allowed.finding, &used_rules);
        result["suppressions"] = json!([{ "kind": "external", "justification": allowed.reason }]);
        results.push(result);
    }
    results.extend(failed_tests.iter().map(test_result));
    let integrity = evidence.iter().find(|evidence| evidence.check == "integrity");
    let has_run = integrity.is_some_and(|evidence| {
        matches!(evidence.outcome, Outcome::Pass | Outcome::Fail | Outcome::Tamper)
    });
    let mut rules: Vec<_> = used_rules.iter().map(|rule| descriptor(rule)).collect();
    if !failed_tests.is_empty() {
        rules.push(json!({
            "id": FAILED_TEST,
            "shortDescription": { "text": "A test fails." },
        }));
    }
    json!({
        "tool": { "driver": {
            "name": "gate",
            "version": env!("CARGO_PKG_VERSION"),
            "rules": rules,
        } },
        "invocations": [{ "executionSuccessful": has_run }],
        "originalUriBaseIds": {
            "%SRCROOT%": { "description": { "text": "The root of the work tree." } },
        },
        "results": results,
    })
}

/// A rule as SARIF describes it.
fn descriptor(rule: &RuleInfo) -> Value {
    json!({
        "id": rule.id,
        "shortDescription": { "text": sentence(rule.message) },
        "fullDescription": { "text": sentence(rule.doc) },
        "help": { "text": sentence(rule.hint) },
        "defaultConfiguration": { "level": level(rule.severity) },
    })
}

fn finding_result(finding: &Finding, rules: &[&RuleInfo]) -> Value {
    let message = match finding.excerpt.as_str() {
        "" => sentence(&finding.message),
        excerpt => format!("{} `{excerpt}`", sentence(&finding.message)),
    };
    let mut result = json!({
        "ruleId": finding.rule,
        "level": level(finding.severity),
        "message": { "text": message },
        "properties": { "severity": finding.severity, "hint": finding.hint },
    });
    if let Some(index) = rules.iter().position(|rule| rule.id == finding.rule) {
        result["ruleIndex"] = index.into();
    }
    if !finding.file.is_empty() {
        let line = finding.line.map(|line| line as u64);
        result["locations"] = json!([location(&finding.file, line)]);
    }
    result
}

fn location(file: &str, line: Option<u64>) -> Value {
    let mut place = json!({
        "artifactLocation": { "uri": uri(file), "uriBaseId": "%SRCROOT%" },
    });
    if let Some(line) = line {
        place["region"] = json!({ "startLine": line });
    }
    json!({ "physicalLocation": place })
}

fn test_result(test: &FailedTest) -> Value {
    // pytest marks the lines of the error with an E; its first lines are the test's source.
    let marked_line = test.message.lines().find_map(|line| line.strip_prefix("E "));
    let error = marked_line.or(test.message.lines().next()).unwrap_or_default().trim();
    json!({
        "ruleId": FAILED_TEST,
        "level": "error",
        "message": { "text": format!("{}: {error}", test.name) },
        "locations": [location(&test.file, test.line)],
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Warn => "note",
        Severity::Block | Severity::Tamper => "error",
    }
}

/// A text as a sentence of its own.
fn sentence(text: &str) -> String {
    let mut letters = text.trim().trim_end_matches('.').chars();
    let capital: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{capital}{}.", letters.as_str())
}

/// A relative path as a URI.
fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            byte => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use gate_core::decide::policy::Mode;

    use super::*;

    fn evidence() -> Evidence {
        let finding =
            |rule: &str, severity, file: &str| Finding::new(rule, severity, file, "it is");
        let detail = json!({
            "findings": [
                finding("equal-python", Severity::Block, "tests/ä b.py").at(3, "return True"),
                finding("tool-changed", Severity::Tamper, ""),
            ],
            "allowed": [{
                "finding": finding("ci-settings", Severity::Tamper, ".github/a.yml"),
                "reason": "because",
            }],
        });
        Evidence::new("integrity", Mode::Require, Outcome::Tamper).with_detail(detail)
    }

    #[test]
    fn a_run_has_what_the_schema_demands() {
        let run = sarif_run(&[evidence()], &[]);
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        assert_eq!(rules.len(), 3);
        assert!(rules.iter().all(|rule| rule["help"]["text"].is_string()));
        let results = run["results"].as_array().unwrap();
        for result in results {
            let at = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(rules[at]["id"], result["ruleId"]);
            assert!(["note", "warning", "error"].contains(&result["level"].as_str().unwrap()));
            assert!(result["message"]["text"].is_string());
        }
        let place = &results[0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "tests/%C3%A4%20b.py");
        assert_eq!(place["artifactLocation"]["uriBaseId"], "%SRCROOT%");
        assert_eq!(place["region"]["startLine"], 4);
        assert!(results[1].get("locations").is_none());
        assert_eq!(results[2]["suppressions"][0]["justification"], "because");
        assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    }

    #[test]
    fn a_check_that_did_not_look_is_shown_as_such() {
        let run = sarif_run(&[], &[]);
        assert_eq!(run["results"], json!([]));
        assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    }
}
