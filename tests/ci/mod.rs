//! `gate ci`: pull requests and pushes, in checkouts as CIs make them.

mod action;
mod answers;
mod approvals;
mod changes;
mod checkouts;
mod commits;
mod corners;
mod labels;
mod runner;
mod runners;
mod server;
mod settings;
mod starts;

use server::{Ended, Job, Server};

/// The settings of the server's main branch.
const SETTINGS: &str = "[checks.tests]\ncommand = [\"python3\", \"-m\", \"pytest\", \"-q\"]\n";

/// The product, its tests, and the settings of their runner.
const PRODUCT: &str = "\
def total(prices, discount=0):
    return sum(prices) * (100 - discount) // 100


def label(name):
    return name.title()
";
const TESTS: &str = "\
from cart import label, total


def test_total():
    assert total([1, 2]) == 3


def test_discount():
    assert total([10000], 10) == 9000


def test_label():
    assert label(\"ada\") == \"Ada\"
";

/// A change that keeps the product right, with a test of its own.
fn honest(server: &Server) {
    server.edit("cart.py", "return sum(prices)", "return int(sum(prices))");
    server.edit(
        "tests/test_cart.py",
        "def test_total():",
        "def test_none():\n    assert total([]) == 0\n\n\ndef test_total():",
    );
}

/// A change that breaks the product, and makes its test weak enough.
fn weakened(server: &Server) {
    server.edit("cart.py", "(100 - discount) // 100", "100 // 100");
    server.edit("tests/test_cart.py", "total([10000], 10) == 9000", "total([10000], 10) > 0");
}

/// A change that breaks the product alone.
fn broken(server: &Server) {
    server.edit("cart.py", "(100 - discount) // 100", "100 // 100");
}
