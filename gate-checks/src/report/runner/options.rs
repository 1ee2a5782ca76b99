//! Positions of gate's options among the caller's.

/// Puts words before a place.
pub(super) fn insert(argv: &mut Vec<String>, at: usize, words: impl IntoIterator<Item = String>) {
    let at = at.min(argv.len());
    argv.splice(at..at, words);
}

/// Puts words last, but before a `--` that ends the options.
pub(super) fn append(argv: &mut Vec<String>, from: usize, words: impl IntoIterator<Item = String>) {
    let end = end(argv, from);
    insert(argv, end, words);
}

/// Index behind the last option.
pub(super) fn end(argv: &[String], from: usize) -> usize {
    let from = from.min(argv.len());
    argv[from..].iter().position(|word| word == "--").map_or(argv.len(), |at| from + at)
}

/// Takes an option out wherever it stands, as `--name value` or `--name=value`.
pub(super) fn remove(argv: &mut Vec<String>, from: usize, name: &str) {
    while let Some(at) = position(argv, from, name) {
        let has_value = argv[at] == name && at + 1 < end(argv, from);
        argv.drain(at..=at + usize::from(has_value));
    }
}

/// Takes a switch out, which has no value.
pub(super) fn remove_switch(argv: &mut Vec<String>, from: usize, name: &str) {
    while let Some(at) = position(argv, from, name) {
        argv.remove(at);
    }
}

pub(super) fn count(argv: &[String], from: usize, name: &str) -> usize {
    let from = from.min(argv.len());
    argv[from..end(argv, from)].iter().filter(|word| is(word, name)).count()
}

fn position(argv: &[String], from: usize, name: &str) -> Option<usize> {
    let from = from.min(argv.len());
    let found = argv[from..end(argv, from)].iter().position(|word| is(word, name));
    found.map(|at| from + at)
}

fn is(word: &str, name: &str) -> bool {
    word.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn options_are_taken_out_with_their_values() {
        let check = |line, expected: &str| {
            let mut argv = words(line);
            remove(&mut argv, 1, "--out");
            assert_eq!(argv.join(" "), expected);
        };
        check("jest --out a b", "jest b");
        check("jest --out=a b --out c", "jest b");
        check("jest --outer a", "jest --outer a");
        check("jest -- --out a", "jest -- --out a");
        check("jest --out", "jest");
    }

    #[test]
    fn ours_stand_before_the_end_of_options() {
        let mut argv = words("pytest a -- b");
        append(&mut argv, 1, ["--x".to_owned()]);
        assert_eq!(argv.join(" "), "pytest a --x -- b");
        assert_eq!(count(&argv, 0, "--x"), 1);
    }
}
