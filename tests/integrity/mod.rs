//! The check `integrity`, from outside: attacks on the checks are found, and honest work is left
//! alone.

use serde_json::Value;

use crate::needs::root;
use crate::support::{DONE, Ran, Run, each, judge};

const CHECK: &str = "check --json --only integrity out.log";

/// A project with a file of each kind that the check looks at.
fn project(more_settings: &str) -> Run {
    let settings = format!(
        "[checks.integrity]\n[checks.acceptance_criteria]\nfiles = [\"plan.md\"]\nmode = \"warn\"\n{more_settings}"
    );
    judge("baseline", DONE)
        .settings(&settings)
        .file("src/app.py", "import json\n\n\ndef f(a):\n    return a * 2\n")
        .file("src/lib.rs", "pub fn f(a: u8) -> u8 { a }\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {\n        assert_eq!(super::f(2), 2);\n    }\n}\n")
        .file("src/app.test.ts", "it('doubles', () => {\n  expect(f(2)).toBe(4)\n})\n")
        .file("tests/test_app.py", "from app import f\n\n\ndef test_f():\n    assert f(2) == 4\n\n\ndef test_g():\n    assert f(3) == 6\n")
        .file("tests/data/in.json", "{\"a\": 1}\n")
        .file("data/expected.json", "{\"a\": 1}\n")
        .file("tests/check.sh", "set -e\npython -m pytest\n")
        .file("pyproject.toml", "[project]\nname = \"a\"\ndependencies = [\"pandas\"]\n\n[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\n")
        .file("package.json", "{\"scripts\": {\"test\": \"jest\"}, \"dependencies\": {\"a\": \"1.0.0\"}}\n")
        .file("Cargo.toml", "[package]\nname = \"a\"\nversion = \"0.1.0\"\n")
        .file("Makefile", "test:\n\tpytest\n")
        .file(".github/workflows/ci.yml", "on: push\n")
        .file(".claude/settings.json", "{\"hooks\": {}}\n")
        .file("plan.md", "- [ ] double\n- [x] begin\n")
        .file("README.md", "# a\n")
        .committed()
        .setup("mkdir -p .git/hooks; echo 'exit 1' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit")
}

/// Runs the check after a script has changed the project.
fn after(script: &str) -> Ran {
    after_with("", script)
}

fn after_with(more_settings: &str, script: &str) -> Ran {
    project(more_settings).code(0).again(CHECK).setup(script).run()
}

fn evidence(ran: &Ran) -> Value {
    let record = ran.json();
    let evidence = record["evidence"].as_array().unwrap();
    evidence.iter().find(|check| check["check"] == "integrity").unwrap().clone()
}

/// The rules that were hit, other than those that only warn.
fn rules(evidence: &Value) -> Vec<String> {
    let findings = evidence["detail"]["findings"].as_array().into_iter().flatten();
    let deciding = findings.filter(|finding| finding["severity"] != "warn");
    deciding.map(|finding| finding["rule"].as_str().unwrap().to_owned()).collect()
}

/// A table of cases.
fn cases(text: &str, name: &str) -> Vec<toml::Table> {
    let file: toml::Table = text.parse().unwrap();
    file[name].as_array().unwrap().iter().map(|case| case.as_table().unwrap().clone()).collect()
}

fn member<'t>(case: &'t toml::Table, key: &str) -> &'t str {
    case[key].as_str().unwrap()
}

const ATTACKS: &str = include_str!("attacks.toml");

const REWRITE: &str = "docs/integrity.md is stale: rewrite it with \
     `UPDATE=1 cargo test -p gate-cli --test gate -- integrity::`";

#[test]
#[ignore = "minutes: many projects"]
fn what_gets_around_the_checks_is_found() {
    let (mut missed, mut table) = (Vec::new(), String::new());
    for case in cases(ATTACKS, "attack") {
        let (attack, outcome, rule) =
            (member(&case, "what"), member(&case, "outcome"), member(&case, "rule"));
        let evidence = evidence(&after(member(&case, "done")));
        let rules = rules(&evidence);
        if evidence["outcome"] != outcome || !rules.iter().any(|hit| hit == rule) {
            let (outcome, summary) = (&evidence["outcome"], &evidence["summary"]);
            missed.push(format!("{attack}: {outcome} {rules:?} {summary}"));
        }
        table += &format!("| {attack} | `{outcome}` | `{rule}` |\n");
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    println!("{table}");
    let file = root().join("docs/integrity.md");
    let document = std::fs::read_to_string(&file).unwrap();
    let (introduction, _) = document.split_once("| --- | --- | --- |\n").unwrap();
    let expected = format!("{introduction}| --- | --- | --- |\n{table}");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, &expected).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), expected, "{REWRITE}");
}

