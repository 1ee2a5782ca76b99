//! .NET.

use super::folder::Folder;
use super::proposal::{Aim, Findings, Proposal};

const SOLUTIONS: [&str; 2] = [".sln", ".slnx"];
const PROJECTS: [&str; 3] = [".csproj", ".fsproj", ".vbproj"];

/// Proposes for a folder with a solution or a project.
///
/// `dotnet test` of something without tests ends with code 0, so that it is proposed only if tests
/// are named.
pub(super) fn look(folder: &Folder<'_>) -> Findings {
    let mut findings = Findings::default();
    let Some(target) = target(folder, &mut findings) else { return findings };
    let text = folder.text(&target, &mut findings).unwrap_or_default();
    let file = target.as_str();
    if text.to_ascii_lowercase().contains("test") {
        let words = ["dotnet", "test", file, "--nologo"];
        findings.propose(Proposal::new(Aim::Tests, "dotnet", &words, file));
    } else {
        findings.note(format!("{file} names no tests"));
    }
    let words = ["dotnet", "build", file, "--nologo"];
    findings.propose(Proposal::new(Aim::Build, "dotnet", &words, file));
    findings
}

/// The solution, else the project; if there are several, `dotnet` itself would not choose.
fn target(folder: &Folder<'_>, findings: &mut Findings) -> Option<String> {
    let names = folder.names(".");
    let mut targets = files_with_ending(folder, &names, &SOLUTIONS);
    if targets.is_empty() {
        targets = files_with_ending(folder, &names, &PROJECTS);
    }
    if targets.len() > 1 {
        findings.note(format!("of {} the first is taken", targets.join(", ")));
    }
    targets.into_iter().next()
}

fn files_with_ending(folder: &Folder<'_>, names: &[String], endings: &[&str]) -> Vec<String> {
    let mut files = names.to_vec();
    files.retain(|name| {
        endings.iter().any(|ending| name.ends_with(ending)) && folder.has_file(name)
    });
    files
}
