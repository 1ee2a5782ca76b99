//! Commands that wait for changes or serve, and never end.

/// Programs that do nothing else.
const WATCHERS: [&str; 19] = [
    "air",
    "chokidar",
    "chokidar-cli",
    "entr",
    "gow",
    "node-dev",
    "nodemon",
    "onchange",
    "ptw",
    "pytest-watch",
    "pytest_watch",
    "pytest-watcher",
    "reflex",
    "ts-node-dev",
    "tsc-watch",
    "tsnd",
    "watch",
    "watchexec",
    "webpack-dev-server",
];

/// Programs with their commands that do it.
const COMMANDS: [(&str, &[&str]); 13] = [
    ("astro", &["dev", "preview"]),
    ("cargo", &["watch"]),
    ("dotnet", &["watch"]),
    ("gulp", &["watch", "serve"]),
    ("grunt", &["watch"]),
    ("next", &["dev", "start"]),
    ("ng", &["serve"]),
    ("nuxt", &["dev"]),
    ("react-scripts", &["start"]),
    ("tsx", &["watch"]),
    ("vite", &["dev", "serve", "preview"]),
    ("vitest", &["watch", "dev"]),
    ("webpack", &["watch", "serve"]),
];

/// Programs in whose words `-w` means `--watch`.
const SHORT: [&str; 9] =
    ["ava", "babel", "jest", "mocha", "rollup", "swc", "tsc", "vitest", "webpack"];

/// Words before a program that start it, with or without options of their own.
const STARTERS: [&str; 22] = [
    "bunx",
    "command",
    "cross-env",
    "cross-env-shell",
    "dlx",
    "dotenv",
    "dotenvx",
    "env",
    "exec",
    "npx",
    "pipenv",
    "pnpx",
    "poetry",
    "python",
    "python3",
    "run",
    "sudo",
    "time",
    "uv",
    "uvx",
    "x",
    "yarn",
];

/// Package managers, which run scripts by name.
const MANAGERS: [&str; 4] = ["npm", "pnpm", "yarn", "bun"];

/// Programs that start each of their words as a command, side by side.
const STARTS_ALL: [&str; 5] = ["concurrently", "conc", "npm-run-all", "run-p", "run-s"];

/// The most scripts that name one another, each the next.
const MAX_DEPTH: u8 = 4;

/// The text of the script of a name, where there are scripts.
pub(super) type Scripts<'s> = dyn Fn(&str) -> Option<&'s str> + 's;

/// True if a line of shell never ends: one of the commands that it waits for does not.
pub(super) fn never_ends(line: &str, scripts: &Scripts<'_>) -> bool {
    line_waits(line, scripts, MAX_DEPTH)
}

/// The indented lines below the line that begins a rule of a Makefile, or a recipe of a justfile.
pub(super) fn recipe_lines(
    text: &str,
    begins: impl Fn(&str) -> bool,
) -> impl Iterator<Item = &str> {
    let after = text.lines().skip_while(move |line| !begins(line)).skip(1);
    let recipe = after.take_while(|line| line.trim().is_empty() || line.starts_with(['\t', ' ']));
    recipe.map(|line| line.trim().trim_start_matches(['@', '-', '+']))
}

fn line_waits(line: &str, scripts: &Scripts<'_>, depth: u8) -> bool {
    depth > 0 && commands(line).iter().any(|words| command_waits(words, scripts, depth - 1))
}

fn command_waits(words: &[String], scripts: &Scripts<'_>, depth: u8) -> bool {
    let is_managed = words.first().is_some_and(|word| is_manager(word));
    let words = begun(words);
    let Some((program, rest)) = words.split_first() else { return false };
    let program = program.rsplit('/').next().unwrap_or_default();
    let script = |name: &str| scripts(name).is_some_and(|line| line_waits(line, scripts, depth));
    if STARTS_ALL.contains(&program) {
        // With one of these options they end with the first of their commands that does.
        let ends = ["-k", "--kill-others", "-r", "--race"];
        if rest.iter().any(|word| ends.contains(&word.as_str())) {
            return false;
        }
        let mut starts = rest.iter().filter(|word| !word.starts_with('-'));
        let waits = |word: &String| match word.split_once(':').filter(|(by, _)| is_manager(by)) {
            Some((_, name)) => script(name),
            None => script(word) || line_waits(word, scripts, depth),
        };
        return starts.any(waits);
    }
    if is_manager(program) {
        let named = rest.iter().find(|word| !word.starts_with('-') && *word != "run");
        return named.is_some_and(|name| script(name)) || watches(program, rest);
    }
    if is_managed && scripts(program).is_some() {
        return script(program);
    }
    WATCHERS.contains(&program) || watches(program, rest)
}

/// True if the words after a program make it watch, or serve.
fn watches(program: &str, rest: &[String]) -> bool {
    let mut is_told = None;
    for (at, word) in rest.iter().enumerate() {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let value =
            if value.is_empty() { rest.get(at + 1).map_or("", String::as_str) } else { value };
        let is_short = name == "-w" && SHORT.contains(&program);
        match name {
            "--no-watch" | "--run" => is_told = Some(false),
            "--watch" | "--watchAll" | "--watch-path" => is_told = Some(!is_no(value)),
            _ if is_short => is_told = Some(true),
            _ => {}
        }
    }
    let command = rest.iter().find(|word| !word.starts_with('-')).map_or("", String::as_str);
    let is_command =
        COMMANDS.iter().any(|(name, commands)| *name == program && commands.contains(&command));
    // Without a command `vite` serves, and `ng test` watches unless the words say otherwise.
    let by_itself = program == "vite" && !["build", "optimize"].contains(&command)
        || program == "ng" && command == "test";
    is_told.unwrap_or(is_command || by_itself)
}

