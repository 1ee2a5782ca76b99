//! Files that a runner or an interpreter loads by itself.

/// A runner or an interpreter loads a file of this name, relative to the tree's root and
/// with slashes, by itself. It can change each test that runs beside it.
pub fn loaded_by_itself(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (stem, kind) = name.split_once('.').unwrap_or((name, ""));
    let in_folder = |all: &[&str]| folders.split('/').any(|folder| all.contains(&folder));
    if in_folder(&["__mocks__"]) {
        return true;
    }
    match kind.rsplit('.').next().unwrap_or(kind) {
        "py" => match stem {
            "conftest" | "sitecustomize" | "usercustomize" => true,
            "__init__" | "__main__" => in_folder(PYTHON_TESTS),
            _ => false,
        },
        "pth" => true,
        // Of npm: `node-options` load a module before every program.
        "npmrc" => true,
        "go" => stem.ends_with("_test"),
        "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" => {
            is_setup(&name[..stem.len()])
        }
        "rb" => matches!(stem, "spec_helper" | "rails_helper" | "test_helper"),
        _ => false,
    }
}

/// Folders that hold Python's tests.
const PYTHON_TESTS: &[&str] = &["tests", "test", "testing", "unit_tests", "integration_tests"];

/// A setup file of jest or vitest, by the beginning of its name.
fn is_setup(stem: &str) -> bool {
    let plain = stem.to_ascii_lowercase().replace(['-', '_'], "");
    let starts =
        ["jestsetup", "vitestsetup", "setuptests", "setuptest", "setupjest", "setupvitest"];
    starts.iter().any(|start| plain.starts_with(start))
        || matches!(plain.as_str(), "jest" | "vitest" | "testsetup" | "globalsetup")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_loaded_without_being_named() {
        for path in [
            "conftest.py",
            "tests/unit/conftest.py",
            "tests/__init__.py",
            "pkg/tests/a/__init__.py",
            "a_test.go",
            "pkg/main_test.go",
            "__mocks__/fs.js",
            "src/__mocks__/a/b.json",
            "jest.setup.js",
            "jest.setup.config.ts",
            "vitest-setup.mts",
            "src/setupTests.ts",
            "setup-jest.js",
            "sitecustomize.py",
            "lib/usercustomize.py",
            "a.pth",
            "lib/python3/site-packages/a.b.pth",
            "spec/spec_helper.rb",
        ] {
            assert!(loaded_by_itself(path), "{path}");
        }
    }

    #[test]
    fn what_somebody_has_to_name_is_not() {
        for path in [
            "",
            "/",
            "build.rs",
            "tests/common/mod.rs",
            "tests/helpers.py",
            "src/__init__.py",
            "pkg/latest/__init__.py",
            "tests/test_a.py",
            "my_plugin.py",
            "src/main.go",
            "src/testing.go",
            "src/setup.ts",
            "src/jester.js",
            "mocks/fs.js",
            "conftest.pyc",
            "docs/conftest.md",
        ] {
            assert!(!loaded_by_itself(path), "{path}");
        }
    }
}
