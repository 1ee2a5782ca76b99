//! Settings: every error has its place, and settings that are shown mean the same again.
#![no_main]

use std::path::PathBuf;

use gate_core::config::{self, ConfigError, Layer, Origin};
use gate_core::decide::indicator::PatternSet;
use gate_fuzz::choices;
use libfuzzer_sys::fuzz_target;

/// A line that divides an input into layers.
const NEXT_LAYER: &str = "#---\n";

/// Types of tasks that a layer may have.
const TASK_TYPES: [Option<&str>; 4] = [None, Some("docs"), Some("bugfix"), Some("a")];

/// The place of an error lies within the text.
fn check_error(error: &ConfigError, text: &str) {
    assert!(!error.to_string().is_empty());
    if let Some(excerpt) = error.excerpt() {
        assert!(text.get(excerpt.span.clone()).is_some(), "{error}");
        assert!(excerpt.line >= 1 && excerpt.line <= 1 + text.matches('\n').count(), "{error}");
    }
}

fn parse(text: &str, origin: Origin) -> Option<Layer> {
    match Layer::parse(origin, text) {
        Ok(layer) => Some(layer),
        Err(error) => {
            check_error(&error, text);
            None
        }
    }
}

fuzz_target!(|input: &[u8]| {
    let Some(([choice], text)) = choices(input) else { return };
    let Ok(text) = str::from_utf8(text) else { return };
    if let Err(error) = config::import("gate.json", text) {
        check_error(&error, text);
    }
    let origins = [Origin::User, Origin::Project, Origin::File];
    let layers: Vec<_> = text
        .split(NEXT_LAYER)
        .zip(origins)
        .map_while(|(text, origin)| parse(text, origin(PathBuf::from("gate.toml"))))
        .collect();
    let task_type = TASK_TYPES[usize::from(choice) % TASK_TYPES.len()];
    let resolved = match config::resolve(&layers, task_type) {
        Ok(resolved) => resolved,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    PatternSet::from_policy(&resolved.policy).expect("what cannot be compiled is an error before");

    let settings = resolved.settings();
    assert!(settings.is_sorted_by(|one, next| one.key < next.key), "each key once, in order");

    let shown = config::show(&resolved, true);
    let again = Layer::parse(Origin::File(PathBuf::from("shown.toml")), &shown)
        .unwrap_or_else(|error| panic!("{error}\n{shown}"));
    let again =
        config::resolve(&[again], task_type).unwrap_or_else(|error| panic!("{error}\n{shown}"));
    assert_eq!(again.policy, resolved.policy, "{shown}");
    assert_eq!((again.run, again.work.ci), (resolved.run, resolved.work.ci), "{shown}");
});
