//! A package.json.

use serde_json::{Map, Value};

use crate::project::folder::Folder;
use crate::project::node::script::Script;
use crate::project::proposal::Found;

/// A package.json.
pub(in crate::project) struct Package(Map<String, Value>);

impl Package {
    pub(super) fn read(folder: &Folder<'_>, found: &mut Found) -> Option<Self> {
        let text = folder.text("package.json", found)?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        match serde_json::from_str(text) {
            Ok(members) => Some(Self(members)),
            Err(error) => {
                found.notes(format!("package.json is no valid JSON object: {error}"));
                None
            }
        }
    }

    pub(super) fn script(&self, name: &str) -> Option<&str> {
        self.0.get("scripts")?.get(name)?.as_str().filter(|script| !script.trim().is_empty())
    }

    /// The test script, as it can be read.
    pub(super) fn test_script(&self) -> Script {
        let script = self.script("test");
        script.map_or(Script::None, |text| Script::read(text, &|name| self.script(name)))
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