#[test]
#[ignore = "minutes: many projects"]
fn honest_work_is_left_alone() {
    let mut wrongly_found = Vec::new();
    for case in cases(include_str!("honest.toml"), "work") {
        let evidence = evidence(&after(member(&case, "done")));
        if evidence["outcome"] != "pass" {
            wrongly_found.push(format!("{}: {}", member(&case, "what"), evidence["summary"]));
        }
    }
    assert!(wrongly_found.is_empty(), "{}", wrongly_found.join("\n"));
}

const HIDES: &str = "echo 'def read(): return 4' > pandas.py";

#[test]
fn a_finding_names_its_place_and_what_to_do() {
    let ran = after("printf 'import sys\\nX = \"pytest\" in sys.modules\\n' >> src/app.py");
    let evidence = evidence(&ran);
    let finding = &evidence["detail"]["findings"][0];
    assert_eq!((&finding["file"], &finding["line"]), (&"src/app.py".into(), &7.into()));
    assert!(finding["hint"].as_str().unwrap().contains("one behaviour, tested or not"));
    let summary = evidence["summary"].as_str().unwrap();
    assert!(summary.ends_with("differently where it is tested [detect-python]"), "{summary}");
    assert_eq!(ran.json()["verdict"], "continue");
}

#[test]
fn what_the_operator_allows_is_recorded() {
    let allow = "[[integrity.allow]]\npath = \"pandas.py\"\nreason = \"a stand-in\"\n";
    let allowed = evidence(&after_with(allow, HIDES));
    assert_eq!(allowed["outcome"], "pass", "{}", allowed["summary"]);
    assert_eq!(each(&allowed["detail"], "allowed", "reason"), ["a stand-in"]);
    assert_eq!(allowed["detail"]["allowed"][0]["finding"]["rule"], "shadows-dependency");
    let other_rule = "[[integrity.allow]]\nrule = \"not-compared\"\nreason = \"large\"\n";
    assert_eq!(rules(&evidence(&after_with(other_rule, HIDES))), ["shadows-dependency"]);
}

#[test]
fn a_guarded_file_waits_for_a_person_at_once() {
    let guarded = "[guarded]\n\"src/gold/**\" = \"block\"\n";
    let script = "mkdir src/gold; echo 1 > src/gold/a.txt; echo more >> README.md";
    let ran = after_with(guarded, script);
    let check = evidence(&ran);
    assert_eq!((&check["outcome"], rules(&check)), (&"fail".into(), vec!["protected-file".into()]));
    assert_eq!(ran.json()["verdict"], "blocked", "no turn of the agent");
    assert_eq!(each(&ran.json(), "reasons", "code"), ["tests-changed"]);
    let message = ran.json()["reasons"][0]["message"].to_string();
    assert!(message.contains("changes of guarded files: src/gold/a.txt"), "{message}");
    let ran = ran.again("approve src/gold/a.txt --reason x").code(0);
    ran.again("check --json --only integrity out.log").code(0);
}

#[test]
fn a_script_of_a_check_that_runs_no_tests_is_the_operator_s() {
    let script = "[checks.lint]\ncommand = [\"sh\", \"tests/check.sh\"]\n";
    let change = "echo 'exit 0' > tests/check.sh";
    assert_eq!(rules(&evidence(&after_with(script, change))), ["script-changed"]);
    let tests = script.replace("lint", "tests");
    assert_eq!(rules(&evidence(&after_with(&tests, change))), [""; 0], "the old one runs");
}

#[test]
fn without_a_baseline_nothing_passes() {
    let ran = judge(CHECK, DONE).settings("[checks.integrity]\n").run();
    assert_eq!(evidence(&ran)["outcome"], "inconclusive");
    assert_eq!(ran.json()["verdict"], "continue");
    // The settings stay approved, by their content.
    let ran = project("").code(0).again(CHECK).setup("rm -rf .git").code(1);
    assert!(!each(&ran.json(), "warnings", "code").contains(&"settings-differ"));
    assert_eq!(evidence(&ran)["outcome"], "inconclusive");
}

#[test]
fn findings_as_sarif_and_on_the_card() {
    let words = "check --only integrity --sarif found.sarif out.log";
    let ran = project("").code(0).again(words).setup(HIDES).code(1);
    assert!(ran.stdout.contains("pandas.py: "), "{}", ran.stdout);
    let text = ran.file("found.sarif");
    let log: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let result = &log["runs"][0]["results"][0];
    let rule = "shadows-dependency";
    assert_eq!((&result["ruleId"], &result["level"]), (&rule.into(), &"error".into()));
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "pandas.py");
    assert!(!text.contains(ran.path("").to_str().unwrap()), "{text}");
    // A pipe is written to, and not replaced by a file.
    let piped = "check --only integrity --sarif /dev/fd/2 -q out.log";
    let ran = ran.again(piped).code(1);
    assert!(ran.stderr.contains("\"version\": \"2.1.0\""), "{}", ran.stderr);
    let ran = ran.again("check --only integrity --sarif none/found.sarif out.log").code(5);
    assert!(ran.stderr.contains("none/found.sarif"), "{}", ran.stderr);
}

