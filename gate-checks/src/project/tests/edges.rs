//! Files that cannot be read, tools that are missing, names that are many.

use super::*;

/// The names and needed programs of all proposals.
fn needed(files: &[(&str, &str)]) -> Vec<(String, String)> {
    let proposals = detected(files, &[]).proposals.into_iter();
    proposals.map(|proposal| (proposal.check, proposal.needs_tool)).collect()
}

#[test]
fn a_file_that_is_no_text_or_too_long_is_passed_over_with_a_note() {
    let folder = folder(&[("package.json", "")]);
    let notes = |bytes: &[u8]| {
        fs::write(folder.path().join("package.json"), bytes).unwrap();
        detect_with(folder.path(), false, &|_| true).notes
    };
    assert_eq!(notes(b"\xff{}"), ["package.json was passed over: it is not UTF-8"]);
    let long = vec![b' '; (4 << 20) + 1];
    assert_eq!(notes(&long), ["package.json was passed over: it is longer than 4194304 bytes"]);
    let broken = notes(&long[1..]);
    assert!(broken[0].starts_with("package.json is no valid JSON object"), "{broken:?}");
    assert_eq!(notes("\u{feff}{}".as_bytes()), [""; 0]);
}

#[test]
fn only_eight_folders_below_are_proposed_for() {
    let names: Vec<_> = ('a'..='j').map(|name| format!("{name}/go.mod")).collect();
    let mut files: Vec<_> = names.iter().map(|name| (name.as_str(), "")).collect();
    files.insert(0, ("0/README.md", ""));
    let detected = detected(&files, &[]);
    let tests = detected.proposals.iter().filter(|proposal| proposal.check.starts_with("tests"));
    let folders: Vec<_> = tests.filter_map(|proposal| proposal.cwd.as_deref()).collect();
    assert_eq!(folders, ["a", "b", "c", "d", "e", "f", "g", "h"]);
    assert_eq!(detected.notes, ["i and the folders after it were not looked at"]);
}

#[test]
fn a_folder_behind_a_link_is_not_looked_at() {
    let folder = folder(&[("outer/Cargo.toml", ""), ("project/README.md", "")]);
    let project = folder.path().join("project");
    gate_platform::symlink(folder.path().join("outer"), project.join("link")).unwrap();
    assert_eq!(detect_with(&project, false, &|_| true).proposals, []);
}

#[test]
fn a_missing_tool_is_told_once_and_by_the_name_of_what_needs_it() {
    let without_cargo = detected(&[PACKAGE], &["cargo", "cargo-clippy"]);
    assert_eq!(without_cargo.notes, ["cargo is not installed"]);
    let wrapper = detected(&[("pom.xml", ""), ("!mvnw", "")], &["java"]);
    assert_eq!(wrapper.notes, ["java is not installed: maven needs it"]);
    assert_eq!(lines(&wrapper).len(), 2);
    let lint = detected(&[("go.mod", "")], &["go"]);
    assert_eq!(lines(&lint)[2], "lint?: go vet ./...");
}

#[test]
fn a_proposal_names_the_program_that_has_to_be_there() {
    let owned = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|&(check, tool)| (check.to_owned(), tool.to_owned())).collect::<Vec<_>>()
    };
    let rust = [("tests", "cargo"), ("build", "cargo"), ("lint", "cargo-clippy")];
    assert_eq!(needed(&[PACKAGE]), owned(&rust));
    let wrapper = [("build.gradle.kts", ""), ("!gradlew", "")];
    assert_eq!(needed(&wrapper), owned(&[("tests", "java"), ("build", "java")]));
    let script = package("\"test\":\"vitest\"", "");
    let files = [("package.json", script.as_str()), ("pnpm-lock.yaml", "")];
    assert_eq!(needed(&files), owned(&[("tests", "pnpm")]));
}

#[test]
fn a_gradle_wrapper_that_may_not_be_executed_is_not_taken() {
    let files = [("build.gradle", ""), ("gradlew", "")];
    let detected = detected(&files, &[]);
    assert!(lines(&detected)[0].starts_with("tests: gradle --no-daemon"), "{detected:?}");
    assert_eq!(
        detected.notes,
        ["gradlew may not be executed, so that gradle is taken: chmod +x gradlew"]
    );
}

#[test]
fn lock_files_of_one_manager_do_not_contradict_each_other() {
    let script = package("\"test\":\"ava\"", "");
    let both =
        [("package.json", script.as_str()), ("package-lock.json", ""), ("npm-shrinkwrap.json", "")];
    check(&both, &["tests: npm run test"]);
    let unknown = script.replace("{\"scripts\"", "{\"packageManager\":\"vlt@1.0\",\"scripts\"");
    check(&[("package.json", &unknown), ("bun.lock", "")], &["tests: bun run test"]);
}

#[test]
fn packages_of_yarn_need_no_folder_of_modules() {
    let script = package("\"test\":\"ava\"", r#","dependencies":{"a":"1"}"#);
    check(&[("package.json", &script), ("yarn.lock", "")], &["tests: yarn run test"]);
    let noted = "node_modules is missing: `pnpm install` makes it";
    check_noted(
        &[("package.json", &script), ("pnpm-lock.yaml", "")],
        &[],
        &["tests: pnpm run test"],
        noted,
    );
}

#[test]
fn the_first_target_of_an_aim_is_taken() {
    check(
        &[("Makefile", "check:\ntests:\ntypes:\ntype-check:\n")],
        &["tests: make -s tests", "typecheck: make -s type-check"],
    );
    check(&[("justfile", "compile:\n  x\nbuild:\n  x\n")], &["build: just build"]);
}

#[test]
fn boxes_of_a_plan_are_known_in_every_list() {
    for text in
        ["* [X] a", "+ [ ] a", "  > - [x] a", "12. [ ] a", "3) [x] a", "# Plan\n\n\t- [ ] a"]
    {
        assert_eq!(detected(&[("PLAN.md", text)], &[]).criteria, ["PLAN.md"], "{text}");
    }
    for text in ["", "- a", "[ ] a", "- [y] a", "-[link](x)", "# [ ] a"] {
        assert_eq!(detected(&[("PLAN.md", text)], &[]).criteria, [""; 0], "{text}");
    }
    let changes = [("openspec/changes/one/tasks.md", "- [ ] a")];
    assert_eq!(detected(&changes, &[]).criteria, ["openspec/changes/*/tasks.md"]);
}

#[test]
fn plans_come_in_the_order_of_their_use() {
    let files = [
        ("PLAN.md", "- [ ] a"),
        ("prd.json", "{}"),
        ("@fix_plan.md", "- [ ] a"),
        ("plans/prd.json/", ""),
    ];
    assert_eq!(detected(&files, &[]).criteria, ["@fix_plan.md", "prd.json", "PLAN.md"]);
}
