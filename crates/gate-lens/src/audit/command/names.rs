//! The programs of simple commands.

use gate_report::runners::program_name;

/// Words of a shell, and programs that start another one.
const PREFIXES: [&str; 13] = [
    "sudo", "env", "timeout", "time", "nice", "nohup", "command", "exec", "then", "do", "if",
    "else", "!",
];

/// Programs that look at files or move them about, and words of a shell that start nothing.
const LOOKS: [&str; 54] = [
    "git", "ls", "cat", "rg", "grep", "egrep", "find", "fd", "cd", "pushd", "popd", "echo",
    "printf", "sed", "gsed", "awk", "perl", "head", "tail", "less", "mkdir", "rmdir", "rm", "cp",
    "mv", "touch", "chmod", "ln", "patch", "tee", "wc", "sort", "uniq", "diff", "cut", "tr",
    "which", "type", "pwd", "date", "sleep", "clear", "tree", "stat", "file", "export", "source",
    "set", "for", "while", "case", "test", "[", "[[",
];

/// Commands of clients and of PowerShell that do the same, or write or show a text.
const LOOKS_ELSEWHERE: [&str; 11] = [
    "apply_patch",
    "Get-Content",
    "Get-ChildItem",
    "Select-String",
    "Set-Location",
    "Set-Content",
    "Add-Content",
    "Out-File",
    "Write-Output",
    "Write-Host",
    "Select-Object",
];

/// Programs that show the output of others with the word `logs`, and those that show files.
const SHOW_OUTPUTS: [&str; 5] = ["docker", "docker-compose", "podman", "kubectl", "pm2"];
const SHOW_FILES: [&str; 7] = ["cat", "tail", "head", "less", "grep", "type", "Get-Content"];

/// Endings of the files in which commands leave their output.
const LOGS: [&str; 4] = [".log", ".out", ".output", ".txt"];

/// Options with which a test runner runs nothing.
const NO_RUN: [&str; 6] = ["--version", "--help", "-h", "--init", "--list", "--collect-only"];

/// The words of a command without assignments and programs that start another one.
pub(crate) fn past_prefixes(words: &[String]) -> &[String] {
    let assigns = |word: &str| {
        let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        word.split_once('=').is_some_and(|(name, _)| is_name(name))
    };
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let is_option = word.starts_with('-') || word.starts_with(|c: char| c.is_ascii_digit());
        if !assigns(word) && !PREFIXES.contains(&program_name(word)) && (at == 0 || !is_option) {
            break;
        }
        at += 1;
    }
    &words[at.min(words.len())..]
}

/// The script that a command gives to a shell of its own.
pub(crate) fn script(words: &[String]) -> Option<&str> {
    let (program, arguments) = past_prefixes(words).split_first()?;
    let is_option = match program_name(program) {
        "bash" | "sh" | "zsh" => {
            |word: &str| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c')
        }
        "powershell" | "pwsh" => |word: &str| word.eq_ignore_ascii_case("-command"),
        _ => return None,
    };
    let at = arguments.iter().position(|word| is_option(word))?;
    arguments.get(at + 1).map(String::as_str)
}

/// A command only looks, moves files about, or starts nothing. What a commit starts is
/// found in its output.
pub(crate) fn only_looks(words: &[String]) -> bool {
    let Some(program) = words.first() else { return true };
    let name = program_name(program);
    let is_variable = program.starts_with('$') && words.get(1).is_none_or(|word| word == "=");
    is_variable
        || LOOKS.contains(&name)
        || LOOKS_ELSEWHERE.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// True for a command that shows what another one has written.
pub(crate) fn shows_log(words: &[String]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    let program = program_name(program);
    let has_ending = |word: &String| LOGS.iter().any(|ending| word.ends_with(ending));
    program == "journalctl"
        || (SHOW_OUTPUTS.contains(&program) && arguments.iter().any(|word| word == "logs"))
        || (SHOW_FILES.contains(&program) && arguments.iter().any(has_ending))
}

/// True for options with which a test runner runs nothing.
pub(crate) fn runs_nothing(words: &[String]) -> bool {
    words.iter().any(|word| NO_RUN.contains(&word.as_str()))
}

/// True for a command before a test run that rarely fails.
pub(crate) fn rarely_fails(words: &[String]) -> bool {
    let harmless = ["cd", "export", "source", ".", "set", "echo", "pwd", "sleep", "clear", "date"];
    let Some(program) = words.first().map(|word| program_name(word)) else { return true };
    harmless.contains(&program) || program == "Set-Location"
}

/// True for a command behind a test run that shows what came out, and does not fail.
pub(crate) fn shows_output(words: &[String]) -> bool {
    let shows = ["tail", "head", "cat", "Select-Object", "grep", "sed", "echo", "tee"];
    words.first().is_some_and(|word| shows.contains(&program_name(word)))
}

/// A command takes the changes away.
pub(crate) fn stashes(words: &[String]) -> bool {
    let words: Vec<_> = words.iter().map(|word| program_name(word)).collect();
    matches!(
        words.as_slice(),
        ["git", "stash"] | ["git", "stash", "push" | "save" | "-u" | "-q", ..]
    )
}
