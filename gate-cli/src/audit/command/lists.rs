//! The programs and tasks of the trade, by their names.

/// Test runners that no rule of names knows.
pub(super) const TESTS: [&str; 24] = [
    "pytest",
    "py.test",
    "nosetests",
    "tox",
    "nox",
    "jest",
    "vitest",
    "mocha",
    "ava",
    "tap",
    "playwright",
    "cypress",
    "rspec",
    "phpunit",
    "pest",
    "bats",
    "busted",
    "nextest",
    "cargo-nextest",
    "karma",
    "gotestsum",
    "wdio",
    "behave",
    "Invoke-Pester",
];

/// Compilers, bundlers and type checkers.
pub(super) const BUILDS: [&str; 21] = [
    "tsc",
    "tsgo",
    "vue-tsc",
    "mypy",
    "pyright",
    "basedpyright",
    "ty",
    "javac",
    "gcc",
    "g++",
    "clang",
    "clang++",
    "ninja",
    "kotlinc",
    "swiftc",
    "rustc",
    "ghc",
    "pyre",
    "webpack",
    "rollup",
    "tsup",
];

pub(super) const LINTS: [&str; 18] = [
    "flake8",
    "pyflakes",
    "biome",
    "ruff",
    "rubocop",
    "standardrb",
    "prettier",
    "black",
    "shfmt",
    "oxfmt",
    "dprint",
    "pre-commit",
    "clippy-driver",
    "phpstan",
    "psalm",
    "zizmor",
    "ultracite",
    "promtool",
];

/// Programs that write files unless they are told to check.
pub(super) const FORMATTERS: [&str; 6] =
    ["black", "prettier", "shfmt", "oxfmt", "dprint", "gofmt"];

/// Programs whose words are data, and no tasks.
pub(super) const NO_TASKS: [&str; 97] = [
    "git", "gh", "glab", "hg", "svn", "jj", "ls", "cat", "bat", "rg", "grep", "egrep", "fgrep",
    "find", "fd", "cd", "pushd", "echo", "printf", "sed", "gsed", "awk", "head", "tail", "less",
    "mkdir", "rmdir", "rm", "cp", "mv", "touch", "chmod", "chown", "ln", "curl", "wget", "http",
    "which", "whereis", "type", "test", "[", "[[", "kill", "pkill", "pgrep", "killall", "ps",
    "lsof", "sleep", "for", "while", "until", "case", "select", "function", "return", "exit",
    "open", "code", "vim", "nano", "pip", "pip3", "pipx", "brew", "apt", "apt-get", "psql",
    "mysql", "sqlite3", "redis-cli", "createdb", "dropdb", "tmux", "screen", "tee", "wc", "sort",
    "uniq", "diff", "cmp", "export", "source", "jq", "yq", "tar", "unzip", "zip", "rsync", "scp",
    "man", "basename", "dirname", "Select-String", "Get-ChildItem", "Get-Content",
];

/// First words of programs that are no tasks, and whose own words are none either.
pub(super) const OTHER_VERBS: [&str; 59] = [
    "add", "install", "i", "uninstall", "remove", "rm", "delete", "del", "create", "new", "init",
    "get", "show", "describe", "list", "ls", "info", "view", "open", "close", "start", "stop",
    "restart", "logs", "log", "status", "search", "find", "use", "set", "unset", "config",
    "login", "logout", "publish", "push", "pull", "pack", "version", "update", "upgrade", "outdated",
    "why", "link", "cp", "mv", "copy", "ps", "inspect", "help", "comment", "edit", "sync", "import",
    "export", "clean", "query", "eval", "tasks",
];

/// Words before the program that is meant, with the options of each that take a value.
pub(super) const PREFIXES: [&str; 33] = [
    "time",
    "timeout",
    "gtimeout",
    "env",
    "sudo",
    "nice",
    "nohup",
    "npx",
    "bunx",
    "pnpx",
    "uvx",
    "uv",
    "poetry",
    "pipenv",
    "rye",
    "bundle",
    "corepack",
    "exec",
    "dlx",
    "xargs",
    "xvfb-run",
    "command",
    "run",
    "then",
    "do",
    "if",
    "elif",
    "else",
    "!",
    "&",
    "cross-env",
    "dotenv",
    "caffeinate",
];

/// Options of prefixes, package managers and task runners that take a value.
pub(super) const WITH_VALUE: [&str; 21] = [
    "-C",
    "--prefix",
    "--filter",
    "-F",
    "-w",
    "--workspace",
    "--cwd",
    "--cd",
    "--dir",
    "-f",
    "--directory",
    "--manifest-path",
    "--with",
    "-k",
    "-p",
    "--package",
    "--project",
    "-u",
    "-j",
    "--from",
    "--group",
];

/// Checks that print nothing if all is well.
pub(super) const SILENT: [&str; 14] = [
    "tsc",
    "tsgo",
    "vue-tsc",
    "eslint",
    "flake8",
    "pyflakes",
    "shellcheck",
    "actionlint",
    "stylelint",
    "javac",
    "gcc",
    "clang",
    "rustc",
    "gofmt",
];

/// Programs that take several targets, and without one build all.
pub(super) const TARGETS: [&str; 20] = [
    "make", "gmake", "gradle", "gradlew", "mvn", "mvnw", "just", "task", "rake", "ant", "bazel",
    "sbt", "nx", "turbo", "invoke", "lein", "hatch", "pdm", "mise", "moon",
];

/// The first of [`TARGETS`] build all if no target is named.
pub(super) const BUILDERS: usize = 6;

/// Words behind which a command or the name of a task stands.
pub(super) const RUNNERS: [&str; 10] =
    ["run", "exec", "x", "dlx", "--", "-c", "--run", "--command", "-exec", "-execdir"];

/// Programs that run others in a container.
pub(super) const CONTAINERS: [&str; 5] =
    ["docker", "docker-compose", "podman", "nerdctl", "kubectl"];

/// Options by which a program is told to check something.
pub(super) const CHECK_OPTIONS: [&str; 12] = [
    "--check",
    "--check-only",
    "--check-formatted",
    "--list-different",
    "--validate",
    "--verify",
    "--verify-no-changes",
    "--lint",
    "--import",
    "--selftest",
    "--self-test",
    "--dry-run",
];

/// Programs that parse their file and do no more, with the option that tells them to.
pub(super) const PARSERS: [(&str, &str); 19] = [
    ("bash", "-n"),
    ("sh", "-n"),
    ("zsh", "-n"),
    ("fish", "-n"),
    ("node", "--check"),
    ("node", "-c"),
    ("deno", "--check"),
    ("php", "-l"),
    ("ruby", "-c"),
    ("perl", "-c"),
    ("luac", "-p"),
    ("gofmt", "-l"),
    ("gofmt", "-d"),
    ("shfmt", "-d"),
    ("nginx", "-t"),
    ("plutil", "-lint"),
    ("xmllint", "--noout"),
    ("visudo", "-c"),
    ("desktop-file-validate", ""),
];
