//! Finds the runner that a command starts, through its prefixes.

use super::{Runner, TABLE, Verb, options_with_value};

/// A runner in a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// The runner.
    pub runner: Runner,
    /// The index of the runner's own program: `pytest`, `node`, `cargo`.
    pub program_index: usize,
    /// The first index at which an option of gate may stand.
    pub options_start: usize,
}

/// The runner that a command starts.
pub fn find(argv: &[String]) -> Option<Invocation> {
    let mut start = 0;
    // Each prefix has a word at least: this ends.
    while start < argv.len() {
        let command = CommandWords { argv, start };
        if let Some(invocation) = command.runner() {
            return Some(invocation);
        }
        start = command.after_prefix()?;
    }
    None
}

/// A command behind prefixes. Its methods count words from its own start, unless they say that
/// they return an index of the whole command.
#[derive(Clone, Copy)]
struct CommandWords<'a> {
    argv: &'a [String],
    start: usize,
}

impl<'a> CommandWords<'a> {
    /// A word; empty behind the last one.
    fn word(self, offset: usize) -> &'a str {
        self.argv.get(self.start + offset).map_or("", String::as_str)
    }

    fn program(self) -> &'a str {
        program_name(self.word(0))
    }

    fn runner(self) -> Option<Invocation> {
        let mut entries =
            TABLE.runner.iter().filter(|entry| has_word(&entry.programs, self.program()));
        let invocation = entries.find_map(|entry| {
            let options_start = self.start + self.options_after(&entry.verb)?;
            Some(Invocation { runner: entry.runner, program_index: self.start, options_start })
        });
        invocation.or_else(|| self.script_of_node())
    }

    /// The first option after the words that make a program run tests; `None` if it runs none.
    fn options_after(self, verb: &Verb) -> Option<usize> {
        match verb {
            Verb::Any => Some(1),
            Verb::First(words) if self.program() == "go" => {
                let verb = self.past_folder(1);
                has_word(words, self.word(verb)).then(|| self.past_folder(verb + 1))
            }
            Verb::First(words) => {
                let verb = self.verb_of_cargo();
                has_word(words, self.word(verb)).then_some(verb + 1)
            }
            Verb::Nextest => {
                let verb = if self.program() == "cargo" { self.verb_of_cargo() } else { 1 };
                let runs_tests =
                    self.word(verb) == "nextest" && matches!(self.word(verb + 1), "run" | "r");
                runs_tests.then_some(verb + 2)
            }
            Verb::Among(words) => {
                let mut arguments = self.argv[self.start + 1..].iter();
                arguments.any(|word| has_word(words, goal_of(word))).then_some(1)
            }
            Verb::Option(option) => {
                // Only what stands before the first file is the program's own.
                let script = self.past_options(1, options_with_value("node"));
                let options_end = (self.start + script).min(self.argv.len());
                has_word(&self.argv[self.start + 1..options_end], option).then_some(1)
            }
        }
    }

    fn verb_of_cargo(self) -> usize {
        let toolchain = usize::from(self.word(1).starts_with('+'));
        let with_value = ["--config", "-Z", "-C", "--color", "--manifest-path", "--target-dir"];
        self.past_options(1 + toolchain, &with_value)
    }

    /// The word behind a `-C`, which go accepts only as the first option.
    fn past_folder(self, offset: usize) -> usize {
        match self.word(offset) {
            "-C" => offset + 2,
            word if word.starts_with("-C=") => offset + 1,
            _ => offset,
        }
    }

    /// A runner whose program node is given as a file.
    fn script_of_node(self) -> Option<Invocation> {
        if !matches!(self.program(), "node" | "nodejs" | "tsx") {
            return None;
        }
        let script_start = self.start + self.past_options(1, options_with_value("node"));
        let script = CommandWords { start: script_start, ..self };
        let is_file = script.word(0).contains('/') || script.word(0).ends_with("js");
        let invocation = if is_file { script.runner() } else { None };
        invocation.filter(|invocation| {
            matches!(invocation.runner, Runner::Jest | Runner::Vitest | Runner::Mocha)
        })
    }

    /// The first word that is neither an option nor the value of one.
    fn past_options(self, start: usize, with_value: &[impl AsRef<str>]) -> usize {
        let mut offset = start;
        while self.word(offset).starts_with('-') {
            let option = self.word(offset);
            if option == "--" {
                return offset + 1;
            }
            let has_value = with_value.iter().any(|listed| listed.as_ref() == option);
            offset += 1 + usize::from(has_value);
        }
        offset
    }

    /// The index, in the whole command, of the command behind a prefix; `None` without a prefix.
    fn after_prefix(self) -> Option<usize> {
        let past =
            |offset, with_value: &[&str]| Some(self.start + self.past_options(offset, with_value));
        let past_listed =
            |offset, list| Some(self.start + self.past_options(offset, options_with_value(list)));
        match (self.program(), self.word(1)) {
            ("env" | "cross-env", _) => Some(self.start + self.past_assignments()),
            ("nohup" | "time" | "xvfb-run" | "bunx" | "uvx", _) => past(1, &["--from", "--with"]),
            ("nice", _) => past(1, &["-n"]),
            ("timeout", _) => {
                past(1, &["-k", "-s", "--kill-after", "--signal"]).map(|duration| duration + 1)
            }
            ("nyc" | "c8", _) => past_listed(1, "coverage"),
            ("npx", _) => past_listed(1, "npm"),
            ("npm", "exec" | "x") => past_listed(2, "npm"),
            ("uv" | "poetry" | "hatch" | "pipenv" | "pdm" | "rye" | "pixi" | "pipx", "run") => {
                past_listed(2, "uv")
            }
            ("uv", "tool") if self.word(2) == "run" => past_listed(3, "uv"),
            ("conda" | "mamba" | "micromamba", "run") => past(2, &["-n", "--name", "-p"]),
            ("bun", "run" | "x") => past(2, &[]),
            ("bun", _) => past(1, &["--cwd"]),
            ("dotenv", _) => past(1, &["-e", "-v", "-f"]),
            ("pnpm" | "yarn", _) => Some(self.start + self.past_manager()),
            ("coverage", "run") => self.python_module(2),
            (program, _) if is_python(program) => self.python_module(1),
            _ => None,
        }
    }

    /// pnpm and yarn start a program with or without a verb of their own.
    fn past_manager(self) -> usize {
        let verb = self.past_options(1, &["--filter", "-F", "--dir", "-C", "--cwd"]);
        match self.word(verb) {
            "exec" | "dlx" | "run" => self.past_options(verb + 1, &["--package"]),
            _ => verb,
        }
    }

    fn past_assignments(self) -> usize {
        let mut offset = self.past_options(1, &["-u", "--unset", "-C", "--chdir"]);
        while self.word(offset).contains('=') {
            offset += 1;
        }
        offset
    }

    /// The index, in the whole command, of the module that `-m` names.
    fn python_module(self, start: usize) -> Option<usize> {
        let mut offset = start;
        let with_value = ["-X", "-W", "--source", "--omit", "--include", "--rcfile", "--data-file"];
        while self.word(offset).starts_with('-') {
            if self.word(offset) == "-m" {
                return Some(self.start + offset + 1);
            }
            offset += 1 + usize::from(with_value.contains(&self.word(offset)));
        }
        None
    }
}

