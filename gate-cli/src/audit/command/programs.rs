//! The programs of the trade, by their names: those that `gate_checks` does not know.

/// Test runners that no rule of names knows.
pub(super) const TESTS: [&str; 11] = [
    "nosetests",
    "tap",
    "playwright",
    "cypress",
    "pest",
    "busted",
    "nextest",
    "karma",
    "wdio",
    "behave",
    "Invoke-Pester",
];

/// Compilers, bundlers and type checkers.
pub(super) const BUILDS: [&str; 18] = [
    "tsgo",
    "vue-tsc",
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

pub(super) const LINTS: [&str; 19] = [
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
    "isort",
    "pre-commit",
    "clippy-driver",
    "phpstan",
    "psalm",
    "zizmor",
    "ultracite",
    "promtool",
    "kustomize",
];

/// Programs that write files unless an option makes them check.
pub(super) const FORMATTERS: [&str; 7] =
    ["black", "prettier", "shfmt", "oxfmt", "dprint", "gofmt", "isort"];

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

/// Programs that only parse their file, with the option for that.
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
