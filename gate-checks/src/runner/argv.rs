//! Finds the runner that a command starts, through its prefixes.

use super::{Runner, TABLE, Verb, options_with_value};

/// A runner in a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Invocation {
    pub(crate) runner: Runner,
    /// Index of its own program: `pytest`, `node`, `cargo`.
    pub(crate) program: usize,
    /// First index for options of gate.
    pub(crate) options: usize,
}

/// The runner that a command starts.
pub(crate) fn find(argv: &[String]) -> Option<Invocation> {
    let mut at = 0;
    // Each prefix is longer than nothing: this ends.
    while at < argv.len() {
        let rest = Words { argv, at };
        if let Some(found) = rest.runner() {
            return Some(found);
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

    fn name(self) -> &'a str {
        program_name(self.get(0))
    }

    fn runner(self) -> Option<Invocation> {
        let name = self.name();
        let mut entries =
            TABLE.runner.iter().filter(|entry| entry.programs.iter().any(|known| known == name));
        let found = entries.find_map(|entry| {
            let options = self.at + self.options_after(&entry.verb)?;
            Some(Invocation { runner: entry.runner, program: self.at, options })
        });
        found.or_else(|| self.script_of_node())
    }

    /// Index of the first option after the words that make a program run tests.
    fn options_after(self, verb: &Verb) -> Option<usize> {
        match verb {
            Verb::Any => Some(1),
            Verb::First(words) if self.name() == "go" => {
                let verb = self.past_folder(1);
                has_word(words, self.get(verb)).then(|| self.past_folder(verb + 1))
            }
            Verb::First(words) => {
                let verb = self.verb_of_cargo();
                has_word(words, self.get(verb)).then_some(verb + 1)
            }
            Verb::Nextest => {
                let verb = if self.name() == "cargo" { self.verb_of_cargo() } else { 1 };
                let runs = self.get(verb) == "nextest" && matches!(self.get(verb + 1), "run" | "r");
                runs.then_some(verb + 2)
            }
            Verb::Among(words) => {
                let rest = &self.argv[self.at + 1..];
                let goal = rest.iter().any(|word| has_word(words, goal_of(word)));
                goal.then_some(1)
            }
            Verb::Option(option) => {
                // Only what stands before the first file is the program's own.
                let script = self.past_options(1, options_with_value("node"));
                let own = &self.argv[self.at + 1..(self.at + script).min(self.argv.len())];
                own.iter().any(|word| word == option).then_some(1)
            }
        }
    }

    fn verb_of_cargo(self) -> usize {
        let skipped = usize::from(self.get(1).starts_with('+'));
        let valued = ["--config", "-Z", "-C", "--color", "--manifest-path", "--target-dir"];
        self.past_options(1 + skipped, &valued)
    }

    /// `-C` has to stay the first option.
    fn past_folder(self, at: usize) -> usize {
        match self.get(at) {
            "-C" => at + 2,
            word if word.starts_with("-C=") => at + 1,
            _ => at,
        }
    }

    /// A runner whose program node is given as a file.
    fn script_of_node(self) -> Option<Invocation> {
        if !matches!(self.name(), "node" | "nodejs" | "tsx") {
            return None;
        }
        let script =
            Words { at: self.at + self.past_options(1, options_with_value("node")), ..self };
        let is_file = script.get(0).contains('/') || script.get(0).ends_with("js");
        let found = if is_file { script.runner() } else { None };
        found.filter(|found| matches!(found.runner, Runner::Jest | Runner::Vitest | Runner::Mocha))
    }

    /// Index of the first word that is neither an option nor an option's value.
    fn past_options(self, from: usize, valued: &[impl AsRef<str>]) -> usize {
        let mut at = from;
        while self.get(at).starts_with('-') {
            if self.get(at) == "--" {
                return at + 1;
            }
            at += 1 + usize::from(valued.iter().any(|option| option.as_ref() == self.get(at)));
        }
        at
    }

    /// Index of the command behind a prefix; `None` if this is no prefix.
    fn after_prefix(self) -> Option<usize> {
        let past = |from, valued: &[&str]| Some(self.at + self.past_options(from, valued));
        let past_listed =
            |from, list| Some(self.at + self.past_options(from, options_with_value(list)));
        match (self.name(), self.get(1)) {
            ("env" | "cross-env", _) => Some(self.at + self.past_assignments()),
            ("nohup" | "time" | "xvfb-run" | "bunx" | "uvx", _) => past(1, &["--from", "--with"]),
            ("nice", _) => past(1, &["-n"]),
            ("timeout", _) => past(1, &["-k", "-s", "--kill-after", "--signal"]).map(|at| at + 1),
            ("npx", _) => past_listed(1, "npm"),
            ("npm", "exec" | "x") => past_listed(2, "npm"),
            ("uv" | "poetry" | "hatch" | "pipenv" | "pdm" | "rye" | "pixi" | "pipx", "run") => {
                past_listed(2, "uv")
            }
            ("uv", "tool") if self.get(2) == "run" => past_listed(3, "uv"),
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
    words.iter().any(|known| known == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    /// The command, with `|` where options of ours may stand first.
    #[track_caller]
    fn check(line: &str, runner: Runner) {
        let at = words(line).iter().position(|word| word == "|").unwrap();
        let argv: Vec<_> = words(line).into_iter().filter(|word| word != "|").collect();
        let found = find(&argv).map(|found| (found.runner, found.options));
        assert_eq!(found, Some((runner, at)), "{line}");
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
        check("node --experimental-vm-modules node_modules/jest/bin/jest.js | a", Runner::Jest);
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
            assert_eq!(find(&words(line)), None, "{line}");
        }
        assert_eq!(find(&[]), None);
    }
}
