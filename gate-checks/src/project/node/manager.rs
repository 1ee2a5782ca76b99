//! Package managers, and the test scripts that they run.

use super::package::Package;
use crate::project::folder::Folder;
use crate::project::proposal::{Aim, Findings, Proposal};
use crate::project::watching::{Scripts, never_ends};
use crate::runner::{Runner, find};

/// A package manager, which also runs scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PackageManager {
    Npm,
    Pnpm,
    Yarn,
    Bun,
}

/// Lock files, and the managers that write them.
const LOCKS: [(&str, PackageManager); 6] = [
    ("pnpm-lock.yaml", PackageManager::Pnpm),
    ("yarn.lock", PackageManager::Yarn),
    ("bun.lock", PackageManager::Bun),
    ("bun.lockb", PackageManager::Bun),
    ("package-lock.json", PackageManager::Npm),
    ("npm-shrinkwrap.json", PackageManager::Npm),
];

impl PackageManager {
    const ALL: [Self; 4] = [Self::Npm, Self::Pnpm, Self::Yarn, Self::Bun];

    /// The one that `packageManager` names, else whose lock file is there, else
    /// npm.
    pub(super) fn detect(folder: &Folder<'_>, package: &Package, findings: &mut Findings) -> Self {
        if let Some(manager) = package.text("packageManager").and_then(Self::parse) {
            return manager;
        }
        let locks: Vec<_> = LOCKS.iter().filter(|(lock, _)| folder.has_file(lock)).collect();
        let believed = locks.first().map_or(Self::Npm, |(_, manager)| *manager);
        if locks.iter().any(|(_, manager)| *manager != believed) {
            let names: Vec<_> = locks.iter().map(|(lock, _)| *lock).collect();
            findings.note(format!("of {} the first is believed", names.join(", ")));
        }
        believed
    }

    /// `pnpm@9.1.0+sha512.…`
    fn parse(text: &str) -> Option<Self> {
        let name = text.split('@').next().unwrap_or_default();
        Self::ALL.into_iter().find(|manager| manager.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Pnpm => "pnpm",
            Self::Yarn => "yarn",
            Self::Bun => "bun",
        }
    }

    /// Packages need no node_modules: Plug'n'Play of yarn finds them elsewhere.
    pub(super) fn has_plug_and_play(self) -> bool {
        self == Self::Yarn
    }

    /// Runs a script. `bun test` would be Bun's own runner.
    pub(super) fn run(self, script: &str) -> Vec<String> {
        words(&[self.name(), "run", script])
    }

    /// Arguments for a script, behind the command that runs it.
    pub(super) fn script_arguments(self, arguments: &[&str]) -> Vec<String> {
        let dashes: &[&str] =
            if self == Self::Npm && !arguments.is_empty() { &["--"] } else { &[] };
        words(&[dashes, arguments].concat())
    }

    /// Runs a script in all packages of a workspace that have it.
    pub(super) fn run_everywhere(self, script: &str) -> Option<Vec<String>> {
        match self {
            Self::Npm => Some(words(&["npm", "run", script, "--workspaces", "--if-present"])),
            Self::Pnpm => Some(words(&["pnpm", "--recursive", "run", script])),
            Self::Bun => Some(words(&["bun", "run", "--filter", "*", script])),
            Self::Yarn => None,
        }
    }

    /// Runs the words of a script: their program may be that of an installed package.
    pub(super) fn exec_script(self, script: &[String]) -> Vec<String> {
        const INSTALLED: [&str; 7] = ["mocha", "_mocha", "nyc", "c8", "cross-env", "dotenv", "tsx"];
        match script.split_first() {
            Some((program, arguments)) if INSTALLED.contains(&program.as_str()) => {
                [self.exec(program), arguments.to_vec()].concat()
            }
            _ => script.to_vec(),
        }
    }

    /// Runs the program of an installed package, and installs none.
    pub(super) fn exec(self, program: &str) -> Vec<String> {
        match self {
            Self::Npm => words(&["npx", "--no-install", program]),
            Self::Pnpm => words(&["pnpm", "exec", program]),
            Self::Yarn => words(&["yarn", "run", program]),
            Self::Bun => words(&["bunx", "--no-install", program]),
        }
    }

    pub(super) fn proposal(
        self,
        aim: Aim,
        command: Vec<String>,
        evidence: impl Into<String>,
    ) -> Proposal {
        let needs_tool = command.first().cloned().unwrap_or_default();
        Proposal { command, needs_tool, ..Proposal::new(aim, self.name(), &[], evidence) }
    }
}

pub(super) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// The kind of a test script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TestScript {
    /// No script, or only the one that `npm init` writes.
    None,
    /// It waits for changes.
    Watches,
    /// It starts a runner and nothing else.
    Runner(TestRunner),
    /// It starts mocha and nothing else, by these words.
    Mocha(Vec<String>),
    /// Anything else, and the arguments that make it end.
    Other(&'static [&'static str]),
}

