//! Tests that move together with what they test.

use serde_json::Value;

use crate::fooled::{Attack, comes_to};
use crate::fooled_cargo::cargo;
use crate::needs::needs;

/// The tests of a module that was moved, with `act` after it.
fn moved(act: &str) -> String {
    format!(
        "sed 's/a - b/a + b/' src/lib.rs > src/sums.rs; \
         printf 'mod sums;\\npub use sums::add;\\n' > src/lib.rs; {act}"
    )
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn tests_move_with_their_module() {
    let whole = moved("true");
    let evidence = comes_to(cargo(&whole).run(), "pass", "2 passed");
    assert_eq!(evidence["detail"]["tests"]["baseline"]["missing"], Value::from([0; 0]));
    // The old text of a weaker test passes on a product that is right.
    let weaker = moved("sed -i 's/add(2, 2), 4/4, 4/' src/sums.rs");
    comes_to(cargo(&weaker).run(), "pass", "2 passed");
    let wrong = moved("sed -i 's/a + b/a - b/; s/add(2, 2), 4/4, 4/' src/sums.rs");
    comes_to(cargo(&wrong).run(), "fail", "thing::tests::adds");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn tests_move_with_their_package() {
    if !needs("go") {
        return;
    }
    let files = [
        ("go.mod", "module example.com/m\n\ngo 1.20\n"),
        ("sum.go", "package sum\n\nfunc Add(a, b int) int { return a - b }\n"),
        (
            "sum_test.go",
            "package sum\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(2, 2) != 4 {\n\t\tt.Fatal()\n\t}\n}\n",
        ),
    ];
    let act = "sed -i 's/a - b/a + b/' sum.go; mkdir sum; mv sum.go sum_test.go sum/";
    let attack = Attack { command: "go test ./...", settings: "", files: &files, act };
    let evidence = comes_to(attack.run(), "pass", "1 passed");
    assert_eq!(evidence["detail"]["tests"]["baseline"]["moved"][0], "example.com/m.TestAdd");
}
