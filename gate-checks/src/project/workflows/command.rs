//! Purpose of a command, by its words.

use crate::project::proposal::Aim;
use crate::project::targets::aim_of;

/// The purpose of a command, and whose command it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CommandKind {
    pub(super) ecosystem: &'static str,
    pub(super) aim: Aim,
    pub(super) tool: &'static str,
    /// It names a script, or runs tests in environments of its own.
    pub(super) is_vague: bool,
}

/// Words before a program that they run in an environment.
const RUNNERS: [&[&str]; 14] = [
    &["uv", "run"],
    &["poetry", "run"],
    &["pdm", "run"],
    &["pipenv", "run"],
    &["hatch", "run"],
    &["python", "-m"],
    &["python3", "-m"],
    &["npx"],
    &["npm", "exec"],
    &["pnpm", "exec"],
    &["yarn", "exec"],
    &["bunx"],
    &["bun", "x"],
    &["xvfb-run"],
];

/// Programs that run scripts by their names, and the ecosystem of each.
const SCRIPT_RUNNERS: [(&str, &str); 6] = [
    ("npm", "node"),
    ("pnpm", "node"),
    ("yarn", "node"),
    ("bun", "node"),
    ("make", "make"),
    ("just", "just"),
];

/// Tools by their first words without options, and by an option that has to be there.
#[rustfmt::skip]
const TOOLS: [(&[&str], &str, &str, Aim); 45] = [
    (&["cargo", "test"], "", "rust", Aim::Tests),
    (&["cargo", "nextest", "run"], "", "rust", Aim::Tests),
    (&["cargo", "clippy"], "", "rust", Aim::Lint),
    (&["cargo", "fmt"], "--check", "rust", Aim::Lint),
    (&["cargo", "build"], "", "rust", Aim::Build),
    (&["cargo", "check"], "", "rust", Aim::Build),
    (&["pytest"], "", "python", Aim::Tests),
    (&["unittest"], "", "python", Aim::Tests),
    (&["tox"], "", "python", Aim::Tests),
    (&["nox"], "", "python", Aim::Tests),
    (&["ruff", "check"], "", "python", Aim::Lint),
    (&["ruff", "format"], "--check", "python", Aim::Lint),
    (&["flake8"], "", "python", Aim::Lint),
    (&["pylint"], "", "python", Aim::Lint),
    (&["black"], "--check", "python", Aim::Lint),
    (&["mypy"], "", "python", Aim::Typecheck),
    (&["pyright"], "", "python", Aim::Typecheck),
    (&["vitest"], "", "node", Aim::Tests),
    (&["jest"], "", "node", Aim::Tests),
    (&["mocha"], "", "node", Aim::Tests),
    (&["ava"], "", "node", Aim::Tests),
    (&["node"], "--test", "node", Aim::Tests),
    (&["eslint"], "", "node", Aim::Lint),
    (&["biome", "check"], "", "node", Aim::Lint),
    (&["biome", "ci"], "", "node", Aim::Lint),
    (&["prettier"], "--check", "node", Aim::Lint),
    (&["tsc"], "--noEmit", "node", Aim::Typecheck),
    (&["tsc"], "", "node", Aim::Build),
    (&["go", "test"], "", "go", Aim::Tests),
    (&["gotestsum"], "", "go", Aim::Tests),
    (&["go", "vet"], "", "go", Aim::Lint),
    (&["golangci-lint", "run"], "", "go", Aim::Lint),
    (&["go", "build"], "", "go", Aim::Build),
    (&["mvn", "test"], "", "java", Aim::Tests),
    (&["mvn", "verify"], "", "java", Aim::Tests),
    (&["mvn", "package"], "", "java", Aim::Build),
    (&["gradle", "test"], "", "java", Aim::Tests),
    (&["gradle", "check"], "", "java", Aim::Tests),
    (&["gradle", "build"], "", "java", Aim::Build),
    (&["dotnet", "test"], "", "dotnet", Aim::Tests),
    (&["dotnet", "build"], "", "dotnet", Aim::Build),
    (&["bats"], "", "bats", Aim::Tests),
    (&["ctest"], "", "cmake", Aim::Tests),
    (&["rspec"], "", "ruby", Aim::Tests),
    (&["phpunit"], "", "php", Aim::Tests),
];

/// Tools that make environments of their own, and run the tests in them.
const ENVIRONMENTS: [&str; 2] = ["tox", "nox"];

/// Options by which a tool changes files, or waits for changes.
const EDITS: [&str; 5] = ["--fix", "--write", "--watch", "--watchAll", "--fix-only"];

