//! New files that hide something else by their names: a dependency, a tool, a
//! target of a makefile.

use super::changed::Surroundings;
use super::finding::Finding;
use super::guarded::PACK;
use super::rule;

pub(super) fn findings(path: &str, surroundings: &Surroundings) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(module) = top_module(path, surroundings) {
        if PACK.words.tools.contains(&module) {
            findings.push(rule::SHADOWS_TOOL.finding(path));
        } else if surroundings.dependencies.contains(&module)
            || PACK.words.imported.contains(&module) && !path.contains("src/")
        {
            findings.push(rule::SHADOWS.finding(path));
        }
    }
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    if surroundings.targets.iter().any(|target| target.folder == folder && target.name == name) {
        findings.push(rule::SHADOWS_TARGET.finding(path));
    }
    findings
}

/// The Python module that a new file is, where programs find it first: in the root,
/// in a folder that a check runs in, and in their `src`.
fn top_module(path: &str, surroundings: &Surroundings) -> Option<String> {
    let path = path.strip_suffix(".py")?;
    let mut roots = surroundings.folders.iter().map(String::as_str).chain([""]);
    roots.find_map(|root| {
        let path_in_root = match root {
            "" => path,
            _ => path.strip_prefix(root)?.strip_prefix('/')?,
        };
        let module = path_in_root.strip_prefix("src/").unwrap_or(path_in_root);
        let module = module.strip_suffix("/__init__").unwrap_or(module);
        (!module.contains('/')).then(|| module.to_ascii_lowercase())
    })
}
