//! The simple commands of a shell's command line: roughly, which is enough to know what an
//! agent ran. A transcript shows the line and seldom the shell.

use std::str::Chars;

/// A simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    pub words: Vec<String>,
    /// The files that its output goes to.
    pub writes: Vec<String>,
    /// The operator that follows.
    pub then: Then,
}

/// The operator between two commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Then {
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`
    Pipe,
    /// `;`, `&` or a new line.
    Next,
    #[default]
    End,
}

/// Splits a command line. The text of a here-document is left out.
pub(crate) fn parts(line: &str) -> Vec<Part> {
    let mut splitter = Splitter::default();
    let mut lines = line.split('\n').peekable();
    while let Some(line) = lines.next() {
        splitter.line(line);
        for end in std::mem::take(&mut splitter.here) {
            for text in lines.by_ref() {
                if text.trim() == end {
                    break;
                }
            }
        }
        if lines.peek().is_some() && splitter.quote.is_none() && !splitter.joined {
            splitter.end_part(Then::Next);
        }
    }
    splitter.end_part(Then::End);
    if let Some(last) = splitter.parts.last_mut() {
        last.then = Then::End;
    }
    splitter.parts
}

#[derive(Default)]
struct Splitter {
    parts: Vec<Part>,
    part: Part,
    word: Option<String>,
    quote: Option<char>,
    /// The next word is the file of a redirection; true if it is written.
    file: Option<bool>,
    /// The ends of here-documents that follow this line.
    here: Vec<String>,
    /// The line goes on in the next one.
    joined: bool,
}

impl Splitter {
    fn line(&mut self, line: &str) {
        self.joined = false;
        let mut letters = line.chars();
        while let Some(letter) = letters.next() {
            match (self.quote, letter) {
                (Some(open), _) if letter == open => self.quote = None,
                (Some('"') | None, '\\') => match letters.next() {
                    // A path of Windows; no shell needs the mark before a letter.
                    Some(next) if next.is_ascii_alphanumeric() => {
                        self.push(letter);
                        self.push(next);
                    }
                    Some(next) => self.push(next),
                    None => self.joined = true,
                },
                (Some('"'), '<') if goes_on(&letters, '<') && self.is_in_substitution() => {
                    // A text for a command within the quotes, as in `"$(cat <<EOF`.
                    letters.next();
                    let end = letters.as_str().trim_start_matches(['-', ' ']);
                    let end = end.trim_start_matches(['\'', '"']);
                    let end: String = end
                        .chars()
                        .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
                        .collect();
                    if !end.is_empty() {
                        self.here.push(end);
                    }
                    return;
                }
                (Some(_), _) => self.push(letter),
                (None, '"' | '\'') => {
                    self.quote = Some(letter);
                    self.word.get_or_insert_default();
                }
                (None, '#') if self.word.is_none() => return,
                (None, '<') if take(&mut letters, '<') => {
                    let is_here_string = goes_on(&letters, '<');
                    let rest = letters.as_str().trim_start_matches(['-', '<', ' ']);
                    let end = rest.split([' ', '>', '|', ';', '&']).next().unwrap_or_default();
                    if !is_here_string {
                        self.here.push(end.trim_matches(['"', '\'']).to_owned());
                    }
                    self.end_word();
                    // What stands behind the mark still belongs to the command.
                    letters = rest[end.len()..].chars();
                }
                (None, '>') => {
                    // The number of a stream is no word.
                    if self.word.as_ref().is_some_and(|word| matches!(word.as_str(), "1" | "2")) {
                        self.word = None;
                    }
                    self.end_word();
                    take(&mut letters, '>');
                    self.file = Some(!take(&mut letters, '&'));
                }
                (None, '<') => {
                    self.end_word();
                    self.file = Some(false);
                }
                (None, '&') if goes_on(&letters, '>') => {}
                (None, '&') if take(&mut letters, '&') => self.end_part(Then::And),
                (None, '|') if take(&mut letters, '|') => self.end_part(Then::Or),
                (None, '|') => {
                    take(&mut letters, '&');
                    self.end_part(Then::Pipe);
                }
                (None, ';' | '&') => self.end_part(Then::Next),
                (None, '(' | ')' | '{' | '}') if self.word.is_none() => {}
                (None, ')') => self.end_word(),
                (None, _) if letter.is_whitespace() => self.end_word(),
                (None, _) => self.push(letter),
            }
        }
        if self.quote.is_some() {
            self.push('\n');
        }
    }

    /// The word ends with a command that stands in it, as in `"$(cat `.
    fn is_in_substitution(&self) -> bool {
        self.word.as_ref().is_some_and(|word| word.trim_end().ends_with("$(cat"))
    }

    fn push(&mut self, letter: char) {
        self.word.get_or_insert_default().push(letter);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match self.file.take() {
            Some(true) => self.part.writes.push(word),
            Some(false) => {}
            None => self.part.words.push(word),
        }
    }

    fn end_part(&mut self, then: Then) {
        self.end_word();
        self.file = None;
        let part = std::mem::take(&mut self.part);
        if part != Part::default() {
            self.parts.push(Part { then, ..part });
        } else if let Some(last) = self.parts.last_mut()
            && last.then == Then::End
        {
            last.then = then;
        }
    }
}

