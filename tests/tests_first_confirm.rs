//! `gate run --tests-first --confirm`: a person looks at the tests.

use crate::needs::needs;
use crate::support::Ran;
use crate::tests_first::{CODE, NEW_TEST, project, shown};

/// Answers the questions of a program at a terminal, one after another.
/// Arguments: the answers, the end of a question, the program and its arguments. The answer `^D` ends
/// the input.
pub(crate) const TERMINAL: &str = "import os, pty, sys
answers = sys.argv[1].split('|')
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[3], sys.argv[3:])
unseen = b''
while True:
    try:
        shown = os.read(terminal, 65536)
    except OSError:
        break
    unseen += shown
    sys.stdout.buffer.write(shown)
    if unseen.rstrip().endswith(sys.argv[2].encode()):
        answer = answers.pop(0)
        os.write(terminal, b'\\x04' if answer == '^D' else (answer + '\\n').encode())
        unseen = b''
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
";

fn confirmed(answers: &str, code: i32) -> Ran {
    let args = "run --task t1 --tests-first --confirm --prompt PROMPT.md -- ./agent.sh";
    let program = crate::support::GATE;
    let run = project("", &format!("{NEW_TEST}cp prompt prompt-tests\n"), CODE);
    let words = ["-c", TERMINAL, answers, "with them]", program].into_iter().chain(args.split(' '));
    run.program("python3").args(words).code(code)
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn a_person_sees_the_tests_and_agrees_refuses_or_says_what_is_wrong() {
    if !needs("pytest") {
        return;
    }
    let ran = confirmed("y", 0);
    ran.says("+    assert calc.div(7, 2) == 3").says("Lock these tests");
    let ran = confirmed("negative numbers too|y", 0);
    let prompt = ran.file("prompt-tests");
    assert!(prompt.contains("says: negative numbers too\n"), "{prompt}");
    for answer in ["", "n"] {
        let ran = confirmed(answer, 1).says("the tests were not confirmed");
        assert!(!ran.file("calc.py").contains("div"));
        assert!(!shown(&ran, "log").contains("tests locked"));
    }
}
