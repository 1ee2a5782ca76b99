//! A control for Python's unittest.

use std::path::PathBuf;

use super::draft::Draft;
use super::place::Place;

/// A file in the folder where discovery starts, which looks there first;
/// where the command names modules, an addition to the first of them.
pub(super) fn draft(place: &Place<'_>, id: &str) -> Option<Draft> {
    let discovers = place.args.iter().any(|word| word == "discover");
    let words = place.args.iter().filter(|word| !word.starts_with('-') && *word != "discover");
    if let Some(module) = words.clone().next()
        && !discovers
    {
        let file = module_file(place, module)?;
        return Some(Draft { file, text: format!("\n\n{}", class(id)) });
    }
    let start = place.value(&["-s", "--start-directory"]);
    let start =
        start.or_else(|| words.map(String::as_str).find(|folder| place.cwd.join(folder).is_dir()));
    let folder = start.map_or_else(|| place.cwd.to_owned(), |start| place.cwd.join(start));
    Some(Draft { file: folder.join(format!("test_{id}.py")), text: class(id) })
}

fn class(id: &str) -> String {
    format!(
        "import unittest\n\n\nclass Gate(unittest.TestCase):\n    def test_{id}(self):\n        \
         self.fail(\"gate's control has to fail\")\n"
    )
}

/// The file of a module, or a path as it is.
fn module_file(place: &Place<'_>, module: &str) -> Option<PathBuf> {
    let path = place.cwd.join(module);
    let dotted = place.cwd.join(format!("{}.py", module.replace('.', "/")));
    [path, dotted].into_iter().find(|file| file.is_file())
}
