//! Go.

use super::folder::Folder;
use super::proposal::{Aim, Findings, Proposal};

/// Proposes for a folder with a go.mod or a go.work.
pub(super) fn look(folder: &Folder<'_>) -> Findings {
    let mut findings = Findings::default();
    let Some(Packages { evidence, patterns }) = packages(folder, &mut findings) else {
        return findings;
    };
    let commands: [(_, &[&str]); 3] = [
        (Aim::Tests, &["go", "test"]),
        // A build of a single program would leave that program in the work tree.
        (Aim::Build, &["go", "build", "-o", "/dev/null"]),
        (Aim::Lint, &["go", "vet"]),
    ];
    for (aim, words) in commands {
        let patterns = patterns.iter().map(String::as_str);
        let words: Vec<_> = words.iter().copied().chain(patterns).collect();
        findings.propose(Proposal::new(aim, "go", &words, evidence));
    }
    findings
}

/// The packages that a command has to name.
struct Packages {
    /// The file that they come from.
    evidence: &'static str,
    patterns: Vec<String>,
}

/// In a workspace `./...` means only the packages of the module in the folder itself, so that each
/// module has to be named.
fn packages(folder: &Folder<'_>, findings: &mut Findings) -> Option<Packages> {
    if let Some(text) = folder.text("go.work", findings) {
        let modules = used_modules(&text);
        let patterns = modules.iter().map(|module| format!("{}/...", module.trim_end_matches('/')));
        let packages = Packages { evidence: "go.work", patterns: patterns.collect() };
        return (!packages.patterns.is_empty()).then_some(packages);
    }
    let patterns = vec!["./...".to_owned()];
    folder.has_file("go.mod").then_some(Packages { evidence: "go.mod", patterns })
}

/// The folders that a go.work uses, in one directive each or in a block.
fn used_modules(text: &str) -> Vec<String> {
    let mut is_in_block = false;
    let mut modules = Vec::new();
    for line in text.lines() {
        let mut words = line.split("//").next().unwrap_or_default().split_whitespace();
        match (words.next(), words.next(), is_in_block) {
            (Some("use"), Some("("), false) => is_in_block = true,
            (Some(")"), None, true) => is_in_block = false,
            (Some("use"), Some(module), false) => modules.push(module.to_owned()),
            (Some(module), None, true) => modules.push(module.trim_matches('"').to_owned()),
            _ => {}
        }
    }
    modules
}

#[cfg(test)]
mod tests {
    use super::used_modules;

    #[test]
    fn a_workspace_uses_modules_in_lines_and_blocks() {
        let text = "go 1.22\n\nuse ./tools // helpers\nuse (\n\t./api\n\t\"./my web\"\n)\nreplace x => ./y\n";
        assert_eq!(
            used_modules(text),
            ["./tools", "./api"],
            "a folder with a blank is not understood"
        );
        assert_eq!(used_modules("go 1.22\nuse .\n"), ["."]);
        assert_eq!(used_modules("go 1.22\n"), [""; 0]);
    }
}
