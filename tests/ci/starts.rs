//! How often a change starts the test command.

use super::{PRODUCT, Server, TESTS, broken, honest, weakened};
use crate::needs::needs;

/// The starts of the test command for a change, counted by the product.
fn starts(tests: &str, change: fn(&Server), code: i32) -> usize {
    let server = Server::new();
    let file = server.path("starts").display().to_string();
    let mark = format!("\nwith open({file:?}, \"a\") as starts:\n    starts.write(\"x\")\n");
    server.advance_main(|server| {
        server.write("cart.py", &format!("{PRODUCT}{mark}"));
        server.write("tests/test_cart.py", &format!("{TESTS}{tests}"));
    });
    server.branch("work", change);
    server.merge_job("work", 0).runs("").code(code);
    std::fs::read_to_string(file).unwrap_or_default().len()
}

fn product(server: &Server) {
    server.edit("cart.py", "sum(prices)", "sum(list(prices))");
}

#[test]
fn one_run_says_all_if_no_test_was_changed() {
    if !needs("pytest") {
        return;
    }
    // A pass is one run more: the call of a control.
    assert_eq!(starts("", product, 0), 1 + 1);
    assert_eq!(starts("", honest, 0), 2 + 1);
    assert_eq!(starts("", broken, 1), 1);
}

#[test]
#[ignore = "minutes: many pull requests"]
fn a_skip_that_the_product_decides_takes_two_runs() {
    if !needs("pytest") {
        return;
    }
    let mark = "\n\nimport sys\n\nimport pytest\n\n\n@pytest.mark.skip\ndef test_old():\n    pass\n\n\n\
                @pytest.mark.skipif(sys.platform == \"win32\", reason=\"x\")\ndef test_posix():\n    pass\n";
    let flag = "\n\nimport cart\nimport pytest\n\n\n@pytest.mark.skipif(hasattr(cart, \"slow\"), \
                reason=\"x\")\ndef test_slow():\n    pass\n\n\n@pytest.mark.skip\ndef test_old():\n    pass\n";
    let like_a_machine = "\n\nimport cart as photos\nimport pytest\n\n\n\
                @pytest.mark.skipif(photos.total is None, reason=\"x\")\ndef test_some():\n    pass\n\n\n@pytest.mark.skip\ndef test_old():\n    pass\n";
    assert_eq!(starts(mark, product, 0), 1 + 1, "marks that say the same as before");
    assert_eq!(starts(flag, product, 0), 2 + 1, "the product may skip a test");
    assert_eq!(
        starts(like_a_machine, product, 0),
        2 + 1,
        "`photos.` ends like a module of the machine"
    );
    let flagged = |server: &Server| {
        server.edit("cart.py", "def total", "slow = True\n\n\ndef total");
    };
    assert_eq!(starts(flag, flagged, 1), 2 + 1, "and does");
    assert_eq!(starts("", weakened, 1), 2 + 1);
}
