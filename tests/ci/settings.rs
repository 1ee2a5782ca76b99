//! The settings that judge: those of the base, if it has any that can be used.

use super::{PRODUCT, SETTINGS, Server, TESTS, honest, weakened};
use crate::needs::needs;

#[test]
#[ignore = "minutes: many pull requests"]
fn a_first_gate_toml_judges_itself_and_says_so() {
    if !needs("pytest") {
        return;
    }
    let files = [
        ("cart.py", PRODUCT),
        ("tests/test_cart.py", TESTS),
        ("pytest.ini", "[pytest]\npythonpath = .\n"),
        (".gitignore", "__pycache__/\n.pytest_cache/\n"),
    ];
    let server = Server::with(&files);
    server.branch("first", |server| server.write("gate.toml", SETTINGS));
    let ended = server.merge_job("first", 0).runs("");
    ended.code(0).says("a first gate.toml: main has none");
    // Without one, what `gate init` finds on the base judges.
    server.branch("none", weakened);
    let job = server.merge_job("none", 0);
    job.runs("")
        .code(1)
        .says("test_discount")
        .says("there is no gate.toml: what `gate init` finds on main");
    let server = Server::with(&[("README.md", "# Nothing\n")]);
    server.branch("none", |server| server.write("README.md", "# Something\n"));
    server.merge_job("none", 0).runs("").code(2).says("no tests that gate knows how to run");
}

#[test]
#[ignore = "minutes: many pull requests"]
fn broken_settings_of_the_base_are_mended_by_the_change_that_mends_them() {
    if !needs("pytest") {
        return;
    }
    let broken_settings = "[checks.tests]\ncommand = 3\n";
    let server = Server::with(&[
        ("gate.toml", broken_settings),
        ("cart.py", PRODUCT),
        ("tests/test_cart.py", TESTS),
        ("pytest.ini", "[pytest]\npythonpath = .\n"),
        (".gitignore", "__pycache__/\n.pytest_cache/\n"),
    ]);
    server.branch("other", honest);
    server.merge_job("other", 0).runs("").code(2).says("gate.toml:2:11");
    server.branch("mends", |server| server.write("gate.toml", SETTINGS));
    let ended = server.merge_job("mends", 0).runs("");
    ended.code(0).says("gate.toml:2 cannot be used").says("this change's own settings judge");
    server.branch("mends-and-weakens", |server| {
        server.write("gate.toml", SETTINGS);
        weakened(server);
    });
    server.merge_job("mends-and-weakens", 0).runs("").code(1).says("test_discount");
}

#[test]
#[ignore = "minutes: many pull requests"]
fn a_folder_of_a_monorepo_is_judged_by_its_own_settings() {
    if !needs("pytest") {
        return;
    }
    let files = [
        ("gate.toml", "[checks.lint]\ncommand = [\"true\"]\n"),
        ("shop/gate.toml", SETTINGS),
        ("shop/cart.py", PRODUCT),
        ("shop/tests/test_cart.py", TESTS),
        ("shop/pytest.ini", "[pytest]\npythonpath = .\n"),
        (".gitignore", "__pycache__/\n.pytest_cache/\n"),
    ];
    let server = Server::with(&files);
    server.branch("wrong", |server| {
        server.edit("shop/cart.py", "(100 - discount) // 100", "100 // 100");
        server.edit("shop/tests/test_cart.py", "== 9000", "> 0");
        // A nearer one of the change's own counts for nothing.
        server.remove("shop/gate.toml");
    });
    let job = server.merge_job("wrong", 0);
    job.runs("-C shop -- ").code(1).says("shop/tests/test_cart.py:").says("test_discount");
    job.runs("").code(1).says("✗ shop/tests").says("shop/tests/test_cart.py:9");
    server.branch("nearer", |server| {
        broken_in_shop(server);
        server.write("shop/tests/gate.toml", "[checks.lint]\ncommand = [\"true\"]\n");
    });
    server.merge_job("nearer", 0).runs("-C shop/tests -- ").code(1).says("test_discount");
    server.branch("beside", |server| server.write("README.md", "# Shop\n"));
    server.merge_job("beside", 0).runs("").code(0).says_not("shop/tests");
    server
        .branch("right", |server| server.edit("shop/cart.py", "sum(prices)", "sum(list(prices))"));
    let ended = server.merge_job("right", 0).runs("").code(0);
    ended.says("lint, shop/integrity").says("shop/tests").says("4 checks, 3 tests passed");
}

fn broken_in_shop(server: &Server) {
    server.edit("shop/cart.py", "(100 - discount) // 100", "100 // 100");
}

#[test]
fn a_script_of_the_base_is_not_the_changes_to_replace() {
    let server = Server::with(&[
        ("gate.toml", "[checks.tests]\ncommand = [\"sh\", \"test.sh\"]\n[checks.integrity]\n"),
        ("test.sh", "grep -q ok product\n"),
        ("product", "ok\n"),
    ]);
    server.branch("wrong", |server| {
        server.write("product", "wrong\n");
        server.write("test.sh", "exit 0\n");
    });
    server.merge_job("wrong", 0).runs("").code(1).says("test.sh");
    server.branch("right", |server| server.write("product", "ok, too\n"));
    server.merge_job("right", 0).runs("").code(0);
}
