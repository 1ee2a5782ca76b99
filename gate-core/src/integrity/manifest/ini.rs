//! `setup.cfg` and `tox.ini`: the sections of pytest, tox and coverage, and the plug-ins
//! that pytest loads by itself.

use super::MergedManifest;
use super::python::{is_harmless, is_list_of_tests};

/// Keys of an environment that say what is installed in it.
const INSTALLED: [&str; 6] =
    ["deps", "extras", "requires", "dependency_groups", "min_version", "minversion"];

/// A key with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Setting {
    key: String,
    value: String,
}

pub(super) fn merged(baseline: &str, tree: &str) -> MergedManifest {
    let (old, new) = (Sections::read(baseline), Sections::read(tree));
    let (mut text, mut is_changed) = (String::new(), false);
    for (index, section) in new.texts.iter().enumerate() {
        let (old_settings, new_settings) =
            (old.settings(&section.name), new.settings(&section.name));
        let settings = with_test_settings(&section.name, &old_settings, &new_settings);
        if settings == new_settings {
            text += section.text;
            continue;
        }
        is_changed = true;
        // A name that stands twice is one section.
        if new.is_first(index) && !settings.is_empty() {
            text += &section_text(&section.name, &settings);
        }
    }
    for (index, section) in old.texts.iter().enumerate() {
        if !old.is_first(index) || new.has(&section.name) {
            continue;
        }
        let settings = with_test_settings(&section.name, &old.settings(&section.name), &[]);
        if !settings.is_empty() {
            is_changed = true;
            if !text.ends_with('\n') {
                text.push('\n');
            }
            text += &section_text(&section.name, &settings);
        }
    }
    MergedManifest::from_changed(is_changed.then_some(text))
}

/// The settings of a section: the baseline's where they are about tests, else the tree's.
fn with_test_settings(section: &str, old: &[Setting], new: &[Setting]) -> Vec<Setting> {
    let is_about_tests = |setting: &&Setting| {
        let key = setting.key.as_str();
        if section == "options.entry_points" {
            return key == "pytest11";
        }
        runs_tests(section) && !is_harmless(key) && !INSTALLED.contains(&key)
    };
    let old_test_settings = old.iter().filter(is_about_tests);
    if old_test_settings.clone().eq(new.iter().filter(is_about_tests)) {
        return new.to_vec();
    }
    let product_settings = new.iter().filter(|setting| !is_about_tests(setting));
    let test_settings = old_test_settings.map(|setting| with_new_words(setting, new));
    test_settings.chain(product_settings.cloned()).collect()
}

/// A setting of the baseline. A list of what is run also gets the words that the tree has added.
fn with_new_words(old: &Setting, settings: &[Setting]) -> Setting {
    let new = settings.iter().find(|new| new.key == old.key && is_list_of_tests(&new.key));
    let Some(new) = new else { return old.clone() };
    let old_words: Vec<_> = old.value.split_whitespace().collect();
    let added_words: Vec<_> =
        new.value.split_whitespace().filter(|word| !old_words.contains(word)).collect();
    if added_words.is_empty() {
        return old.clone();
    }
    Setting { key: old.key.clone(), value: [old_words, added_words].concat().join("\n") }
}

fn section_text(name: &str, settings: &[Setting]) -> String {
    let lines = settings.iter().map(|Setting { key, value }| {
        // A line that is indented goes on with the value.
        format!("{key} = {}\n", value.replace('\n', "\n    "))
    });
    format!("[{name}]\n{}\n", lines.collect::<String>())
}

/// A section as it stands in the file.
struct SectionText<'t> {
    name: String,
    /// With its head.
    text: &'t str,
}

/// A file as its sections.
struct Sections<'t> {
    /// In their order; what stands before the first has no name.
    texts: Vec<SectionText<'t>>,
    settings: Vec<PlacedSetting>,
}

/// A setting, and where it belongs.
struct PlacedSetting {
    section: String,
    setting: Setting,
}

impl<'t> Sections<'t> {
    fn read(text: &'t str) -> Self {
        let mut texts = Vec::new();
        let (mut name, mut section_start, mut offset) = (String::new(), 0, 0);
        for line in text.split_inclusive('\n') {
            if let Some(next_name) = section_name(line) {
                texts.push(SectionText { name, text: &text[section_start..offset] });
                (name, section_start) = (next_name.to_owned(), offset);
            }
            offset += line.len();
        }
        texts.push(SectionText { name, text: &text[section_start..] });
        Self { texts, settings: settings(text) }
    }

    fn settings(&self, section: &str) -> Vec<Setting> {
        let placed = self.settings.iter().filter(|placed| placed.section == section);
        placed.map(|placed| placed.setting.clone()).collect()
    }

    fn has(&self, section: &str) -> bool {
        self.texts.iter().any(|text| text.name == section)
    }

    /// No section of the same name stands before it.
    fn is_first(&self, index: usize) -> bool {
        let name = &self.texts[index].name;
        !self.texts[..index].iter().any(|text| text.name == *name)
    }
}

/// The name in a section's head.
fn section_name(line: &str) -> Option<&str> {
    let (name, _) = line.strip_prefix('[')?.split_once(']')?;
    Some(name.trim())
}

/// A section selects or runs tests.
fn runs_tests(section: &str) -> bool {
    ["pytest", "tool:pytest", "tox"].contains(&section)
        || section.starts_with("coverage:")
        || section.starts_with("testenv")
}

fn settings(text: &str) -> Vec<PlacedSetting> {
    let (mut section, mut settings) = (String::new(), Vec::<PlacedSetting>::new());
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        let is_indented = line.starts_with([' ', '\t']);
        let continued = settings.last_mut().filter(|last| is_indented && last.section == section);
        if let Some(name) = section_name(trimmed)
            && !is_indented
        {
            name.clone_into(&mut section);
        } else if let Some(last) = continued {
            last.setting.value += &format!("\n{trimmed}");
        } else if let Some((key, value)) = trimmed.split_once(['=', ':']) {
            let key = key.trim().to_ascii_lowercase();
            let setting = Setting { key, value: value.trim().to_owned() };
            settings.push(PlacedSetting { section: section.clone(), setting });
        }
    }
    settings
}
