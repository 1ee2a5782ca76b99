//! .NET.

use super::folder::Folder;
use super::proposal::{Aim, Found, Proposal};

const SOLUTIONS: [&str; 2] = [".sln", ".slnx"];
const PROJECTS: [&str; 3] = [".csproj", ".fsproj", ".vbproj"];

/// Proposes for a folder with a solution or a project.
///
/// `dotnet test` of something without tests ends with code 0, so that it is
/// proposed only where tests are named.
pub(super) fn look(folder: &Folder<'_>) -> Found {
    let mut found = Found::default();
    let Some(file) = target(folder, &mut found) else { return found };
    let text = folder.text(&file, &mut found).unwrap_or_default();
    let dotnet = |aim, command| {
        Proposal::new(aim, "dotnet", &["dotnet", command, file.as_str(), "--nologo"], file.as_str())
    };
    if text.to_ascii_lowercase().contains("test") {
        found.proposes(dotnet(Aim::Tests, "test"));
    } else {
        found.notes(format!("{file} names no tests"));
    }
    found.proposes(dotnet(Aim::Build, "build"));
    found
}

/// The solution, else the project; where there are several, `dotnet` itself
/// would not choose.
fn target(folder: &Folder<'_>, found: &mut Found) -> Option<String> {
    let names = folder.names(".");
    let ending = |ends: &[&str]| -> Vec<String> {
        let fits = |name: &&String| ends.iter().any(|end| name.ends_with(end)) && folder.has(name);
        names.iter().filter(fits).cloned().collect()
    };
    let mut all = ending(&SOLUTIONS);
    if all.is_empty() {
        all = ending(&PROJECTS);
    }
    if all.len() > 1 {
        found.notes(format!("of {} the first is taken", all.join(", ")));
    }
    all.into_iter().next()
}
