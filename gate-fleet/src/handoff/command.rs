//! Commands as they are typed, and as they are run.

/// The words of a command line, by the rules of a POSIX shell; none if a quote is open. Operators
/// such as `&&` are words like any other.
pub fn words(command: &str) -> Option<Vec<String>> {
    shlex::split(command)
}

/// A command as it would be typed: its words, quoted where they have to be. The
/// script of a shell stands for itself.
pub fn line(argv: &[String]) -> String {
    if let Some(script) = script(argv) {
        return script.to_owned();
    }
    // A word with a NUL cannot be typed; it is shown as it is.
    shlex::try_join(argv.iter().map(String::as_str)).unwrap_or_else(|_| argv.join(" "))
}

/// The script that a shell is called with.
pub(super) fn script(argv: &[String]) -> Option<&str> {
    let [shell, flags @ .., script] = argv else { return None };
    let shell = shell.rsplit('/').next().unwrap_or(shell);
    let is_shell = matches!(shell, "sh" | "bash" | "dash" | "zsh");
    let runs = flags.last().is_some_and(|flag| flag.starts_with('-') && flag.ends_with('c'));
    (is_shell && runs).then_some(script)
}