fn is_no(value: &str) -> bool {
    ["false", "0", "no"].contains(&value)
}

fn is_manager(word: &str) -> bool {
    MANAGERS.contains(&word)
}

/// A command from its program on: without variables before it, and without programs that only
/// start another one.
fn begun(words: &[String]) -> &[String] {
    let mut rest = words;
    let mut is_started = false;
    while let Some((first, after)) = rest.split_first() {
        let name = first.rsplit('/').next().unwrap_or_default();
        let is_variable = first.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        });
        let is_option = is_started && first.starts_with('-');
        let runs = after.first().map_or("", String::as_str);
        let by_manager = is_manager(name) && ["exec", "x", "dlx"].contains(&runs);
        // A manager's own command runs a script, and `yarn NAME` a script or a program.
        let starts =
            by_manager || STARTERS.contains(&name) && !(is_manager(name) && is_script_call(after));
        if !is_variable && !is_option && !starts {
            break;
        }
        is_started |= starts;
        rest = after;
    }
    rest
}

/// True if a manager is asked for a script: `run NAME`, `test`.
fn is_script_call(words: &[String]) -> bool {
    let first = words.iter().find(|word| !word.starts_with('-')).map_or("", String::as_str);
    ["run", "test", "start"].contains(&first)
}

/// The commands of a line that a shell waits for, each in its words.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut commands: Vec<Vec<String>> = vec![Vec::new()];
    let (mut word, mut quote) = (String::new(), None);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\'' | '"', None) => quote = Some(letter),
            (letter, Some(open)) if letter == open => quote = None,
            ('\\', _) => word.extend(letters.next()),
            (letter, Some(_)) => word.push(letter),
            (' ' | '\t' | '\n' | '&' | '|' | ';' | '(' | ')', None) => {
                if !word.is_empty()
                    && let Some(last) = commands.last_mut()
                {
                    last.push(std::mem::take(&mut word));
                }
                if letter == '&' && letters.peek() != Some(&'&') {
                    // It runs in the background: nobody waits for it.
                    commands.pop();
                }
                if !matches!(letter, ' ' | '\t') {
                    letters.next_if_eq(&letter);
                    commands.push(Vec::new());
                }
            }
            (letter, None) => word.push(letter),
        }
    }
    if !word.is_empty()
        && let Some(last) = commands.last_mut()
    {
        last.push(word);
    }
    commands.retain(|words| !words.is_empty());
    commands
}

#[cfg(test)]
mod tests {
    use super::never_ends;

    fn script(name: &str) -> Option<&'static str> {
        match name {
            "watch:ts" => Some("tsc -w"),
            "unit" => Some("jest --ci"),
            "self" => Some("npm run self"),
            _ => None,
        }
    }

    #[test]
    fn what_waits_for_changes_never_ends() {
        for line in [
            "nodemon --exec \"node --test\"",
            "npx nodemon -x mocha",
            "NODE_ENV=test npx --no-install nodemon",
            "cross-env CI=1 nodemon test.js",
            "concurrently \"tsc -w\" \"jest --ci\"",
            "concurrently npm:watch:ts npm:unit",
            "npm-run-all unit watch:ts",
            "tsx watch src/test.ts",
            "node --watch --test",
            "node --watch-path=src --test",
            "vite",
            "vite --port 3000",
            "tsc && vite preview",
            "ng test",
            "ng test --browsers=ChromeHeadless",
            "chokidar 'src/**' -c 'npm test'",
            "watchexec -e rs cargo test",
            "cargo watch -x test",
            "ptw",
            "pytest-watch -- -x",
            "python -m pytest_watch",
            "poetry run ptw",
            "air",
            "webpack --watch",
            "tsc -w",
            "mocha -w",
            "npm run watch:ts",
            "yarn watch:ts",
            "pnpm exec nodemon",
            "npm run build && npm run watch:ts",
            "jest --watch",
            "jest --watchAll",
            "bun test --watch",
            "ls *.rs | entr -c cargo test",
        ] {
            assert!(never_ends(line, &script), "{line}");
        }
    }

    #[test]
    fn what_only_looks_like_it_ends() {
        for line in [
            "jest --watchAll=false",
            "jest --watchPathIgnorePatterns=dist",
            "jest --watchman=false",
            "ng test --watch=false",
            "ng test --watch false --browsers ChromeHeadless",
            "ng test --no-watch",
            "ng lint",
            "vite build",
            "vite-node test.ts",
            "vitest run",
            "vitest --run",
            "tsx test.ts",
            "tsx --test watch.ts",
            "cargo test watch",
            "npm test -w packages/a",
            "concurrently \"eslint .\" \"jest --ci\"",
            "concurrently -k -s first \"vite\" \"cypress run\"",
            "start-server-and-test dev 3000 unit",
            "timeout 60 nodemon",
            "vite & cypress run",
            "echo nodemon",
            "mocha test/watch.js",
            "node --test nodemon.test.js",
            "rm -f watch",
            "npm run unit",
            "npm run self",
            "pytest tests/air",
            "webpack --mode production",
        ] {
            assert!(!never_ends(line, &script), "{line}");
        }
    }
}