/// This letter comes next.
fn goes_on(letters: &Chars<'_>, letter: char) -> bool {
    letters.as_str().starts_with(letter)
}

/// Takes the next letter if this is the one; true if so.
fn take(letters: &mut Chars<'_>, letter: char) -> bool {
    let comes_next = goes_on(letters, letter);
    if comes_next {
        letters.next();
    }
    comes_next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &[&str]) {
        let shown = |part: &Part| {
            let writes: String = part.writes.iter().map(|file| format!(" > {file}")).collect();
            format!("{}{writes} {:?}", part.words.join("|"), part.then)
        };
        assert_eq!(parts(line).iter().map(shown).collect::<Vec<_>>(), expected, "{line}");
    }

    #[test]
    fn operators_part_commands() {
        check("cd a && make test; echo $?", &["cd|a And", "make|test Next", "echo|$? End"]);
        check("make test 2>&1 | tail -5", &["make|test Pipe", "tail|-5 End"]);
        check("a || true\nb &", &["a Or", "true Next", "b End"]);
        check("(cd a; b)", &["cd|a Next", "b End"]);
        check("a \\\n  b", &["a|b End"]);
    }

    #[test]
    fn quotes_and_comments_hold_no_operators() {
        check("git commit -m 'a; b && \"c\"'", &["git|commit|-m|a; b && \"c\" End"]);
        check("echo \"a | b\" # c; d", &["echo|a | b End"]);
        check("python -c \"a\nb\" && c", &["python|-c|a\nb And", "c End"]);
    }

    #[test]
    fn output_goes_to_files() {
        check("sort a > b 2>/dev/null", &["sort|a > b > /dev/null End"]);
        check("cat > a.py <<'EOF'\nimport b; c()\nEOF\nmake", &["cat > a.py Next", "make End"]);
        check("cat <<EOF >> a.py\nx\nEOF", &["cat > a.py End"]);
        check("a &> log", &["a > log End"]);
    }

    #[test]
    fn texts_for_a_command_are_left_out() {
        check(
            "cat <<-'B' | tee c && d\nx\nB\nmake",
            &["cat Pipe", "tee|c And", "d Next", "make End"],
        );
        check("cat <<A - <<B\nx\nA\ny\nB\nmake", &["cat|- Next", "make End"]);
        check("grep a <<< 'b' > c", &["grep|a > c End"]);
        check(
            "git commit -m \"$(cat <<'E'\na; b\nE\n)\" && c",
            &["git|commit|-m|$(cat ) And", "c End"],
        );
    }

    #[test]
    fn a_line_with_many_texts_is_looked_at_once() {
        for mark in [" <<a", "<", "<<", " <<<a"] {
            let found = parts(&format!("cat{}\nmake", mark.repeat(100_000)));
            assert_eq!(found[0].words, ["cat"], "{mark}");
        }
    }
}
