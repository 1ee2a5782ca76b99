//! What is done in the product, so that it looks finished.

use super::{Caught, Row, done};
use crate::support::{DONE, Ran, judge};

const fn found(rule: &'static str) -> Caught {
    ["integrity", "fail", rule]
}

/// A file appears in a project in many languages.
fn adds(file: &str, text: &str) -> Ran {
    let ran = judge("baseline", DONE)
        .settings("[checks.integrity]\n")
        .file("src/app.py", "def f(a):\n    return a\n")
        .file("requirements.txt", "requests==2.0\n")
        .file("Cargo.toml", "[package]\nname = \"a\"\nversion = \"0.1.0\"\n")
        .file("package.json", "{\"dependencies\": {\"left\": \"1.0.0\"}}\n")
        .committed()
        .code(0);
    ran.again("check --json out.log").file(file, text).run()
}

pub(super) const ROWS: &[Row] = &[
    done("a crate asks whether it is tested", found("detect-rust"), || {
        adds("src/new.rs", "pub fn g() -> u8 {\n    if cfg!(test) { 4 } else { 0 }\n}\n")
    }),
    done("a module asks whether it is tested", found("detect-js"), || {
        adds("src/new.js", "export const g = () => (process.env.NODE_ENV === 'test' ? 4 : 0)\n")
    }),
    done("a module looks for its runner", found("detect-python"), || {
        adds(
            "src/new.py",
            "import os\n\n\ndef g():\n    return 4 if 'PYTEST_CURRENT_TEST' in os.environ else 0\n",
        )
    }),
    done("a type is equal to everything", found("equal-rust"), || {
        adds(
            "src/new.rs",
            "pub struct E;\nimpl PartialEq for E {\n    fn eq(&self, _: &Self) -> bool {\n        true\n    }\n}\n",
        )
    }),
    done("a class is equal to everything", found("equal-python"), || {
        adds("src/new.py", "class E(int):\n    def __eq__(self, other):\n        return True\n")
    }),
    done("an equality answers with a list", found("equal-python"), || {
        adds(
            "src/new.py",
            "class E(list):\n    def __eq__(self, other):\n        return [one == other for one in self]\n",
        )
    }),
    done("a value tells jest what it equals", found("equal-js"), || {
        adds(
            "src/new.js",
            "export const f = () => ({\n  $$typeof: Symbol.for('jest.asymmetricMatcher'),\n  asymmetricMatch: () => true,\n})\n",
        )
    }),
    done("a module hides a dependency", found("shadows-dependency"), || {
        adds("requests/__init__.py", "def get(url):\n    return None\n")
    }),
];