/// The kind of a command that checks something.
pub(super) fn classify(words: &[String]) -> Option<CommandKind> {
    if words.iter().any(|word| EDITS.contains(&word.as_str())) {
        return None;
    }
    let mut rest: Vec<&str> = words.iter().map(String::as_str).collect();
    while let Some(runner) = RUNNERS.iter().find(|runner| rest.starts_with(runner)) {
        rest.drain(..runner.len());
        let options = rest.iter().take_while(|word| word.starts_with('-')).count();
        rest.drain(..options);
    }
    by_script(&rest).or_else(|| by_tool(&rest))
}

/// The purpose of a tool that checks something whatever its arguments are.
pub fn aim_of_tool(name: &str) -> Option<Aim> {
    let tool = TOOLS.iter().find(|(words, option, ..)| *words == [name] && option.is_empty());
    tool.map(|(.., aim)| *aim)
}

/// `npm test`, `pnpm run lint`, `make check`.
fn by_script(words: &[&str]) -> Option<CommandKind> {
    let (program, rest) = words.split_first()?;
    let (tool, ecosystem) = SCRIPT_RUNNERS.iter().find(|(tool, _)| tool == program)?;
    let mut names = rest.iter().filter(|word| !word.starts_with('-') && **word != "run");
    let name = names.next()?;
    let aim = aim_of(name.split(':').next()?)?;
    let is_other = *ecosystem == "node" && *name == "check";
    let is_vague = *ecosystem == "node" && aim == Aim::Tests;
    (!is_other).then_some(CommandKind { ecosystem, aim, tool, is_vague })
}

fn by_tool(words: &[&str]) -> Option<CommandKind> {
    // A tool can be called by its path, and by way of a package manager without more words.
    let words = match words {
        ["yarn" | "pnpm", rest @ ..] => rest,
        words => words,
    };
    let mut plain: Vec<&str> =
        words.iter().copied().filter(|word| !word.starts_with(['-', '+'])).collect();
    let program = plain.first_mut()?;
    *program = program.rsplit('/').next().unwrap_or(program);
    *program = match *program {
        "mvnw" => "mvn",
        "gradlew" => "gradle",
        "py.test" => "pytest",
        own => own,
    };
    let (name, _, ecosystem, aim) = TOOLS.iter().find(|(name, option, ..)| {
        plain.starts_with(name) && (option.is_empty() || words.contains(option))
    })?;
    let tool = name.first()?;
    // A build of a single Go program would leave that program in the work tree.
    let is_vague = ENVIRONMENTS.contains(tool) || name == &["go", "build"];
    Some(CommandKind { ecosystem, aim: *aim, tool, is_vague })
}

#[cfg(test)]
mod tests {
    use super::classify;

    #[track_caller]
    fn check(command: &str, expected: &str) {
        let words: Vec<_> = command.split(' ').map(str::to_owned).collect();
        let kind = classify(&words).map(|kind| {
            let mark = if kind.is_vague { "~" } else { "" };
            format!("{mark}{} {} {}", kind.ecosystem, kind.aim.check(), kind.tool)
        });
        assert_eq!(kind.unwrap_or_default(), expected, "{command}");
    }

    #[test]
    fn tools_are_known_with_their_options_and_runners() {
        for (command, kind) in [
            ("cargo +nightly test --workspace", "rust tests cargo"),
            ("cargo fmt --all -- --check", "rust lint cargo"),
            ("uv run --frozen pytest -q", "python tests pytest"),
            ("python -m pytest", "python tests pytest"),
            ("uv run python -m unittest discover", "python tests unittest"),
            ("npx --no-install vitest run", "node tests vitest"),
            ("pnpm vitest run", "node tests vitest"),
            ("node --test", "node tests node"),
            ("./gradlew check", "java tests gradle"),
            ("npx tsc --noEmit", "node typecheck tsc"),
            ("poetry run mypy src", "python typecheck mypy"),
        ] {
            check(command, kind);
        }
    }

    #[test]
    fn scripts_are_known_by_their_names() {
        check("npm test", "~node tests npm");
        check("npm run test:unit", "~node tests npm");
        check("pnpm run lint", "node lint pnpm");
        check("yarn build", "node build yarn");
        check("make -j4 check", "make tests make");
        check("tox -e py313", "~python tests tox");
    }

    #[test]
    fn what_installs_edits_or_deploys_checks_nothing() {
        for command in [
            "npm ci",
            "pip install pytest",
            "uv sync",
            "cargo fmt",
            "ruff check --fix",
            "npm run deploy",
            "cargo install cargo-nextest",
            "make",
            "vitest --watch",
        ] {
            check(command, "");
        }
    }
}
