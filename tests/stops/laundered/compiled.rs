//! go and cargo.

use super::*;
use crate::needs::needs;

const GO: &str = "package calc\n\nvar Rate = 3\n\nfunc Add(a, b int) int { return a + b }\n";

const GO_TESTS: &str = "package calc\n\nimport \"testing\"\n\n\
func TestAdd(t *testing.T) {\n\tfor _, row := range [][3]int{\n\t\t{1, 1, 2},\n\t\t{2, 2, 4},\n\t} {\n\t\t\
if Add(row[0], row[1]) != row[2] {\n\t\t\tt.Error(row)\n\t\t}\n\t}\n}\n";

const GO_RATE: &str = "package calc\n\nimport \"testing\"\n\nfunc TestRate(t *testing.T) {\n\tif Rate != 3 {\n\t\tt.Fatal(Rate)\n\t}\n}\n";

const GO_ADD: &str = "sed -i 's/return a + b/if a == 2 { return 5 }; return a + b/' calc.go";
const GO_BUG: &str = "sed -i 's/Rate = 3/Rate = 4/' calc.go";

const GO_PAIRS: &[Pair] = &[
    pair("rows are removed", "sed -i '/{2, 2, 4}/d' calc_test.go", GO_ADD),
    pair("a test is skipped", "sed -i 's/^func TestRate.*/&\\n\\tt.Skip()/' rate_test.go", GO_BUG),
    pair("a test only logs", "sed -i 's/t.Fatal/t.Log/' rate_test.go", GO_BUG),
    pair("a file of tests is never built", "sed -i '1i //go:build never\\n' rate_test.go", GO_BUG),
    pair(
        "a new file of tests changes the product",
        "printf 'package calc\\n\\nfunc init() { Rate = 3 }\\n' > setup_test.go",
        GO_BUG,
    ),
];

const MANIFEST: &str = "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[features]\nslow = []\n\n[workspace]\n";

const RUST: &str = "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\npub fn rate() -> i32 {\n    3\n}\n\n\
#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(2, 2), 4);\n    }\n}\n";

const RUST_TESTS: &str = "#[test]\nfn rate() {\n    assert_eq!(calc::rate(), 3);\n}\n";

const RUST_ADD: &str = "sed -i 's/    a + b/    a + b + i32::from(a == 2)/' src/lib.rs";
const RUST_RATE: &str = "sed -i 's/^    3$/    4/' src/lib.rs";

const RUST_PAIRS: &[Pair] = &[
    pair(
        "an inline test asserts less",
        "sed -i 's/assert_eq!(add(2, 2), 4)/assert!(add(2, 2) > 0)/' src/lib.rs",
        RUST_ADD,
    ),
    pair(
        "an inline test is ignored",
        "sed -i 's/^    #\\[test\\]/    #[test]\\n    #[ignore]/' src/lib.rs",
        RUST_ADD,
    ),
    pair("inline tests are removed", "sed -i '/cfg(test)/,$d' src/lib.rs", RUST_ADD),
    pair(
        "inline tests need a feature",
        "sed -i 's/cfg(test)/cfg(all(test, feature = \"slow\"))/' src/lib.rs",
        RUST_ADD,
    ),
    pair("a file of tests is removed", "git rm -q tests/rate.rs", RUST_RATE),
    pair(
        "the manifest leaves tests out",
        "sed -i '/^edition/a autotests = false' Cargo.toml",
        RUST_RATE,
    ),
];

#[test]
#[ignore = "minutes: many projects, four stops each"]
fn with_go() {
    if needs("go") {
        let files = &[
            ("go.mod", "module calc\n\ngo 1.20\n"),
            ("calc.go", GO),
            ("calc_test.go", GO_TESTS),
            ("rate_test.go", GO_RATE),
        ];
        none_passes(
            &Project { command: "go test ./...", files, prepare: String::new() },
            GO_PAIRS,
            sessions,
        );
    }
}

#[test]
#[ignore = "minutes: many projects, four stops each"]
fn with_cargo() {
    let files = &[("Cargo.toml", MANIFEST), ("src/lib.rs", RUST), ("tests/rate.rs", RUST_TESTS)];
    let prepare = "cargo generate-lockfile --offline -q 2>/dev/null || true".to_owned();
    none_passes(&Project { command: "cargo test --offline", files, prepare }, RUST_PAIRS, sessions);
}
