//! Finds the runner that a command starts, through its prefixes.

use std::path::Path;

use crate::report::Format;

/// A runner in a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Runner {
    pub(super) format: Format,
    /// Index of its own program: `pytest`, `node`, `cargo`.
    pub(super) program: usize,
    /// First index for options of gate.
    pub(super) options: usize,
}

/// The runner that a command starts.
pub(super) fn runner(argv: &[String]) -> Option<Runner> {
    let mut at = 0;
    // Each prefix is longer than nothing: this ends.
    while at < argv.len() {
        let rest = Words { argv, at };
        if let Some(runner) = rest.runner() {
            return Some(runner);
        }
        at = rest.after_prefix()?;
    }
    None
}

/// A command from some word on.
#[derive(Clone, Copy)]
struct Words<'a> {
    argv: &'a [String],
    at: usize,
}

impl<'a> Words<'a> {
    fn get(self, offset: usize) -> &'a str {
        self.argv.get(self.at + offset).map_or("", String::as_str)
    }

    /// The program's name without its folder.
    fn name(self) -> &'a str {
        let word = self.get(0);
        let name = Path::new(word).file_name().and_then(|name| name.to_str()).unwrap_or(word);
        name.strip_suffix(".exe").unwrap_or(name)
    }

    fn found(self, format: Format, options: usize) -> Option<Runner> {
        Some(Runner { format, program: self.at, options: self.at + options })
    }

    fn runner(self) -> Option<Runner> {
        match self.name() {
            "pytest" | "py.test" | "pytest-3" => self.found(Format::Pytest, 1),
            "jest" | "jest.js" => self.found(Format::Jest, 1),
            "vitest" | "vitest.mjs" => self.found(Format::Vitest, 1),
            "cargo" => self.cargo(),
            "cargo-nextest" => self.nextest(1),
            "go" => self.go(),
            "node" | "nodejs" | "tsx" => self.node(),
            _ => None,
        }
    }

    fn cargo(self) -> Option<Runner> {
        let skipped = usize::from(self.get(1).starts_with('+'));
        let valued = ["--config", "-Z", "-C", "--color", "--manifest-path", "--target-dir"];
        let verb = self.past_options(1 + skipped, &valued);
        match self.get(verb) {
            "test" | "t" => self.found(Format::Libtest, verb + 1),
            "nextest" => self.nextest(verb),
            _ => None,
        }
    }

    fn nextest(self, at: usize) -> Option<Runner> {
        let runs = self.get(at) == "nextest" && matches!(self.get(at + 1), "run" | "r");
        if runs { self.found(Format::Nextest, at + 2) } else { None }
    }

    /// `-C` has to stay the first option.
    fn go(self) -> Option<Runner> {
        let in_folder = |at: usize| match self.get(at) {
            "-C" => at + 2,
            word if word.starts_with("-C=") => at + 1,
            _ => at,
        };
        let verb = in_folder(1);
        if self.get(verb) == "test" { self.found(Format::Go, in_folder(verb + 1)) } else { None }
    }

    /// Only what stands before the first file is node's own.
    fn node(self) -> Option<Runner> {
        let script = self.past_options(1, NODE_VALUED);
        let own = &self.argv[self.at + 1..(self.at + script).min(self.argv.len())];
        if own.iter().any(|word| word == "--test") {
            return self.found(Format::Node, 1);
        }
        Words { at: self.at + script, ..self }.script()
    }

    fn script(self) -> Option<Runner> {
        match self.name() {
            "jest" | "jest.js" => self.found(Format::Jest, 1),
            "vitest" | "vitest.mjs" => self.found(Format::Vitest, 1),
            _ => None,
        }
    }

    /// Index of the first word that is neither an option nor an option's value.
    fn past_options(self, from: usize, valued: &[&str]) -> usize {
        let mut at = from;
        while self.get(at).starts_with('-') {
            if self.get(at) == "--" {
                return at + 1;
            }
            at += 1 + usize::from(valued.contains(&self.get(at)));
        }
        at
    }

    /// Index of the command behind a prefix; `None` if this is no prefix.
    fn after_prefix(self) -> Option<usize> {
        let past = |from, valued: &[&str]| Some(self.at + self.past_options(from, valued));
        match (self.name(), self.get(1)) {
            ("env" | "cross-env", _) => Some(self.at + self.past_assignments()),
            ("nohup" | "time" | "xvfb-run" | "bunx" | "uvx", _) => past(1, &["--from", "--with"]),
            ("nice", _) => past(1, &["-n"]),
            ("timeout", _) => past(1, &["-k", "-s", "--kill-after", "--signal"]).map(|at| at + 1),
            ("npx", _) => past(1, NPM_VALUED),
            ("npm", "exec" | "x") => past(2, NPM_VALUED),
            ("uv" | "poetry" | "hatch" | "pipenv" | "pdm" | "rye" | "pixi" | "pipx", "run") => {
                past(2, UV_VALUED)
            }
            ("uv", "tool") if self.get(2) == "run" => past(3, UV_VALUED),
            ("conda" | "mamba" | "micromamba", "run") => past(2, &["-n", "--name", "-p"]),
            ("bun", "run" | "x") => past(2, &[]),
            ("bun", _) => past(1, &["--cwd"]),
            ("dotenv", _) => past(1, &["-e", "-v", "-f"]),
            ("pnpm" | "yarn", _) => Some(self.at + self.past_manager()),
            ("coverage", "run") => self.module(2),
            (name, _) if is_python(name) => self.module(1),
            _ => None,
        }
    }

    /// pnpm and yarn start a program with or without a verb of their own.
    fn past_manager(self) -> usize {
        let verb = self.past_options(1, &["--filter", "-F", "--dir", "-C", "--cwd"]);
        match self.get(verb) {
            "exec" | "dlx" | "run" => self.past_options(verb + 1, &["--package"]),
            _ => verb,
        }
    }

    fn past_assignments(self) -> usize {
        let mut at = self.past_options(1, &["-u", "--unset", "-C", "--chdir"]);
        while self.get(at).contains('=') {
            at += 1;
        }
        at
    }

    /// Index of the module that `-m` names.
    fn module(self, from: usize) -> Option<usize> {
        let mut at = from;
        let valued = ["-X", "-W", "--source", "--omit", "--include", "--rcfile", "--data-file"];
        while self.get(at).starts_with('-') {
            if self.get(at) == "-m" {
                return Some(self.at + at + 1);
            }
            at += 1 + usize::from(valued.contains(&self.get(at)));
        }
        None
    }
}

