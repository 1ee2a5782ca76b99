//! Commands that wait for changes or serve, and never end.

/// Programs that only wait or serve.
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

/// Programs, and those of their commands that wait or serve.
const WATCHING_COMMANDS: [(&str, &[&str]); 13] = [
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
const SHORT_OPTION: [&str; 9] =
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
const PARALLEL_STARTERS: [&str; 5] = ["concurrently", "conc", "npm-run-all", "run-p", "run-s"];

/// The longest chain of scripts that call one another.
const MAX_DEPTH: u8 = 4;

/// The text of the script of a name, where there are scripts.
pub(super) type Scripts<'s> = dyn Fn(&str) -> Option<&'s str> + 's;

/// A line of shell never ends if one of the commands that it waits for does not.
pub(super) fn never_ends(line: &str, scripts: &Scripts<'_>) -> bool {
    line_never_ends(line, scripts, MAX_DEPTH)
}

/// The indented lines below the line that begins a rule of a Makefile, or a recipe of a justfile.
pub(super) fn recipe_lines(
    text: &str,
    is_head: impl Fn(&str) -> bool,
) -> impl Iterator<Item = &str> {
    let below_head = text.lines().skip_while(move |line| !is_head(line)).skip(1);
    let recipe =
        below_head.take_while(|line| line.trim().is_empty() || line.starts_with(['\t', ' ']));
    recipe.map(|line| line.trim().trim_start_matches(['@', '-', '+']))
}

fn line_never_ends(line: &str, scripts: &Scripts<'_>, depth: u8) -> bool {
    depth > 0 && commands(line).iter().any(|words| command_never_ends(words, scripts, depth - 1))
}

fn command_never_ends(words: &[String], scripts: &Scripts<'_>, depth: u8) -> bool {
    let is_managed = words.first().is_some_and(|word| is_manager(word));
    let Some((path, arguments)) = without_starters(words).split_first() else { return false };
    let program = path.rsplit('/').next().unwrap_or_default();
    let script_never_ends =
        |name: &str| scripts(name).is_some_and(|line| line_never_ends(line, scripts, depth));
    if PARALLEL_STARTERS.contains(&program) {
        // With one of these options they end with the first of their commands that does.
        let ending_options = ["-k", "--kill-others", "-r", "--race"];
        if arguments.iter().any(|word| ending_options.contains(&word.as_str())) {
            return false;
        }
        let mut commands = arguments.iter().filter(|word| !word.starts_with('-'));
        return commands.any(|command| match command.split_once(':') {
            // `npm:watch` is a script; so is `watch:ts`, by its whole name.
            Some((manager, script)) if is_manager(manager) => script_never_ends(script),
            _ => script_never_ends(command) || line_never_ends(command, scripts, depth),
        });
    }
    if is_manager(program) {
        let script = arguments.iter().find(|word| !word.starts_with('-') && *word != "run");
        return script.is_some_and(|name| script_never_ends(name)) || watches(program, arguments);
    }
    if is_managed && scripts(program).is_some() {
        return script_never_ends(program);
    }
    WATCHERS.contains(&program) || watches(program, arguments)
}

/// The arguments of a program make it watch, or serve. An option decides before a command does, and
/// the last of several options counts.
fn watches(program: &str, arguments: &[String]) -> bool {
    let mut by_option = None;
    for (index, word) in arguments.iter().enumerate() {
        let next_word = arguments.get(index + 1).map_or("", String::as_str);
        let (name, value) = word.split_once('=').unwrap_or((word, next_word));
        match name {
            "--no-watch" | "--run" => by_option = Some(false),
            "--watch" | "--watchAll" | "--watch-path" => by_option = Some(!is_no(value)),
            "-w" if SHORT_OPTION.contains(&program) => by_option = Some(true),
            _ => {}
        }
    }
    let command = arguments.iter().find(|word| !word.starts_with('-')).map_or("", String::as_str);
    let by_command = WATCHING_COMMANDS
        .iter()
        .any(|(name, commands)| *name == program && commands.contains(&command));
    // Without a command `vite` serves, and `ng test` watches unless the words say otherwise.
    let by_default = program == "vite" && !["build", "optimize"].contains(&command)
        || program == "ng" && command == "test";
    by_option.unwrap_or(by_command || by_default)
}

fn is_no(value: &str) -> bool {
    ["false", "0", "no"].contains(&value)
}

fn is_manager(word: &str) -> bool {
    MANAGERS.contains(&word)
}

/// A command from its program on: without variables before it, and without programs that only
/// start another one.
fn without_starters(words: &[String]) -> &[String] {
    let mut command = words;
    let mut is_behind_starter = false;
    while let Some((word, behind)) = command.split_first() {
        let program = word.rsplit('/').next().unwrap_or_default();
        let is_variable = word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        });
        let is_option = is_behind_starter && word.starts_with('-');
        let verb = behind.first().map_or("", String::as_str);
        let is_manager_exec = is_manager(program) && ["exec", "x", "dlx"].contains(&verb);
        // A manager's own command runs a script, and `yarn NAME` a script or a program.
        let is_starter = is_manager_exec
            || STARTERS.contains(&program) && !(is_manager(program) && is_script_call(behind));
        if !is_variable && !is_option && !is_starter {
            break;
        }
        is_behind_starter |= is_starter;
        command = behind;
    }
    command
}

/// The arguments of a manager call a script: `run NAME`, `test`.
fn is_script_call(arguments: &[String]) -> bool {
    let verb = arguments.iter().find(|word| !word.starts_with('-')).map_or("", String::as_str);
    ["run", "test", "start"].contains(&verb)
}

/// The commands of a line that a shell waits for, each in its words.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut commands: Vec<Vec<String>> = vec![Vec::new()];
    let (mut word, mut open_quote) = (String::new(), None);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, open_quote) {
            ('\'' | '"', None) => open_quote = Some(letter),
            (letter, Some(quote)) if letter == quote => open_quote = None,
            ('\\', _) => word.extend(letters.next()),
            (letter, Some(_)) => word.push(letter),
            (' ' | '\t' | '\n' | '&' | '|' | ';' | '(' | ')', None) => {
                if !word.is_empty()
                    && let Some(command) = commands.last_mut()
                {
                    command.push(std::mem::take(&mut word));
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
        && let Some(command) = commands.last_mut()
    {
        command.push(word);
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
            "jest --watch= false",
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
