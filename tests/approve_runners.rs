//! Approvals of changed tests under runners that gate has no control for, and under mocha.

use crate::needs::{needs, node_module};
use crate::support::{DONE, Run, each, gate};

/// The agent is told once, a person approves by the words that gate shows, and the work ends.
#[track_caller]
fn one_approval_suffices(run: Run, act: &str, approved: &str) {
    let ran = run.committed().setup(act).code(1);
    assert_eq!(each(&ran.json(), "reasons", "code"), ["tests-changed"], "{}", ran.out());
    let ran = ran.again("check --json out.log").code(4);
    let command = format!("gate approve {approved} --reason …");
    assert!(ran.json()["next"].as_str().unwrap().contains(&command), "{}", ran.out());
    let ran = ran.again("approve").code(0).says(&command);
    let name = approved.trim_matches('\'');
    let ran = ran.again("approve --reason asked-for").args([name]).code(0);
    ran.again("check --json out.log").code(0);
}

#[test]
fn a_runner_without_a_control_waits_for_the_same_approval() {
    let project = |command: &str, files: &[(&str, &str)]| {
        let settings = format!("[checks.tests]\ncommand = {command}\n");
        let run = gate("check --json out.log").settings(&settings).file("out.log", DONE);
        let run = run.file(".gitignore", "out.log\n").file("price.sh", "price() { echo 3; }\n");
        files.iter().fold(run, |run, (name, text)| run.file(name, text))
    };
    let act = "sed -i s/3/4/ price.sh $(ls -d tests/* check.sh 2>/dev/null)";
    let test = ". ./price.sh\n[ \"$(price)\" = 3 ] || exit 1\n";
    if needs("make") {
        let makefile = "test:\n\tsh tests/test_price.sh\n";
        let files = [("Makefile", makefile), ("tests/test_price.sh", test)];
        one_approval_suffices(project(r#"["make", "test"]"#, &files), act, "tests/test_price.sh");
    }
    let files = [("check.sh", test)];
    one_approval_suffices(project(r#"["sh", "check.sh"]"#, &files), act, "check.sh");
    let tap = ". ./price.sh\necho 1..1\n[ \"$(price)\" = 3 ] || not='not '\necho \"${not}ok 1 - price\"\n\
               [ -z \"$not\" ]\n";
    let files = [("tests/price.sh", tap)];
    one_approval_suffices(project(r#"["sh", "tests/price.sh"]"#, &files), act, "price");
    if needs("bats") {
        let bats = "load ../price.sh\n@test 'price' {\n  [ \"$(price)\" = 3 ]\n}\n";
        let files = [("tests/price.bats", bats)];
        one_approval_suffices(project(r#"["bats", "tests"]"#, &files), act, "price");
    }
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn a_test_of_mocha_waits_for_an_approval() {
    if !needs("mocha") {
        return;
    }
    let test = "const assert = require('assert');\nconst price = require('../price');\n\
                describe('shop', () => {\n  it('sells', () => assert.equal(price(), 3));\n});\n";
    let link = format!("ln -s '{}' node_modules", node_module("mocha").unwrap().display());
    for command in [r#"["node_modules/.bin/mocha"]"#, r#"["npm", "test"]"#] {
        let settings = format!("[checks.tests]\ncommand = {command}\n");
        let run = gate("check --json out.log").settings(&settings).file("out.log", DONE);
        let run = run.file(".gitignore", "out.log\nnode_modules\n").setup(&link);
        let run = run.file("price.js", "module.exports = () => 3;\n").file("test/shop.js", test);
        let run = run.file("package.json", r#"{"name": "shop", "scripts": {"test": "mocha"}}"#);
        let act = "sed -i s/3/4/ price.js test/shop.js";
        one_approval_suffices(run, act, "'test/shop.js > shop > sells'");
    }
}
