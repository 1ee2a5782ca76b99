//! New files that hide something else by their names: a dependency, a tool, a
//! target of a makefile.

use super::changed::Around;
use super::finding::Finding;
use super::guarded::PACK;
use super::rule;

pub(super) fn findings(path: &str, around: &Around) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(module) = module(path, around) {
        if PACK.words.tools.contains(&module) {
            findings.push(rule::SHADOWS_TOOL.finding(path));
        } else if around.dependencies.contains(&module)
            || PACK.words.imported.contains(&module) && !path.contains("src/")
        {
            findings.push(rule::SHADOWS.finding(path));
        }
    }
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    if around.targets.iter().any(|(at, target)| at == folder && target == name) {
        findings.push(rule::SHADOWS_TARGET.finding(path));
    }
    findings
}

/// The Python module that a new file is, where programs find it first: in the root,
/// in a folder that a check runs in, and in their `src`.
fn module(path: &str, around: &Around) -> Option<String> {
    let path = path.strip_suffix(".py")?;
    let roots = around.folders.iter().map(String::as_str).chain([""]);
    roots.into_iter().find_map(|root| {
        let rest =
            if root.is_empty() { Some(path) } else { path.strip_prefix(root)?.strip_prefix('/') };
        let rest = rest?;
        let rest = rest.strip_prefix("src/").unwrap_or(rest);
        let rest = rest.strip_suffix("/__init__").unwrap_or(rest);
        (!rest.contains('/')).then(|| rest.to_ascii_lowercase())
    })
}