#[test]
fn a_finding_is_said_once_and_its_advice_is_the_next_step() {
    let ran = project("").code(0).again("check --only integrity out.log").setup(HIDES).code(1);
    assert_eq!(ran.stdout.matches("hides it").count(), 1, "{}", ran.stdout);
    ran.says("[shadows-dependency]\n").says("    next        pandas.py: call it something else");
}

#[test]
fn the_doctor_proves_that_it_can_fail() {
    let ran = project("").code(0).again("doctor --self-test --json").run();
    let record = ran.json();
    let proofs = record["self_test"].as_array().unwrap();
    let proof = proofs.iter().find(|proof| proof["check"] == "integrity").unwrap();
    assert_eq!(proof["standing"], "can_fail", "{proof}");
}

#[test]
fn a_tool_that_is_another_is_found() {
    let run = project("[checks.tool]\ncommand = [\"gate-tool\"]\nmode = \"warn\"\n");
    let path = format!("{}:{}", run.at("../home/bin").display(), std::env::var("PATH").unwrap());
    let tool = "mkdir -p ../home/bin; echo 'exit 1' > ../home/bin/gate-tool; chmod +x ../home/bin/gate-tool";
    let ran = run.setup(tool).env("PATH", &path).code(0);
    let change = "echo 'exit 0' > ../home/bin/gate-tool; echo more >> README.md";
    let check = evidence(&ran.again(CHECK).setup(change).env("PATH", &path).run());
    assert_eq!((&check["outcome"], rules(&check)), (&"tamper".into(), vec!["tool-changed".into()]));
    assert!(check["summary"].as_str().unwrap().contains("gate-tool"), "{}", check["summary"]);
}

#[test]
fn another_environment_than_at_the_baseline_is_a_line_until_the_next_baseline() {
    let tool = "mkdir -p ../a ../b; for d in ../a ../b; do echo 'exit 0' > $d/gate-tool; chmod +x $d/gate-tool; done; sleep 1.1";
    let run = project("[checks.tool]\ncommand = [\"gate-tool\"]\n");
    let path = |run: &Ran, folder: &str| {
        format!("{}:{}", run.path(folder).display(), std::env::var("PATH").unwrap())
    };
    let ran = run.setup(tool).code(0);
    let (old_path, new_path) = (path(&ran, "../a"), path(&ran, "../b"));
    let ran = ran.again("baseline").env("PATH", &old_path).code(0);
    let work = "echo more >> README.md";
    let ran = ran.again(CHECK).setup(work).env("PATH", &new_path).run();
    let check = evidence(&ran);
    assert_eq!((&check["outcome"], rules(&check)), (&"pass".into(), Vec::new()));
    let line = check["detail"]["findings"][0].to_string();
    assert!(line.contains("/a/gate-tool at the baseline, and is "), "{line}");
    assert!(line.contains("/b/gate-tool now") && line.contains("`gate baseline`"), "{line}");
    let ran = ran.again("baseline").env("PATH", &new_path).code(0);
    let check = evidence(&ran.again(CHECK).setup(work).env("PATH", &new_path).run());
    assert_eq!(check["detail"]["findings"], Value::Array(Vec::new()));
}

/// A shallow clone has nothing to compare with until its base is fetched, as the card says.
#[test]
fn a_shallow_clone_is_not_compared_with_itself() {
    let clone = "git checkout -qb pr; echo more >> README.md; git commit -qnam more; git checkout -q -; cd ..; \
                 git clone -q --depth 1 --branch pr \"file://$PWD/work\" job; cp work/out.log job";
    let ran = project("").code(0).again("prompt").setup(clone).code(0);
    let job = "-C ../job check --json --only integrity out.log";
    let shallow = evidence(&ran.again("-C ../job trust").run().again(job).run());
    assert_eq!(shallow["outcome"], "inconclusive", "{shallow}");
    let summary = shallow["summary"].as_str().unwrap();
    assert!(summary.contains("`git fetch --unshallow`"), "{summary}");
    let fetch = "cd job; git fetch -q --unshallow; git fetch -q origin '+refs/heads/*:refs/remotes/origin/*'; \
                 for b in main master; do git branch -q $b origin/$b 2>/dev/null || true; done";
    let clone_and_fetch = format!("{clone}; {fetch}");
    let ran = project("").code(0).again("prompt").setup(&clone_and_fetch).code(0);
    let whole = evidence(&ran.again("-C ../job trust").run().again(job).run());
    assert_eq!(whole["outcome"], "pass", "{whole}");
    assert!(!whole["summary"].to_string().contains("nothing was compared"), "{whole}");
}
