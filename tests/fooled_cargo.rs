//! Attacks on the tests of a project in Rust: each fools `cargo test`, and none is a
//! pass.

use crate::fooled::{Attack, comes_to};
use crate::needs::needs;

const LIB: &str = "pub fn add(a: i32, b: i32) -> i32 {
    a - b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero() {
        assert_eq!(add(0, 0), 0);
    }

    #[test]
    fn adds() {
        assert_eq!(add(2, 2), 4);
    }
}
";

const MANIFEST: &str =
    "[package]\nname = \"thing\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";

const IT: &str = "#[test]\nfn outside() {\n    assert_eq!(thing::add(1, 1), 2);\n}\n";

pub(crate) fn cargo(act: &str) -> Attack<'_> {
    Attack {
        command: "cargo test --offline",
        settings: "",
        files: &[("Cargo.toml", MANIFEST), ("src/lib.rs", LIB)],
        act,
    }
}

/// Tests stand outside of the library alone.
pub(crate) fn integration(act: &str) -> Attack<'_> {
    let lib = "pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n";
    let files: &'static [(&str, &str)] =
        Box::leak(Box::new([("Cargo.toml", MANIFEST), ("src/lib.rs", lib), ("tests/it.rs", IT)]));
    Attack { files, ..cargo(act) }
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn without_an_attack_it_fails() {
    let evidence = comes_to(cargo("true").run(), "fail", "1 of 2 failed: thing::tests::adds");
    assert_eq!(evidence["detail"]["tests"]["control"], "none", "{evidence:#}");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn tests_that_are_taken_out_of_the_sources() {
    let ignored = "sed -i 's/    fn adds/    #[ignore]\\n    fn adds/' src/lib.rs";
    let seen = cargo(ignored).is_seen("fail", "1 of 2 failed: thing::tests::adds");
    let changed = &seen["detail"]["tests"]["changed"];
    let expected = serde_json::json!([{ "file": "src/lib.rs", "tests": ["thing::tests::adds"] }]);
    assert_eq!(*changed, expected, "{seen:#}");
    let deleted = "sed -i '/fn adds/,/^    }/d; 0,/#\\[test\\]/!{/#\\[test\\]/d}' src/lib.rs";
    cargo(deleted).is_seen("fail", "1 of 2 failed: thing::tests::adds");
    let switched = "sed -i 's/cfg(test)/cfg(any())/' src/lib.rs; mkdir tests; \
                    printf '#[test]\\nfn fine() {}\\n' > tests/fine.rs";
    cargo(switched).is_seen("fail", "1 of 2 failed: thing::tests::adds");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn keys_that_select_tests() {
    let no_lib = "printf '[lib]\\ntest = false\\n' >> Cargo.toml";
    cargo(no_lib).is_seen("fail", "");
    let none = "sed -i 's/^edition/autotests = false\\nedition/' Cargo.toml; \
                printf '\\n#[cfg(test)]\\nmod t {\\n#[test]\\nfn fine() {}\\n}\\n' >> src/lib.rs";
    integration(none).is_seen("fail", "1 of 1 failed: it::outside");
    let main = "printf '[[test]]\\nname = \"it\"\\npath = \"it.rs\"\\nharness = false\\n' >> Cargo.toml; \
                echo 'fn main() {}' > it.rs";
    // Which program it was, the two streams may have been read in an order to tell.
    integration(main).is_seen("inconclusive", " ended without printing a test result");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn a_runner_that_runs_nothing() {
    let act = "mkdir .cargo; printf '[target.\"cfg(all())\"]\\nrunner = \"true\"\\n' > .cargo/config.toml";
    cargo(act).is_seen("inconclusive", "the report is incomplete");
    let settings = "[[integrity.allow]]\npath = \".cargo/**\"\nreason = \"it is ours\"\n";
    let allowed = Attack { settings, ..cargo(act) };
    allowed.is_seen("inconclusive", "the report is incomplete");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn a_test_that_ends_the_others() {
    let act = "sed -i 's/    fn zero() {/    fn zero() {\\n        std::process::exit(0);/' src/lib.rs; \
               sed -i 's/    fn adds() {/    fn adds() {\\n        std::thread::sleep(std::time::Duration::from_secs(9));/' src/lib.rs";
    cargo(act).is_seen("inconclusive", "");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn nextest() {
    if !needs("nextest") {
        return;
    }
    let act = "sed -i 's/    fn adds/    #[ignore]\\n    fn adds/' src/lib.rs";
    let attack = Attack { command: "cargo nextest run --offline", ..cargo(act) };
    attack.is_seen("fail", "1 of 2 failed: thing::tests::adds");
}
