//! The files that a command line writes.

use std::collections::HashMap;

use gate_report::runners::{is_python, program_name};

use super::names::past_prefixes;
use crate::audit::files::{A_FILE, is_plan, is_prose, is_scratch, patched};
use crate::audit::shell::Part;

/// Words by which a script in a command line writes a file.
const SCRIPT_WRITES: [&str; 9] = [
    ".write_text(",
    ".write_bytes(",
    "writeFileSync(",
    "writeFile(",
    "File.write(",
    "file_put_contents(",
    "json.dump(",
    ".save(",
    "fs.write",
];

/// Calls in a script whose first argument is a file.
const OPENS: [&str; 6] =
    ["Path(", "open(", "writeFileSync(", "writeFile(", "File.write(", "file_put_contents("];

/// Commands of PowerShell that write a file.
const POWERSHELL: [&str; 3] = ["Set-Content", "Add-Content", "Out-File"];

/// The files that these commands of a line write.
pub(crate) fn writes(line: &str, parts: &[Part]) -> Vec<String> {
    let (mut files, mut is_in_scratch, mut variables) = (Vec::new(), false, HashMap::new());
    for part in parts {
        let words = past_prefixes(&part.words);
        variables.extend(assignment(words));
        if let [cd, folder, ..] = words
            && matches!(cd.as_str(), "cd" | "pushd" | "Set-Location")
        {
            is_in_scratch = is_scratch(folder);
        }
        let mut of_part = part.writes.clone();
        of_part.retain(|file| !file.starts_with('$'));
        of_part.extend(by_program(words).into_iter().map(|file| match variables.get(&*file) {
            Some(value) => (*value).to_owned(),
            None => file,
        }));
        of_part.retain(|file| is_work(file) && !(is_in_scratch && is_relative(file)));
        files.append(&mut of_part);
    }
    if line.contains("*** Begin Patch") {
        files.extend(patched(line));
    }
    if parts.iter().any(|part| runs_code(past_prefixes(&part.words))) {
        files.extend(by_script(line));
    }
    files
}

/// False for what is no work: a device, a scratch file, a log.
fn is_work(file: &str) -> bool {
    let is_device = file.eq_ignore_ascii_case("nul") || file.starts_with("/dev/");
    !file.is_empty() && !is_device && !file.starts_with('&') && !is_scratch(file)
}

fn is_relative(file: &str) -> bool {
    !file.starts_with(['/', '~', '$']) && !file.contains(":\\")
}

/// The files that a program writes by its arguments.
fn by_program(words: &[String]) -> Vec<String> {
    let Some((program, arguments)) = words.split_first() else { return Vec::new() };
    let operands = || arguments.iter().filter(|word| !word.starts_with('-') && !word.is_empty());
    let last = || -> Vec<String> { operands().next_back().cloned().into_iter().collect() };
    match program_name(program) {
        "sed" | "gsed" if arguments.iter().any(|word| word.starts_with("-i") || word == "-Ei") => {
            last()
        }
        "perl" if arguments.iter().any(|word| edits_in_place(word)) => last(),
        "tee" => operands().cloned().collect(),
        "patch" => vec![A_FILE.to_owned()],
        // A copy to an absolute path installs the product: the work tree stays as it is.
        "mv" | "cp" => match operands().collect::<Vec<_>>().as_slice() {
            [.., from, to] if is_relative(to) => vec![copied(from, to)],
            _ => Vec::new(),
        },
        "git" if arguments.first().is_some_and(|word| word == "apply") => vec![A_FILE.to_owned()],
        name if POWERSHELL.iter().any(|command| command.eq_ignore_ascii_case(name)) => {
            let path = arguments.iter().position(|word| {
                word.eq_ignore_ascii_case("-path")
                    || word.eq_ignore_ascii_case("-filepath")
                    || word.eq_ignore_ascii_case("-literalpath")
            });
            let path =
                path.and_then(|at| arguments.get(at + 1)).or_else(|| first_operand(arguments));
            vec![path.cloned().unwrap_or_else(|| A_FILE.to_owned())]
        }
        _ => Vec::new(),
    }
}

