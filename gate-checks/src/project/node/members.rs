//! The packages of a workspace.

use super::package::Package;
use crate::project::folder::Folder;
use crate::project::proposal::Found;

/// The most packages that are looked at.
const MAX_MEMBERS: usize = 500;

/// The folders of the packages that a workspace names: `packages/api`, `packages/*`, and those with
/// `**`, which are read as `packages/*`.
pub(super) fn folders(folder: &Folder<'_>, package: &Package, found: &mut Found) -> Vec<String> {
    let mut patterns: Vec<String> = package.workspaces().into_iter().map(str::to_owned).collect();
    if let Some(text) = folder.text("pnpm-workspace.yaml", found) {
        patterns.extend(pnpm(&text));
    }
    let mut folders: Vec<String> =
        patterns.iter().flat_map(|pattern| matching(folder, pattern)).collect();
    folders.retain(|member| folder.has(&format!("{member}/package.json")));
    folders.sort();
    folders.dedup();
    folders.truncate(MAX_MEMBERS);
    folders
}

fn matching(folder: &Folder<'_>, pattern: &str) -> Vec<String> {
    let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
    let Some((above, _)) = pattern.split_once('*') else { return vec![pattern.to_owned()] };
    let above = above.trim_end_matches(|c| c != '/').trim_end_matches('/');
    let above = if above.is_empty() { "." } else { above };
    folder.names(above).into_iter().map(|name| format!("{above}/{name}")).collect()
}

/// The items of the list `packages`, by lines alone.
fn pnpm(text: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| line.trim_end() != "packages:").skip(1);
    let items = lines.map_while(|line| {
        let line = line.trim();
        let item = line.strip_prefix("- ");
        (item.is_some() || line.is_empty() || line.starts_with('#')).then_some(item)
    });
    items.flatten().map(|item| item.trim().trim_matches(['\'', '"']).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::pnpm;

    #[test]
    fn the_packages_of_pnpm_are_read() {
        let text = "packages:\n  - 'apps/*'\n\n  # tools\n  - tools\ncatalog:\n  - no\n";
        assert_eq!(pnpm(text), ["apps/*", "tools"]);
        assert_eq!(pnpm("onlyBuiltDependencies:\n  - x\n"), [""; 0]);
    }
}
