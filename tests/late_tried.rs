//! Tests that outlive a deadline go on as they are tried: with a control, and held
//! against the baseline.

use std::fs;

use gate_checks::Wanted;
use gate_checks::baseline::Baseline;
use gate_core::decide::evidence::Outcome;

use crate::needs::needs;
use crate::support::bed::{Bed, LONG, SHORT, soon};

#[test]
fn tests_go_on_with_a_control_and_the_baseline() {
    if !needs("pytest") {
        return;
    }
    let mut bed = Bed::new("exit 0");
    let go = bed.path("go");
    let test = format!(
        "import os, time\n\n\ndef test_a():\n    while not os.path.exists('{}'):\n        \
         time.sleep(0.05)\n\n\ndef test_b():\n    pass\n",
        go.display()
    );
    fs::write(bed.path("tree/test_a.py"), &test).unwrap();
    bed.git("add -A");
    bed.git("-c user.name=a -c user.email=a commit -qm b");
    bed.settings =
        "[checks.slow]\ncommand = [\"python3\", \"-m\", \"pytest\", \"-q\"]\n".to_owned();
    let baseline = Baseline::of_history(&bed.site, "2026-01-01T00:00:00Z").unwrap();
    // In the sources of nobody: a hook that leaves a test out.
    let hook = "def pytest_collection_modifyitems(items):\n    items.pop()\n";
    fs::write(bed.path("tree/conftest.py"), hook).unwrap();
    let one = |deadline| {
        let wanted = Wanted { deadline, baseline: baseline.clone(), ..Wanted::default() };
        bed.gather(&wanted).remove(0)
    };
    let record = one(SHORT);
    assert!(record.running, "{record:?}");
    bed.go();
    soon(|| !bed.kept(".json").is_empty());
    let record = one(LONG);
    assert_ne!(record.outcome, Outcome::Pass, "{record:?}");
    assert!(record.summary.contains("it ran on a copy of the tree"), "{record:?}");
    fs::remove_file(bed.path("tree/conftest.py")).unwrap();
    let record = one(LONG);
    assert_eq!(record.outcome, Outcome::Pass, "{record:?}");
    let tests = &record.detail.unwrap()["tests"];
    assert_eq!(tests["control"], "failed-as-it-must");
    assert_eq!(tests["baseline"]["passed"], 2);
}
