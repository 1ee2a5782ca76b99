//! .NET.

use super::folder::Folder;
use super::proposal::{Aim, Found, Proposal};

const SOLUTIONS: [&str; 2] = [".sln", ".slnx"];
const PROJECTS: [&str; 3] = [".csproj", ".fsproj", ".vbproj"];

/// Proposes for a folder with a solution or a project.
///
/// `dotnet test` of something without tests ends with code 0, so that it is proposed only if tests
/// are named.
pub(super) fn look(folder: &Folder<'_>) -> Found {
    let mut found = Found::default();
    let Some(file) = target(folder, &mut found) else { return found };
    let text = folder.text(&file, &mut found).unwrap_or_default();
    let file = file.as_str();
    if text.to_ascii_lowercase().contains("test") {
        let words = ["dotnet", "test", file, "--nologo"];
        found.proposes(Proposal::new(Aim::Tests, "dotnet", &words, file));
    } else {
        found.notes(format!("{file} names no tests"));
    }
    let words = ["dotnet", "build", file, "--nologo"];
    found.proposes(Proposal::new(Aim::Build, "dotnet", &words, file));
    found
}

/// The solution, else the project; if there are several, `dotnet` itself would not choose.
fn target(folder: &Folder<'_>, found: &mut Found) -> Option<String> {
    let names = folder.names(".");
    let mut all = with_ending(folder, &names, &SOLUTIONS);
    if all.is_empty() {
        all = with_ending(folder, &names, &PROJECTS);
    }
    if all.len() > 1 {
        found.notes(format!("of {} the first is taken", all.join(", ")));
    }
    all.into_iter().next()
}

fn with_ending(folder: &Folder<'_>, names: &[String], endings: &[&str]) -> Vec<String> {
    let mut all = names.to_vec();
    all.retain(|name| endings.iter().any(|end| name.ends_with(end)) && folder.has(name));
    all
}
