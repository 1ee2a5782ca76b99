//! Options among the words of a command. `start` is the index of the runner's first option: words
//! before it belong to the programs that start the runner.

/// Puts words before an index.
pub(super) fn insert(
    argv: &mut Vec<String>,
    index: usize,
    words: impl IntoIterator<Item = String>,
) {
    let index = index.min(argv.len());
    argv.splice(index..index, words);
}

/// Puts words last, but before a `--` that ends the options.
pub(super) fn append(
    argv: &mut Vec<String>,
    start: usize,
    words: impl IntoIterator<Item = String>,
) {
    let index = options_end(argv, start);
    insert(argv, index, words);
}

/// Index behind the last option.
pub(super) fn options_end(argv: &[String], start: usize) -> usize {
    let start = start.min(argv.len());
    argv[start..].iter().position(|word| word == "--").map_or(argv.len(), |offset| start + offset)
}

/// Takes an option out wherever it stands, as `--name value` or `--name=value`.
pub(super) fn remove_option(argv: &mut Vec<String>, start: usize, name: &str) {
    while let Some(index) = position(argv, start, name) {
        let has_value = argv[index] == name && index + 1 < options_end(argv, start);
        argv.drain(index..=index + usize::from(has_value));
    }
}

/// Takes a switch out, which has no value.
pub(super) fn remove_switch(argv: &mut Vec<String>, start: usize, name: &str) {
    while let Some(index) = position(argv, start, name) {
        argv.remove(index);
    }
}

/// The number of times that an option is given.
pub(super) fn count(argv: &[String], start: usize, name: &str) -> usize {
    let start = start.min(argv.len());
    argv[start..options_end(argv, start)].iter().filter(|word| is_option(word, name)).count()
}

fn position(argv: &[String], start: usize, name: &str) -> Option<usize> {
    let start = start.min(argv.len());
    let offset =
        argv[start..options_end(argv, start)].iter().position(|word| is_option(word, name));
    offset.map(|offset| start + offset)
}

fn is_option(word: &str, name: &str) -> bool {
    word.strip_prefix(name).is_some_and(|value| value.is_empty() || value.starts_with('='))
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
            remove_option(&mut argv, 1, "--out");
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
