//! `gate init --criteria FILE`: criteria drafted from the text of a task, for a person to
//! complete. Nothing is invented: each is a list item or a sentence of the text.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use gate_core::config::{Layer, Origin};
use toml_edit::value;

use crate::approval;
use crate::commands::common::no_home;
use crate::context::Here;
use crate::failure::Failure;
use crate::render::page::Page;
use crate::render::{self, print};
use crate::settings::FILE;

/// The first lines of a draft.
const HEAD: &str = "\n# Drafted from {task}. Give each criterion a command that fails until it is met, as in\n\
                    # verify = [\"./check.sh\", \"--sale\"], or delete it. Without one, only the agent's \
                    word counts.\n";

/// Words by which a sentence states a requirement.
const DEMANDS: [&str; 6] = ["must", "should", "shall", "has to", "have to", "needs to"];

/// The words of a criterion's id.
const ID_WORDS: usize = 4;

/// The longest text of a criterion, in characters.
const MAX_TEXT_CHARS: usize = 300;

/// Adds a draft to the settings. Approves the file if it was approved before.
pub(super) fn draft(here: &Here, task: &Path) -> Result<(), Failure> {
    let path = here.places.folder.join(task);
    let text = fs::read_to_string(&path)
        .map_err(|error| Failure::file("file-unreadable", "read", &path, &error))?;
    let found = demands(&text);
    if found.is_empty() {
        let message = format!(
            "{}: no list item, and no sentence with {}",
            task.display(),
            DEMANDS.join(", ")
        );
        return Err(Failure::usage("criteria-none", message)
            .hint("write what is asked for as a list, one requirement an item"));
    }
    let nearest = here.places.project_file()?;
    if nearest.is_none() {
        no_home(&here.places, &here.places.folder)?;
    }
    let file = nearest.clone().unwrap_or_else(|| here.places.folder.join(FILE));
    let own = match nearest {
        Some(nearest) => fs::read_to_string(&nearest)
            .map_err(|error| Failure::file("file-unreadable", "read", &nearest, &error))?,
        None => String::new(),
    };
    let was_approved = own.is_empty() || approval::record(here)?.approved;
    let new: Vec<_> = found.into_iter().filter(|text| !own.contains(text.as_str())).collect();
    let mut ids: BTreeSet<String> = BTreeSet::new();
    let blocks: String = new.iter().map(|text| block(&id(text, &own, &mut ids), text)).collect();
    let mut page = Page::new();
    if !new.is_empty() {
        let head = HEAD.replace("{task}", &task.display().to_string());
        let written = format!("{}\n{head}{blocks}", own.trim_end()).trim_start().to_owned();
        Layer::parse(Origin::Project(file.clone()), &written)?;
        fs::write(&file, written)
            .map_err(|error| Failure::file("file-unwritable", "write", &file, &error))?;
        if was_approved {
            approval::approve_written(here);
        }
    }
    page.text(&format!(
        "{} criteria drafted from {} into {}",
        new.len(),
        task.display(),
        file.display()
    ));
    new.iter().for_each(|text| page.item(text));
    page.row("next", "give each a `verify` in gate.toml, then look: gate criteria");
    print(&page.into_text())?;
    if !was_approved {
        render::notes(&["`gate trust` approves the settings".to_owned()]);
    }
    Ok(())
}

/// The requirements of a text: its list items, else its sentences that demand something.
fn demands(text: &str) -> Vec<String> {
    let mut fenced = false;
    let lines: Vec<_> = text
        .lines()
        .filter(|line| {
            let fence = line.trim_start().starts_with("```");
            fenced ^= fence;
            !fence && !fenced
        })
        .collect();
    let items: Vec<_> = lines.iter().filter_map(|line| item(line)).collect();
    if !items.is_empty() {
        return items;
    }
    let prose = lines.iter().filter(|line| !line.starts_with('#')).copied();
    let prose = prose.collect::<Vec<_>>().join(" ");
    let sentences = prose.split_inclusive(['.', '!', '?']).map(str::trim);
    let demands = sentences.filter(|sentence| {
        let lower = format!(" {} ", sentence.to_lowercase());
        DEMANDS.iter().any(|word| lower.contains(&format!(" {word} ")))
    });
    demands.map(shortened).collect()
}

/// The text of a list item, without its mark and box.
fn item(line: &str) -> Option<String> {
    let line = line.trim();
    let rest = line.strip_prefix(['-', '*', '+']).or_else(|| {
        let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
        if digits.len() == line.len() { None } else { digits.strip_prefix(['.', ')']) }
    })?;
    let rest = rest.strip_prefix(' ')?.trim();
    let rest =
        ["[ ]", "[x]", "[X]"].iter().find_map(|mark| rest.strip_prefix(mark)).unwrap_or(rest);
    let rest = rest.trim();
    (!rest.is_empty() && !rest.starts_with("verify:")).then(|| shortened(rest))
}

fn shortened(text: &str) -> String {
    text.chars().take(MAX_TEXT_CHARS).collect::<String>().trim().to_owned()
}

/// A name from the first words, which no other criterion has.
fn id(text: &str, settings: &str, taken: &mut BTreeSet<String>) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<_> = words.take(ID_WORDS).map(str::to_ascii_lowercase).collect();
    let base = if words.is_empty() { "criterion".to_owned() } else { words.join("-") };
    let numbered = (2..).map(|number| format!("{base}-{number}"));
    let free = [base.clone()]
        .into_iter()
        .chain(numbered)
        .find(|id| !taken.contains(id) && !settings.contains(&format!("id = \"{id}\"")));
    let id = free.unwrap_or(base);
    taken.insert(id.clone());
    id
}

fn block(id: &str, text: &str) -> String {
    format!(
        "[[criteria]]\nid = \"{id}\"\ntext = {}\n#verify = []\n",
        value(text).to_string().trim()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_items_are_requirements_and_else_sentences() {
        let list =
            "# Shop\n\nIt must be fast.\n\n- [ ] The tax is shown\n2. A sale\n```\n- no\n```\n-x\n";
        assert_eq!(demands(list), ["The tax is shown", "A sale"]);
        let prose = "# It must\nThe cart has a discount. It must apply to\nsale items. Nice.\n";
        assert_eq!(demands(prose), ["It must apply to sale items."]);
        assert_eq!(demands("Mend it.\n"), [""; 0]);
    }

    #[test]
    fn names_differ() {
        let mut taken = BTreeSet::new();
        let mut name = |text: &str| id(text, "id = \"a-b\"\n", &mut taken);
        assert_eq!(name("The tax is shown, always"), "the-tax-is-shown");
        assert_eq!(name("The tax is shown, never"), "the-tax-is-shown-2");
        assert_eq!((name("A b"), name("ü")), ("a-b-2".to_owned(), "criterion".to_owned()));
    }
}
