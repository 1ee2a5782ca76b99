//! The part of gate's environment that a check may see.

use std::path::PathBuf;

use gate_platform::PATH_SEPARATOR;

/// The usual names, one a line: who and where the user is, where the tools and their caches stand, and
/// how the network is reached. A tool's own switches (`PYTEST_ADDOPTS`, `GOFLAGS`, `NODE_OPTIONS`,
/// `RUSTC_WRAPPER`, …) are not among them: they can decide which tests run. `env` adds what a check
/// needs.
const USUAL: &str = include_str!("usual-variables.txt");

/// Prefixes of further usual names.
const USUAL_PREFIXES: [&str; 2] = ["LC_", "XDG_"];

/// Every check sees the variable.
pub(crate) fn is_usual(name: &str) -> bool {
    USUAL.lines().any(|usual| usual == name)
        || USUAL_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// The part of an environment that a check sees: the usual names, and those in its
/// settings. Variables of gate itself are never passed on.
pub(crate) fn environment(
    variables: &[(String, String)],
    configured: &[String],
) -> Vec<(String, String)> {
    let mut environment = Vec::new();
    for (name, value) in variables {
        if !name.starts_with("GATE_") && (is_usual(name) || configured.contains(name)) {
            let value = if name == "PATH" { absolute_path(value) } else { value.clone() };
            environment.push((name.clone(), value));
        }
    }
    environment
}

/// A PATH without its relative folders: in those, the agent's work could replace the
/// tools that check it.
pub(crate) fn absolute_path(path: &str) -> String {
    absolute_folders(std::env::split_paths(path))
}

/// A PATH of those folders that are absolute and text.
pub(crate) fn absolute_folders(folders: impl Iterator<Item = PathBuf>) -> String {
    let absolute = folders.filter(|folder| folder.is_absolute());
    let texts: Vec<_> =
        absolute.filter_map(|folder| folder.into_os_string().into_string().ok()).collect();
    texts.join(PATH_SEPARATOR)
}

#[cfg(test)]
mod tests {
    use super::environment;

    fn names(configured: &[&str]) -> Vec<String> {
        let variables =
            ["PATH", "LC_ALL", "GATE_STATE_DIR", "PGPASSWORD", "CLAUDECODE", "RUSTFLAGS"]
                .map(|name| (name.to_owned(), "x".to_owned()));
        let configured: Vec<_> = configured.iter().map(|&name| name.to_owned()).collect();
        environment(&variables, &configured).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn the_usual_names_are_in_order() {
        assert!(super::USUAL.lines().is_sorted());
    }

    #[test]
    fn the_usual_names_are_passed_and_no_others() {
        assert_eq!(names(&[]), ["PATH", "LC_ALL"]);
    }

    #[test]
    fn what_a_check_asks_for_is_passed() {
        assert_eq!(
            names(&["RUSTFLAGS", "PGPASSWORD"]),
            ["PATH", "LC_ALL", "PGPASSWORD", "RUSTFLAGS"]
        );
    }

    #[test]
    fn a_relative_folder_of_programs_is_left_out() {
        assert_eq!(super::absolute_path(".:/usr/bin::bin:/bin"), "/usr/bin:/bin");
    }

    #[test]
    fn what_is_gates_own_is_never_passed() {
        assert_eq!(names(&["GATE_STATE_DIR"]), ["PATH", "LC_ALL"]);
    }
}