impl TestScript {
    pub(super) fn read(text: &str, scripts: &Scripts<'_>) -> Self {
        let words: Vec<&str> = text.split_whitespace().collect();
        if text.contains("no test specified") {
            return Self::None;
        }
        match words.as_slice() {
            ["jest"] => return Self::Runner(TestRunner::Jest),
            ["vitest"] | ["vitest", "run"] => return Self::Runner(TestRunner::Vitest),
            ["node", "--test"] => return Self::Runner(TestRunner::Node),
            _ => {}
        }
        if never_ends(text, scripts) {
            return Self::Watches;
        }
        if let Some(words) = script_words(text)
            && find(&words).is_some_and(|invocation| invocation.runner == Runner::Mocha)
        {
            return Self::Mocha(words);
        }
        // `react-scripts test` watches, unless its words or CI say otherwise.
        let has_watch_option = words.iter().any(|word| word.starts_with("--watch"));
        let is_watching = words.first() == Some(&"react-scripts") && !has_watch_option;
        Self::Other(if is_watching { &["--watchAll=false"] } else { &[] })
    }

    /// It tests, and comes to an end.
    pub(super) fn runs_tests(&self) -> bool {
        matches!(self, Self::Runner(_) | Self::Mocha(_) | Self::Other(_))
    }
}

/// The words of a script, as a shell splits them; `None` if it does more than that with them.
fn script_words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut letters = text.chars().peekable();
    loop {
        while letters.next_if(|letter| letter.is_whitespace()).is_some() {}
        if letters.peek().is_none() {
            return Some(words);
        }
        let mut word = String::new();
        while let Some(letter) = letters.next_if(|letter| !letter.is_whitespace()) {
            match letter {
                '\'' | '"' => loop {
                    match letters.next()? {
                        end if end == letter => break,
                        '$' | '`' | '\\' if letter == '"' => return None,
                        quoted => word.push(quoted),
                    }
                },
                // mocha reads patterns as a shell does, but for this one.
                '*' if word.ends_with('*') => return None,
                '|' | '&' | ';' | '<' | '>' | '(' | ')' | '{' | '}' | '$' | '`' | '\\' | '#'
                | '!' | '~' => return None,
                letter => word.push(letter),
            }
        }
        words.push(word);
    }
}

/// A test runner whose results gate can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TestRunner {
    Jest,
    Vitest,
    Mocha,
    Node,
}

impl TestRunner {
    /// The runners that are packages, which a project installs.
    pub(super) const INSTALLED: [Self; 3] = [Self::Vitest, Self::Jest, Self::Mocha];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Jest => "jest",
            Self::Vitest => "vitest",
            Self::Mocha => "mocha",
            Self::Node => "node",
        }
    }

    pub(super) fn command(self, manager: PackageManager) -> Vec<String> {
        match self {
            Self::Jest => manager.exec("jest"),
            Self::Mocha => manager.exec("mocha"),
            Self::Vitest => [manager.exec("vitest"), words(&["run"])].concat(),
            Self::Node => words(&["node", "--test"]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{TestRunner, TestScript, words};

    fn check(text: &str, expected: &TestScript) {
        assert_eq!(&TestScript::read(text, &|_| None), expected, "{text}");
    }

    #[test]
    fn the_text_of_npm_init_is_no_script() {
        check("echo \"Error: no test specified\" && exit 1", &TestScript::None);
    }

    #[test]
    fn a_runner_is_recognised_where_it_stands_alone() {
        check("jest", &TestScript::Runner(TestRunner::Jest));
        check(" vitest  run ", &TestScript::Runner(TestRunner::Vitest));
        check("vitest", &TestScript::Runner(TestRunner::Vitest));
        check("node --test", &TestScript::Runner(TestRunner::Node));
        check("jest --ci", &TestScript::Other(&[]));
        check("tsc && jest", &TestScript::Other(&[]));
        check("mocha && eslint .", &TestScript::Other(&[]));
        check("mocha test/**/*.js", &TestScript::Other(&[]));
        check("mocha \"$PATTERN\"", &TestScript::Other(&[]));
        check("NODE_ENV=test mocha", &TestScript::Other(&[]));
        check("mocha 'unclosed", &TestScript::Other(&[]));
    }

    #[test]
    fn mocha_is_recognised_with_its_words() {
        let check = |text, expected: &[&str]| check(text, &TestScript::Mocha(words(expected)));
        check("mocha", &["mocha"]);
        check(" mocha  --exit \"test/**/*.js\" ", &["mocha", "--exit", "test/**/*.js"]);
        check("mocha 'a b'c test/*.js", &["mocha", "a bc", "test/*.js"]);
        check(
            "nyc --reporter=lcov mocha -R dot",
            &["nyc", "--reporter=lcov", "mocha", "-R", "dot"],
        );
        check("cross-env A=1 mocha", &["cross-env", "A=1", "mocha"]);
        check("npx mocha", &["npx", "mocha"]);
    }

    #[test]
    fn a_script_that_never_ends_is_none() {
        check("jest --watch", &TestScript::Watches);
        check("jest --watchAll", &TestScript::Watches);
        check("nodemon --exec \"node --test\"", &TestScript::Watches);
        check("jest --watchAll=false", &TestScript::Other(&[]));
        check("ng test --no-watch", &TestScript::Other(&[]));
        check("react-scripts test", &TestScript::Other(&["--watchAll=false"]));
        check("react-scripts test --watchAll=false", &TestScript::Other(&[]));
    }
}
