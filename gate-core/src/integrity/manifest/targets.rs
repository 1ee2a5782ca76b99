//! Targets of makefiles.

use std::collections::BTreeMap;

/// The targets of a makefile that a file of their name would keep from running.
pub fn idle_targets(text: &str) -> Vec<String> {
    let mut phony: Vec<&str> = Vec::new();
    let mut runs: BTreeMap<&str, bool> = BTreeMap::new();
    let mut open: Vec<&str> = Vec::new();
    let joined = text.replace("\\\n", " ");
    for line in joined.lines() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        if line.starts_with(['\t', ' ']) && !open.is_empty() {
            runs.extend(open.iter().map(|name| (*name, true)));
            continue;
        }
        open.clear();
        let Some((names, rest)) =
            trimmed.split_once(':').filter(|(_, rest)| !rest.starts_with('='))
        else {
            continue;
        };
        let (needs, first) = rest.trim_start_matches(':').split_once(';').unwrap_or((rest, ""));
        if names.trim() == ".PHONY" {
            phony.extend(needs.split_whitespace());
            continue;
        }
        open = names.split_whitespace().collect();
        for name in &open {
            *runs.entry(*name).or_default() |= !first.trim().is_empty();
        }
    }
    let names = runs.into_iter().filter(|(_, has_recipe)| *has_recipe).map(|(name, _)| name);
    let names = names.filter(|name| !phony.contains(name) && !name.contains(['.', '/', '%', '$']));
    names.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::idle_targets;

    #[test]
    fn a_target_with_a_recipe_and_without_phony_may_be_idle() {
        let text = ".PHONY: lint\nX := a: b\ntest: build\n\tpytest\nlint:\n\truff\nall: test\n\
                    ci: ; make test\nout/a.txt:\n\ttouch $@\n";
        assert_eq!(idle_targets(text), ["ci", "test"]);
    }
}