/// A goal without the project that it is of: `:app:test`.
fn goal_of(word: &str) -> &str {
    word.rsplit(':').next().unwrap_or(word)
}

/// The name of a program without its folder and ending.
pub fn program_name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let endings = [".js", ".mjs", ".exe", ".cmd", ".bat"];
    endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

/// An interpreter of Python, by its [`program_name`].
pub fn is_python(name: &str) -> bool {
    let version = ["python", "pypy", "py"].iter().find_map(|prefix| name.strip_prefix(prefix));
    version.is_some_and(|version| version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
}

fn has_word(words: &[String], word: &str) -> bool {
    words.iter().any(|listed| listed == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    /// The command, with `|` where options of gate may stand first.
    #[track_caller]
    fn check(line: &str, runner: Runner) {
        let options_start = words(line).iter().position(|word| word == "|").unwrap();
        let argv: Vec<_> = words(line).into_iter().filter(|word| word != "|").collect();
        let found = find(&argv).map(|invocation| (invocation.runner, invocation.options_start));
        assert_eq!(found, Some((runner, options_start)), "{line}");
    }

    #[test]
    fn runners_by_their_own_names() {
        check("pytest | -q", Runner::Pytest);
        check("/usr/bin/py.test |", Runner::Pytest);
        check("./node_modules/.bin/jest | a", Runner::Jest);
        check("node_modules/.bin/vitest | run", Runner::Vitest);
        check("cargo test | -- --nocapture", Runner::Cargo);
        check("cargo +nightly -Z x test | -q", Runner::Cargo);
        check("cargo nextest run | -p x", Runner::Nextest);
        check("cargo-nextest nextest run |", Runner::Nextest);
        check("go test | ./...", Runner::Go);
        check("go -C sub test | ./...", Runner::Go);
        check("go test -C sub | ./...", Runner::Go);
        check("node | --test a.mjs", Runner::Node);
        check("node | --import tsx --test", Runner::Node);
        check("tsx | --test a.ts", Runner::Node);
        check("python3 -m unittest | discover", Runner::Unittest);
        check("npx mocha | --recursive", Runner::Mocha);
        check("bats | test", Runner::Bats);
        check("./mvnw | -B verify", Runner::Maven);
        check("./gradlew | :app:test", Runner::Gradle);
    }

    #[test]
    fn runners_behind_prefixes() {
        check("env -u A B=c pytest |", Runner::Pytest);
        check("timeout -k 5 60 cargo test |", Runner::Cargo);
        check("python -m pytest | x", Runner::Pytest);
        check("python3.12 -X dev -W error -m pytest |", Runner::Pytest);
        check("uv run --with x --frozen pytest | -x", Runner::Pytest);
        check("uv run python -m pytest |", Runner::Pytest);
        check("poetry run pytest |", Runner::Pytest);
        check("coverage run --source src -m pytest |", Runner::Pytest);
        check("python -m coverage run -m pytest |", Runner::Pytest);
        check("npx --yes jest | --ci", Runner::Jest);
        check("npx -p vitest vitest | run", Runner::Vitest);
        check("npm exec -- jest |", Runner::Jest);
        check("pnpm exec vitest | run", Runner::Vitest);
        check("pnpm --filter x dlx jest |", Runner::Jest);
        check("yarn jest |", Runner::Jest);
        check("bunx vitest |", Runner::Vitest);
        check("bun vitest | run", Runner::Vitest);
        check("cross-env CI=1 jest |", Runner::Jest);
        check("dotenv -e .env.test -- jest | --ci", Runner::Jest);
        check("npx --no-install nyc --reporter lcov -x=a mocha | --exit", Runner::Mocha);
        check("c8 node | --test", Runner::Node);
        check("node --experimental-vm-modules node_modules/jest/bin/jest.js | a", Runner::Jest);
    }

    #[test]
    fn what_is_no_known_runner() {
        for line in [
            "make test",
            "npm test",
            "npm run jest",
            "nyc report",
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
            assert_eq!(find(&words(line)), None, "{line}");
        }
        assert_eq!(find(&[]), None);
    }
}
