//! Runners beside pytest: the same change fails, and the same one passes.

use super::Server;
use crate::needs::needs;

/// A project of another runner: a file of the product and one of its tests, each with a text and the
/// other text that a change writes.
struct Project {
    program: &'static str,
    settings: &'static str,
    product: (&'static str, &'static str),
    test: (&'static str, &'static str),
    edits: [(&'static str, &'static str); 2],
}

const PROJECTS: [Project; 3] = [
    Project {
        program: "python3",
        settings: "[checks.tests]\ncommand = [\"python3\", \"-m\", \"unittest\"]\n",
        product: ("cart.py", "def total(n):\n    return n * 3\n"),
        test: (
            "test_cart.py",
            "import unittest\nimport cart\n\n\nclass T(unittest.TestCase):\n    \
             def test_total(self):\n        self.assertEqual(cart.total(2), 6)\n",
        ),
        edits: [("* 3", "* 4"), (", 6)", ", 8)")],
    },
    Project {
        program: "node",
        settings: "[checks.tests]\ncommand = [\"node\", \"--test\"]\n",
        product: ("cart.js", "exports.total = (n) => n * 3;\n"),
        test: (
            "cart.test.js",
            "const test = require(\"node:test\");\nconst assert = require(\"node:assert\");\n\
             const { total } = require(\"./cart\");\n\n\
             test(\"total\", () => assert.strictEqual(total(2), 6));\n",
        ),
        edits: [("* 3", "* 4"), ("(2), 6)", "(2), 8)")],
    },
    Project {
        program: "make",
        settings: "[checks.tests]\ncommand = [\"make\", \"-s\", \"test\"]\n",
        product: ("product", "3\n"),
        test: ("tests/run.sh", "grep -q '^3$' product\n"),
        edits: [("3", "4"), ("^3", "^4")],
    },
];

#[test]
#[ignore = "minutes: many pull requests"]
fn other_runners_are_compared_in_the_same_way() {
    for Project { program, settings, product, test, edits } in PROJECTS {
        if !needs(program) {
            continue;
        }
        let server = Server::with(&[
            ("gate.toml", settings),
            product,
            test,
            ("Makefile", "test:\n\tsh tests/run.sh\n"),
            (".gitignore", "__pycache__/\n"),
        ]);
        let [of_product, of_test] = edits;
        server.branch("both", |server| {
            server.edit(product.0, of_product.0, of_product.1);
            server.edit(test.0, of_test.0, of_test.1);
        });
        let ended = server.merge_job("both", 0).runs("").code(1);
        ended.says("only a reviewer can say").says(test.0);
        server.branch("product", |server| server.edit(product.0, of_product.0, of_product.1));
        server.merge_job("product", 0).runs("").code(1).says_not("reviewer can say");
        server.branch("none", |server| server.write("README.md", "# Shop\n"));
        server.merge_job("none", 0).runs("").code(0);
    }
}
