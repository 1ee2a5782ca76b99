//! npm, pnpm, yarn and Bun.

mod manager;
mod package;

use super::folder::Folder;
use super::proposal::{Aim, Findings};
use super::watching::never_ends;
use manager::{PackageManager, TestRunner, TestScript};
use package::{Package, member_folders};

/// Scripts by what they are usually for, the most telling first.
const SCRIPTS: [(&str, Aim); 7] = [
    ("build", Aim::Build),
    ("lint", Aim::Lint),
    ("typecheck", Aim::Typecheck),
    ("type-check", Aim::Typecheck),
    ("check-types", Aim::Typecheck),
    ("tsc", Aim::Typecheck),
    ("types", Aim::Typecheck),
];

/// Proposes for a folder with a package.json.
pub(super) fn look(folder: &Folder<'_>) -> Findings {
    let mut findings = Findings::default();
    let Some(package) = Package::read(folder, &mut findings) else { return findings };
    let manager = PackageManager::detect(folder, &package, &mut findings);
    propose_tests(folder, &package, manager, &mut findings);
    for (name, aim) in SCRIPTS {
        let Some(script) = package.script(name) else { continue };
        if never_ends(script, &|name| package.script(name)) {
            findings.note(format!("scripts.{name} in package.json watches, and never ends"));
        } else if !findings.aims_at(aim) {
            let words = manager.run(name);
            findings.propose(manager.proposal(
                aim,
                words,
                format!("scripts.{name} in package.json"),
            ));
        }
    }
    if folder.has_file("tsconfig.json") && package.depends_on("typescript") {
        let words = [manager.exec("tsc"), vec!["--noEmit".to_owned()]].concat();
        if !findings.aims_at(Aim::Typecheck) {
            findings.propose(manager.proposal(Aim::Typecheck, words, "tsconfig.json").optional());
        }
    }
    if package.has_dependencies()
        && !folder.path.join("node_modules").exists()
        && !manager.has_plug_and_play()
    {
        findings.note(format!("node_modules is missing: `{} install` makes it", manager.name()));
    }
    findings
}

/// The package.json has a script of this name, which comes to an end.
pub(super) fn has_script(folder: &Folder<'_>, name: &str) -> bool {
    let package = Package::read(folder, &mut Findings::default());
    package.is_some_and(|package| {
        let script = package.script(name);
        script.is_some_and(|script| !never_ends(script, &|name| package.script(name)))
    })
}

fn propose_tests(
    folder: &Folder<'_>,
    package: &Package,
    manager: PackageManager,
    findings: &mut Findings,
) {
    match package.test_script() {
        TestScript::Watches => {
            findings.note("scripts.test in package.json watches, and never ends");
        }
        TestScript::Runner(runner) => {
            let words = runner.command(manager);
            let evidence = "scripts.test in package.json, called directly for its results";
            findings.propose(manager.proposal(Aim::Tests, words, evidence));
        }
        TestScript::Mocha(script) => {
            let words = manager.exec_script(&script);
            let evidence = "scripts.test in package.json, called directly for its results";
            findings.propose(manager.proposal(Aim::Tests, words, evidence));
        }
        TestScript::Other(arguments) => {
            let words = [manager.run("test"), manager.script_arguments(arguments)].concat();
            findings.propose(manager.proposal(Aim::Tests, words, "scripts.test in package.json"));
        }
        TestScript::None => propose_without_script(folder, package, manager, findings),
    }
}

/// No test script: the packages of a workspace may have some, or a runner may
/// be there that nobody wrote a script for.
fn propose_without_script(
    folder: &Folder<'_>,
    package: &Package,
    manager: PackageManager,
    findings: &mut Findings,
) {
    let mut tested_members = member_folders(folder, package, findings);
    tested_members.retain(|member| {
        let package = Package::read(&folder.below(member), &mut Findings::default());
        package.is_some_and(|package| package.test_script().runs_tests())
    });
    if !tested_members.is_empty() {
        let evidence =
            format!("scripts.test in {} of the workspace's packages", tested_members.len());
        match manager.run_everywhere("test") {
            Some(words) => findings.propose(manager.proposal(Aim::Tests, words, evidence)),
            None => findings
                .note(format!("{evidence}: yarn needs a script in the root to run them all")),
        }
    } else if let Some(runner) =
        TestRunner::INSTALLED.iter().find(|runner| package.depends_on(runner.name()))
    {
        let evidence = format!("{} in package.json", runner.name());
        findings.propose(manager.proposal(Aim::Tests, runner.command(manager), evidence));
    } else if let Some(settings) =
        folder.names(".").into_iter().find(|name| name.starts_with(".mocharc."))
    {
        let words = TestRunner::Mocha.command(manager);
        findings.propose(manager.proposal(Aim::Tests, words, settings));
    }
}
