//! A package.json, and the packages of its workspace.

use serde_json::{Map, Value};

use crate::project::folder::Folder;
use crate::project::node::manager::TestScript;
use crate::project::proposal::Findings;

/// A package.json.
pub(super) struct Package(Map<String, Value>);

impl Package {
    pub(super) fn read(folder: &Folder<'_>, findings: &mut Findings) -> Option<Self> {
        let text = folder.text("package.json", findings)?;
        // Editors on Windows write a byte order mark, and npm passes over it.
        match serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(&text)) {
            Ok(members) => Some(Self(members)),
            Err(error) => {
                findings.note(format!("package.json is no valid JSON object: {error}"));
                None
            }
        }
    }

    pub(super) fn script(&self, name: &str) -> Option<&str> {
        self.0.get("scripts")?.get(name)?.as_str().filter(|script| !script.trim().is_empty())
    }

    /// The test script, as far as its text shows what it does.
    pub(super) fn test_script(&self) -> TestScript {
        let Some(text) = self.script("test") else { return TestScript::None };
        match TestScript::read(text, &|name| self.script(name)) {
            // It may build what the tests are about.
            TestScript::Mocha(_) if self.script("pretest").is_some() => TestScript::Other(&[]),
            script => script,
        }
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.as_str()
    }

    /// The patterns of `workspaces`: a list, or the list `packages` in it.
    pub(super) fn workspaces(&self) -> Vec<&str> {
        let Some(workspaces) = self.0.get("workspaces") else { return Vec::new() };
        let list = workspaces.as_array().or_else(|| workspaces.get("packages")?.as_array());
        list.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    pub(super) fn depends_on(&self, name: &str) -> bool {
        let lists = ["dependencies", "devDependencies"].map(|key| self.0.get(key));
        lists.iter().flatten().any(|list| list.get(name).is_some())
    }

    pub(super) fn has_dependencies(&self) -> bool {
        let lists = ["dependencies", "devDependencies"].map(|key| self.0.get(key));
        lists.iter().flatten().any(|list| list.as_object().is_some_and(|list| !list.is_empty()))
    }
}

/// The most packages of a workspace that are read.
const MAX_MEMBERS: usize = 500;

/// The folders of the packages that a workspace names: `packages/api`, `packages/*`, and those with
/// `**`, which are read as `packages/*`.
pub(super) fn member_folders(
    folder: &Folder<'_>,
    package: &Package,
    findings: &mut Findings,
) -> Vec<String> {
    let mut patterns: Vec<String> = package.workspaces().into_iter().map(str::to_owned).collect();
    if let Some(text) = folder.text("pnpm-workspace.yaml", findings) {
        patterns.extend(pnpm_packages(&text));
    }
    let mut folders: Vec<String> =
        patterns.iter().flat_map(|pattern| matching_folders(folder, pattern)).collect();
    folders.retain(|member| folder.has_file(&format!("{member}/package.json")));
    folders.sort();
    folders.dedup();
    folders.truncate(MAX_MEMBERS);
    folders
}

fn matching_folders(folder: &Folder<'_>, pattern: &str) -> Vec<String> {
    let path = pattern.trim_start_matches("./").trim_end_matches('/');
    let Some((prefix, _)) = path.split_once('*') else { return vec![path.to_owned()] };
    let parent = prefix.trim_end_matches(|c| c != '/').trim_end_matches('/');
    let parent = if parent.is_empty() { "." } else { parent };
    folder.names(parent).into_iter().map(|name| format!("{parent}/{name}")).collect()
}

/// The items of the list `packages`, by lines alone.
fn pnpm_packages(text: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| line.trim_end() != "packages:").skip(1);
    let items = lines.map_while(|line| {
        let text = line.trim();
        let item = text.strip_prefix("- ");
        (item.is_some() || text.is_empty() || text.starts_with('#')).then_some(item)
    });
    items.flatten().map(|item| item.trim().trim_matches(['\'', '"']).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::pnpm_packages;

    #[test]
    fn the_packages_of_pnpm_are_read() {
        let text = "packages:\n  - 'apps/*'\n\n  # tools\n  - tools\ncatalog:\n  - no\n";
        assert_eq!(pnpm_packages(text), ["apps/*", "tools"]);
        assert_eq!(pnpm_packages("onlyBuiltDependencies:\n  - x\n"), [""; 0]);
    }
}
