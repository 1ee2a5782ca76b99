//! Go.

use super::folder::Folder;
use super::proposal::{Aim, Found, Proposal};

/// Proposes for a folder with a go.mod or a go.work.
pub(super) fn look(folder: &Folder<'_>) -> Found {
    let mut found = Found::default();
    let Some((why, packages)) = packages(folder, &mut found) else { return found };
    let commands: [(_, &[&str]); 3] = [
        (Aim::Tests, &["go", "test"]),
        // A build of a single program would leave that program in the work tree.
        (Aim::Build, &["go", "build", "-o", "/dev/null"]),
        (Aim::Lint, &["go", "vet"]),
    ];
    for (aim, words) in commands {
        let packages = packages.iter().map(String::as_str);
        let words: Vec<_> = words.iter().copied().chain(packages).collect();
        found.proposes(Proposal::new(aim, "go", &words, why));
    }
    found
}

/// The packages to name, and where they come from: in a workspace `./...` means only the packages
/// of the module in the folder itself.
fn packages(folder: &Folder<'_>, found: &mut Found) -> Option<(&'static str, Vec<String>)> {
    if let Some(text) = folder.text("go.work", found) {
        let modules = used(&text);
        let all = modules.iter().map(|module| format!("{}/...", module.trim_end_matches('/')));
        return (!modules.is_empty()).then(|| ("go.work", all.collect()));
    }
    folder.has("go.mod").then(|| ("go.mod", vec!["./...".to_owned()]))
}

/// The folders that a go.work uses, in one directive each or in a block.
fn used(text: &str) -> Vec<String> {
    let mut inside = false;
    let mut modules = Vec::new();
    for line in text.lines() {
        let mut words = line.split("//").next().unwrap_or_default().split_whitespace();
        match (words.next(), words.next(), inside) {
            (Some("use"), Some("("), false) => inside = true,
            (Some(")"), None, true) => inside = false,
            (Some("use"), Some(module), false) => modules.push(module.to_owned()),
            (Some(module), None, true) => modules.push(module.trim_matches('"').to_owned()),
            _ => {}
        }
    }
    modules
}

#[cfg(test)]
mod tests {
    use super::used;

    #[test]
    fn a_workspace_uses_modules_in_lines_and_blocks() {
        let text = "go 1.22\n\nuse ./tools // helpers\nuse (\n\t./api\n\t\"./my web\"\n)\nreplace x => ./y\n";
        assert_eq!(used(text), ["./tools", "./api"], "a folder with a blank is not understood");
        assert_eq!(used("go 1.22\nuse .\n"), ["."]);
        assert_eq!(used("go 1.22\n"), [""; 0]);
    }
}
