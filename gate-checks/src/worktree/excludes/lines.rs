//! A line of a `.gitignore`, spelled so that it never hides more than git does.
//!
//! Braces mean themselves to git, and no class of characters matches a slash.
//! What else is read otherwise here (an escape, a slash, a range over it or a
//! named class inside of a class, a slash that is escaped, a tab at the end) is
//! not translated: such a line hides nothing, and where it shows something
//! again, it shows all.

use std::borrow::Cow;
use std::iter::Peekable;
use std::str::Chars;

/// Shows everything again that was hidden before.
const ALL: &str = "!*";

/// The line as it has to be spelled.
pub(super) fn as_git_reads(line: &str) -> Cow<'_, str> {
    if line.starts_with('#') {
        return Cow::Borrowed("");
    }
    let (mark, pattern) = line.strip_prefix('!').map_or(("", line), |pattern| ("!", pattern));
    match respelled(pattern) {
        Some(respelled) => Cow::Owned([mark, &respelled].concat()),
        None => Cow::Borrowed(if mark.is_empty() { "" } else { ALL }),
    }
}

/// The pattern without its mark; `None` if it is not translated.
fn respelled(pattern: &str) -> Option<String> {
    // Git takes spaces away from the end, and nothing else.
    if pattern.trim_end_matches(' ').ends_with(char::is_whitespace) {
        return None;
    }
    let mut text = String::with_capacity(pattern.len());
    let mut letters = pattern.chars().peekable();
    let mut excludes_slash = false;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.peek() == Some(&'/') => return None,
            '\\' => {
                text.push('\\');
                text.extend(letters.next());
            }
            '{' | '}' => text.extend(['\\', letter]),
            '[' => {
                let class = Class::read(&mut letters)?;
                excludes_slash |= class.is_negated;
                class.spell(&mut text);
            }
            _ => text.push(letter),
        }
    }
    // The slash in a negated class would tie the pattern to its folder, as any slash does.
    let is_tied = pattern.trim_end_matches(' ').strip_suffix('/').unwrap_or(pattern).contains('/');
    Some(if excludes_slash && !is_tied { ["**/", &text].concat() } else { text })
}

/// `[a-z]`: characters and ranges of them, all ASCII and none a slash.
struct Class {
    is_negated: bool,
    ranges: Vec<(char, char)>,
}

impl Class {
    /// Reads what follows the opening bracket.
    fn read(letters: &mut Peekable<Chars<'_>>) -> Option<Self> {
        let is_negated = letters.next_if(|letter| matches!(letter, '!' | '^')).is_some();
        let mut class = Self { is_negated, ranges: Vec::new() };
        loop {
            match letters.next()? {
                ']' if !class.ranges.is_empty() => return Some(class),
                '-' if !class.ranges.is_empty() && letters.peek() != Some(&']') => {
                    let (start, end) = class.ranges.pop()?;
                    let last = letters.next().filter(|letter| is_plain(*letter) && start == end)?;
                    let can_begin_range = is_plain(start) && start != '-';
                    if !can_begin_range || start >= last || (start..=last).contains(&'/') {
                        return None;
                    }
                    class.ranges.push((start, last));
                }
                letter if is_plain(letter) || letter == ']' => class.ranges.push((letter, letter)),
                _ => return None,
            }
        }
    }

    /// Spells the class so that every reader takes it for the same.
    fn spell(&self, text: &mut String) {
        text.push_str(if self.is_negated { "[!" } else { "[" });
        // A bracket at the beginning and a hyphen at the end mean themselves.
        text.extend(self.single(']'));
        text.extend(self.is_negated.then_some('/'));
        for (start, end) in
            self.ranges.iter().filter(|range| !matches!(range, (']', _) | ('-', '-')))
        {
            text.push(*start);
            if end > start {
                text.extend(['-', *end]);
            }
        }
        text.extend(self.single('-'));
        text.push(']');
    }

    /// The letter, if it is a range of its own.
    fn single(&self, letter: char) -> Option<char> {
        self.ranges.contains(&(letter, letter)).then_some(letter)
    }
}

/// Every reader of patterns takes the character for itself inside a class.
fn is_plain(letter: char) -> bool {
    letter.is_ascii() && !matches!(letter, '\\' | '/' | '[' | ']' | '!' | '^')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, spelled: &str) {
        assert_eq!(as_git_reads(line), spelled, "{line:?}");
    }

    #[test]
    fn what_every_reader_takes_for_the_same_stays() {
        for line in ["a", "*.log", "/a/**/b", "!a", "a\\ ", "[a-z]*", "[]a]", "[a-]", "a  "] {
            check(line, line);
        }
    }

    #[test]
    fn braces_and_negated_classes_are_respelled() {
        check("{a,b}", "\\{a,b\\}");
        check("d[!x]a", "**/d[!/x]a");
        check("!d[^x]a/", "!**/d[!/x]a/");
        check("/d[!]x-]a", "/d[!]/x-]a");
    }

    #[test]
    fn what_git_reads_otherwise_hides_nothing() {
        for line in
            ["a\t", "a\t ", "a\u{a0}", "[a\\-z]", "d[/]a", "d[.-0]a", "[[:alpha:]]", "[a", "\\/"]
        {
            check(line, "");
            check(&format!("!{line}"), ALL);
        }
        for line in ["[a-b-d]", "[a-a-d]", "[z-a]", "[]-a]", "[--.]", "[é]", "[!-/]"] {
            check(line, "");
        }
    }
}
