//! npm, pnpm, yarn and Bun.

mod manager;
mod package;

use super::folder::Folder;
use super::proposal::{Aim, Found};
use super::watching::never_ends;
use manager::{PackageManager, Script, TestRunner};
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
pub(super) fn look(folder: &Folder<'_>) -> Found {
    let mut found = Found::default();
    let Some(package) = Package::read(folder, &mut found) else { return found };
    let manager = PackageManager::detect(folder, &package, &mut found);
    tests(folder, &package, manager, &mut found);
    for (name, aim) in SCRIPTS {
        let Some(script) = package.script(name) else { continue };
        if never_ends(script, &|name| package.script(name)) {
            found.notes(format!("scripts.{name} in package.json watches, and never ends"));
        } else if !found.aims_at(aim) {
            let words = manager.run(name);
            found.proposes(manager.proposal(aim, words, format!("scripts.{name} in package.json")));
        }
    }
    if folder.has("tsconfig.json") && package.depends_on("typescript") {
        let words = [manager.exec("tsc"), vec!["--noEmit".to_owned()]].concat();
        if !found.aims_at(Aim::Typecheck) {
            found.proposes(manager.proposal(Aim::Typecheck, words, "tsconfig.json").optional());
        }
    }
    if package.has_dependencies() && !folder.path.join("node_modules").exists() && !manager.plugs()
    {
        found.notes(format!("node_modules is missing: `{} install` makes it", manager.name()));
    }
    found
}

fn tests(folder: &Folder<'_>, package: &Package, manager: PackageManager, found: &mut Found) {
    match package.test_script() {
        Script::Watches => found.notes("scripts.test in package.json watches, and never ends"),
        Script::Runner(runner) => {
            let words = runner.command(manager);
            let why = "scripts.test in package.json, called directly for its results";
            found.proposes(manager.proposal(Aim::Tests, words, why));
        }
        Script::Other(after) => {
            let words = [manager.run("test"), manager.after(after)].concat();
            found.proposes(manager.proposal(Aim::Tests, words, "scripts.test in package.json"));
        }
        Script::None => without_script(folder, package, manager, found),
    }
}

/// No test script: the packages of a workspace may have some, or a runner may
/// be there that nobody wrote a script for.
fn without_script(
    folder: &Folder<'_>,
    package: &Package,
    manager: PackageManager,
    found: &mut Found,
) {
    let mut tested = member_folders(folder, package, found);
    tested.retain(|member| {
        let member = Package::read(&folder.below(member), &mut Found::default());
        member.is_some_and(|package| package.test_script().ends())
    });
    if !tested.is_empty() {
        let why = format!("scripts.test in {} of the workspace's packages", tested.len());
        match manager.run_everywhere("test") {
            Some(words) => found.proposes(manager.proposal(Aim::Tests, words, why)),
            None => found.notes(format!("{why}: yarn needs a script in the root to run them all")),
        }
    } else if let Some(runner) =
        TestRunner::INSTALLED.iter().find(|runner| package.depends_on(runner.name()))
    {
        let why = format!("{} in package.json", runner.name());
        found.proposes(manager.proposal(Aim::Tests, runner.command(manager), why));
    }
}