/// The file that a copy makes.
fn copied(from: &str, to: &str) -> String {
    let is_folder = to == "." || to == ".." || to.ends_with('/');
    if is_folder {
        format!("{}/{}", to.trim_end_matches('/'), from.rsplit('/').next().unwrap_or(from))
    } else {
        to.to_owned()
    }
}

/// The first word of a command of PowerShell that is no option, and no option's value.
fn first_operand(words: &[String]) -> Option<&String> {
    let with_value = ["-encoding", "-value", "-erroraction", "-width"];
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if with_value.iter().any(|option| word.eq_ignore_ascii_case(option)) {
            words.next();
        } else if !word.starts_with('-') {
            return Some(word);
        }
    }
    None
}

/// A variable of PowerShell and its new text (`$p = 'a.md'`).
fn assignment(words: &[String]) -> Option<(&str, &str)> {
    let (name, value) = match words {
        [word] => word.split_once('=')?,
        [name, equals, value] if equals == "=" => (name.as_str(), value.as_str()),
        _ => return None,
    };
    name.starts_with('$').then_some((name, value))
}

/// Options of Perl such as `-pi`: the letters before a suffix for copies (`-i.bak`) or the code (`-pie`).
/// A longer word is no bundle of options.
fn edits_in_place(word: &str) -> bool {
    let letters = word.strip_prefix('-').and_then(|option| option.split(['.', 'e']).next());
    letters.is_some_and(|letters| {
        letters.len() <= 4
            && letters.contains('i')
            && letters.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    })
}

/// An interpreter with its code on the command line or on its standard input.
pub(crate) fn runs_code(words: &[String]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    let program = program_name(program);
    let is_code = |word: &String| matches!(word.as_str(), "-c" | "-e" | "--eval" | "-");
    (is_python(program) || matches!(program, "node" | "ruby" | "bun" | "deno" | "php" | "tsx"))
        && (arguments.is_empty() || arguments.iter().any(is_code))
}

/// The first file that code in a command line writes and that is neither prose nor scratch.
fn by_script(code: &str) -> Option<String> {
    let opens_to_write = code.match_indices("open(").any(|(at, _)| {
        let call = code[at..].lines().next().unwrap_or_default();
        ["'w'", "\"w\"", "'a'", "\"a\"", "'wb'", "\"wb\"", "'w+'", "\"w+\""]
            .iter()
            .any(|mode| call.contains(mode))
    });
    if !opens_to_write && !SCRIPT_WRITES.iter().any(|words| code.contains(words)) {
        return None;
    }
    // Between quotes stand code and strings in turn: a string is opened if the code before it ends with
    // such a call.
    let texts: Vec<_> = code.split(['"', '\'', '`']).collect();
    let opens_next = |code: &str| OPENS.iter().any(|call| code.ends_with(call));
    let arguments = texts.windows(2).filter(|pair| opens_next(pair[0])).map(|pair| pair[1]);
    let mut names: Vec<_> = arguments.filter(|text| is_file_name(text)).collect();
    if names.is_empty() {
        names = texts.into_iter().filter(|text| is_file_name(text)).collect();
    }
    let is_work = |name: &&&str| !is_prose(name) && !is_plan(name) && !is_scratch(name);
    names.iter().find(is_work).map(|name| (*name).to_owned())
}

fn is_file_name(text: &str) -> bool {
    let ending = text.rsplit_once('.').map(|(_, ending)| ending);
    // Other texts with spaces are sentences.
    let is_space = |c: char| c.is_whitespace() && !(c == ' ' && text.starts_with(['/', '~']));
    text.len() < 200
        && !text.contains(|c: char| is_space(c) || "(){}=,;<>".contains(c))
        && ending.is_some_and(|ending| {
            (1..=8).contains(&ending.len())
                && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
                && ending.starts_with(|c: char| c.is_ascii_alphabetic())
        })
}
