//! A page, cut into the parts that can be tried.
//!
//! A fence with a file name behind its language (`python file=cart.py`) writes that file. A comment
//! `<!-- setup` prepares what no reader has to see, and `<!-- needs: pytest -->` names what may be
//! absent.

/// A part of a page.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A script that runs unseen.
    Setup(String),
    /// The needs of the page's commands.
    Needs(Vec<String>),
    /// A code block.
    Fence(Fence),
}

/// A code block.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fence {
    pub(super) language: String,
    pub(super) file: Option<String>,
    /// The number of its first line within the page.
    pub(super) line: usize,
    pub(super) text: String,
}

/// A command of a console, and what it prints.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) command: String,
    pub(super) expected: String,
}

/// The parts of a page, in order.
pub(super) fn parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let opening = line.trim_start();
        if opening == "<!-- setup" {
            let script = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "-->");
            parts.push(Part::Setup(joined(script)));
        } else if let Some(words) = opening.strip_prefix("<!-- needs: ") {
            let words = words.trim_end_matches("-->").split_whitespace();
            parts.push(Part::Needs(words.map(str::to_owned).collect()));
        } else if let Some(info) = opening.strip_prefix("```") {
            let indent = line.len() - opening.len();
            let body = lines.by_ref().map(|(_, line)| line.get(indent..).unwrap_or_default());
            let text = joined(body.take_while(|line| !line.starts_with("```")));
            let (language, rest) = info.split_once(' ').unwrap_or((info, ""));
            let file = rest.strip_prefix("file=").map(str::to_owned);
            parts.push(Part::Fence(Fence {
                language: language.to_owned(),
                file,
                line: at + 2,
                text,
            }));
        }
    }
    parts
}

fn joined<'t>(lines: impl Iterator<Item = &'t str>) -> String {
    lines.map(|line| format!("{line}\n")).collect()
}

impl Fence {
    /// The commands of a console: lines behind `$ `, and behind `> ` if a command is long.
    pub(super) fn steps(&self) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        for line in self.text.lines() {
            let last = steps.last_mut();
            if let Some(command) = line.strip_prefix("$ ") {
                let command = format!("{command}\n");
                steps.push(Step { command, expected: String::new() });
            } else if let (Some(more), Some(step)) = (line.strip_prefix("> "), last) {
                step.command.push_str(&format!("{more}\n"));
            } else {
                let step = steps.last_mut().unwrap_or_else(|| panic!("{line} has no command"));
                step.expected.push_str(&format!("{line}\n"));
            }
        }
        steps
    }
}

#[test]
fn a_page_has_scripts_files_and_consoles() {
    let page = "\
Before.
<!-- needs: make jq -->
<!-- setup
true
-->
```text file=a/b.txt
one
```
* in a list:

  ```console
  $ cat a
  > b
  one
  $ true
  ```
";
    let fence = |language: &str, file: Option<&str>, line, text: &str| {
        let file = file.map(str::to_owned);
        Part::Fence(Fence { language: language.into(), file, line, text: text.into() })
    };
    let console = "$ cat a\n> b\none\n$ true\n";
    let expected = [
        Part::Needs(vec!["make".into(), "jq".into()]),
        Part::Setup("true\n".into()),
        fence("text", Some("a/b.txt"), 7, "one\n"),
        fence("console", None, 12, console),
    ];
    let parts = parts(page);
    assert_eq!(parts, expected);
    let Some(Part::Fence(fence)) = parts.last() else { panic!("no fence") };
    let step =
        |command: &str, expected: &str| Step { command: command.into(), expected: expected.into() };
    assert_eq!(fence.steps(), [step("cat a\nb\n", "one\n"), step("true\n", "")]);
}
