//! Reports that say something else than the exit code, and reports that are
//! demanded.

use crate::runners::comes_to;
use crate::support::{DONE, Run, judge};

/// A command that prints a report and ends with a code.
fn prints(report: &str, code: i32) -> Run {
    let script = format!("cat report; exit {code}");
    let settings = format!("[checks.tests]\nshell = true\ncommand = [\"{script}\"]\n");
    judge("check --json out.log", DONE).settings(&settings).file("report", report)
}

#[test]
fn a_report_outweighs_the_exit_code() {
    let red = "TAP version 14\n1..2\nok 1 - adds\nnot ok 2 - takes\n";
    comes_to(prints(red, 0), "fail", "takes");
    comes_to(prints(red, 1), "fail", "takes");
    comes_to(prints("TAP version 14\n1..2\nok 1 - adds\n", 0), "inconclusive", "");
    comes_to(prints("TAP version 14\n1..1\nok 1 - adds\n", 3), "fail", "3");
    comes_to(prints("TAP version 14\n1..1\nok 1 - adds\n", 0), "pass", "1");
    comes_to(prints("\nrunning 2 tests\ntest adds ... ok\n", 0), "inconclusive", "");
    comes_to(
        prints(
            "\nrunning 1 test\ntest adds ... FAILED\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
            0,
        ),
        "fail",
        "adds",
    );
    comes_to(
        prints("TAP version 14\n1..1\n\u{1b}[31mnot ok\u{1b}[0m 1 - ad\u{202e}ds\u{7}\n", 1),
        "fail",
        "adds",
    );
}

#[test]
fn a_demanded_report_has_to_come() {
    let settings = "[checks.tests]\ncommand = [\"true\"]\nreport = \"junit\"\n";
    let run = judge("check --json out.log", DONE).settings(settings);
    comes_to(run, "inconclusive", "");
    let xml = "<testsuites><testsuite name='s' tests='1'><testcase classname='s' name='adds'/></testsuite></testsuites>";
    let settings =
        "[checks.tests]\ncommand = [\"cp\", \"report.xml\", \"{report}\"]\nreport = \"junit\"\n";
    let run =
        |xml: &str| judge("check --json out.log", DONE).settings(settings).file("report.xml", xml);
    comes_to(run(xml), "pass", "1");
    comes_to(
        run(&xml.replace("/></testsuite>", "><failure/></testcase></testsuite>")),
        "fail",
        "adds",
    );
    comes_to(run(&xml.replace("tests='1'", "tests='2'")), "inconclusive", "");
    comes_to(run(&xml[..60]), "inconclusive", "");
    let settings = "[checks.tests]\ncommand = [\"true\"]\nreport = \"jnuit\"\n";
    judge("check out.log", DONE).settings(settings).code(2).tells("junit");
}