fn is_python(name: &str) -> bool {
    let version = name.strip_prefix("python").or_else(|| name.strip_prefix("pypy"));
    version.is_some_and(|version| version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
}

const NPM_VALUED: &[&str] = &["-p", "--package", "-w", "--workspace", "--prefix"];

const UV_VALUED: &[&str] = &[
    "-p",
    "--python",
    "--with",
    "--with-editable",
    "--with-requirements",
    "--extra",
    "--group",
    "--only-group",
    "--no-group",
    "--package",
    "--env-file",
    "--project",
    "--directory",
    "--from",
    "-e",
    "--environment",
];

const NODE_VALUED: &[&str] = &[
    "-r",
    "--require",
    "--import",
    "--loader",
    "--experimental-loader",
    "--env-file",
    "-C",
    "--conditions",
    "--test-reporter",
    "--test-reporter-destination",
    "--test-name-pattern",
    "--test-skip-pattern",
    "--test-concurrency",
    "--test-timeout",
    "--test-shard",
    "--tsconfig",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    /// The command, with `|` where options of ours may stand first.
    #[track_caller]
    fn check(line: &str, format: Format) {
        let at = words(line).iter().position(|word| word == "|").unwrap();
        let argv: Vec<_> = words(line).into_iter().filter(|word| word != "|").collect();
        let found = runner(&argv).map(|runner| (runner.format, runner.options));
        assert_eq!(found, Some((format, at)), "{line}");
    }

    #[test]
    fn runners_by_their_own_names() {
        check("pytest | -q", Format::Pytest);
        check("/usr/bin/py.test |", Format::Pytest);
        check("./node_modules/.bin/jest | a", Format::Jest);
        check("node_modules/.bin/vitest | run", Format::Vitest);
        check("cargo test | -- --nocapture", Format::Libtest);
        check("cargo +nightly -Z x test | -q", Format::Libtest);
        check("cargo nextest run | -p x", Format::Nextest);
        check("cargo-nextest nextest run |", Format::Nextest);
        check("go test | ./...", Format::Go);
        check("go -C sub test | ./...", Format::Go);
        check("go test -C sub | ./...", Format::Go);
        check("node | --test a.mjs", Format::Node);
        check("node | --import tsx --test", Format::Node);
        check("tsx | --test a.ts", Format::Node);
    }

    #[test]
    fn runners_behind_prefixes() {
        check("env -u A B=c pytest |", Format::Pytest);
        check("timeout -k 5 60 cargo test |", Format::Libtest);
        check("python -m pytest | x", Format::Pytest);
        check("python3.12 -X dev -W error -m pytest |", Format::Pytest);
        check("uv run --with x --frozen pytest | -x", Format::Pytest);
        check("uv run python -m pytest |", Format::Pytest);
        check("poetry run pytest |", Format::Pytest);
        check("coverage run --source src -m pytest |", Format::Pytest);
        check("python -m coverage run -m pytest |", Format::Pytest);
        check("npx --yes jest | --ci", Format::Jest);
        check("npx -p vitest vitest | run", Format::Vitest);
        check("npm exec -- jest |", Format::Jest);
        check("pnpm exec vitest | run", Format::Vitest);
        check("pnpm --filter x dlx jest |", Format::Jest);
        check("yarn jest |", Format::Jest);
        check("bunx vitest |", Format::Vitest);
        check("bun vitest | run", Format::Vitest);
        check("cross-env CI=1 jest |", Format::Jest);
        check("dotenv -e .env.test -- jest | --ci", Format::Jest);
        check("node --experimental-vm-modules node_modules/jest/bin/jest.js | a", Format::Jest);
    }

    #[test]
    fn what_is_no_known_runner() {
        for line in [
            "make test",
            "npm test",
            "npm run jest",
            "bun test",
            "cargo build",
            "cargo nextest list",
            "go vet",
            "node a.mjs --test",
            "python test.py",
            "python -c pytest",
            "echo pytest",
            "bash -c pytest",
            "",
        ] {
            assert_eq!(runner(&words(line)), None, "{line}");
        }
        assert_eq!(runner(&[]), None);
    }
}
