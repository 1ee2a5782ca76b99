//! A disk that is full, that fails, or that cannot be written: nothing is
//! decided, and what was recorded before is still there.
#![cfg(target_os = "linux")]

use serde_json::Value;

use crate::needs::needs;
use crate::support::{Fault, GATE, Ran, Run, STOP, UNDONE, judge, stride};

/// A loop in which one decision was made, and which no breaker ends.
fn begun() -> Ran {
    let settings = "[breaker]\nno_exit = 0\nno_progress = 0\n";
    judge("check out.log --run r", UNDONE).settings(settings).code(1)
}

/// The failure of a gate that decided nothing: one object, one message.
#[track_caller]
fn failure(stdout: &str, stderr: &str) -> Value {
    let failure: Value = serde_json::from_str(stdout).expect(stdout);
    let said = (&failure["schema"], &failure["exit_code"]);
    assert_eq!(said, (&"gate.error.v1".into(), &5.into()), "{failure}");
    let (message, hint) = (&failure["message"], &failure["hint"]);
    let said = |value: &Value| value.as_str().expect("text").to_owned();
    assert_eq!(stderr, format!("{STOP}{}\n  hint: {}\n", said(message), said(hint)));
    failure
}

/// A loop on a disk with faults.
struct Loop {
    ran: Ran,
    /// How many decisions are recorded.
    recorded: u64,
}

impl Loop {
    /// The next decision meets this fault, and is asked for again. The code of
    /// the failure, if it met it.
    fn decided(self, fault: &Fault<'_>) -> (Self, Option<String>) {
        let (before, number) = (self.recorded, self.recorded + 1);
        let at = format!("{} {} {}", fault.call, fault.how, fault.time);
        let asked = format!("check out.log --run r --iteration {number} --json");
        let ran = self.ran.again(&asked).under(fault.words()).run();
        let code = match ran.ended() {
            Some(5) => Some(failure(&ran.stdout, &ran.stderr)["code"].as_str().unwrap().to_owned()),
            ended => {
                assert_eq!(ended, Some(1), "{at}: {} {}", ran.stdout, ran.stderr);
                None
            }
        };
        let ran = ran.again("ledger verify --json").code(0);
        let found = ran.json()["records"].as_u64().unwrap();
        match code.as_deref() {
            None => assert_eq!(found, number, "{at}"),
            Some("state-unwritable") => assert_eq!(found, before, "{at}"),
            Some("state-uncertain") => assert!(found == before || found == number, "{at}"),
            Some(other) => panic!("{at}: {other}"),
        }
        let ran = ran.again(&asked).code(1);
        assert_eq!(ran.json()["repeated"], found == number, "{at}");
        assert_eq!(ran.json()["ledger"]["seq"], number, "{at}");
        (Self { ran, recorded: number }, code)
    }
}

/// Puts this fault into each of these calls about what gate keeps, once and
/// from then on. Returns the codes of the failures.
fn met(how: &str, calls: &[&str]) -> Vec<String> {
    let mut turn = Loop { ran: begun(), recorded: 1 };
    let (about, mut codes) = (turn.ran.places(), Vec::new());
    for (call, lasting) in calls.iter().flat_map(|call| [(call, ""), (call, "+")]) {
        // What is not met three times in a row is not called any more.
        let mut unmet = 0;
        for time in (1..).step_by(stride()) {
            let fault = Fault { call, how, time: format!("{time}{lasting}"), about: &about };
            let code;
            (turn, code) = turn.decided(&fault);
            unmet = if code.is_none() { unmet + 1 } else { 0 };
            codes.extend(code);
            if unmet == 3 {
                break;
            }
        }
    }
    codes
}

#[test]
fn a_disk_that_is_full_at_any_write_loses_nothing() {
    if needs("strace") {
        let codes = met("error=ENOSPC", &["pwrite64", "ftruncate"]);
        assert!(codes.len() * stride() > 40, "{codes:?}");
        assert!(codes.iter().all(|code| code == "state-unwritable"), "{codes:?}");
    }
}

#[test]
fn a_disk_that_fails_at_any_time_loses_nothing() {
    if needs("strace") {
        let codes = met("error=EIO", &["pwrite64", "fsync", "mmap"]);
        assert!(codes.len() * stride() > 40, "{codes:?}");
        // Who was not told that it is on the disk may still find it there.
        assert!(codes.iter().any(|code| code == "state-uncertain"), "{codes:?}");
    }
}

#[test]
fn a_folder_that_cannot_be_written_decides_nothing() {
    if needs("strace") {
        for how in ["error=EROFS", "error=EACCES", "error=EMFILE"] {
            let codes = met(how, &["openat"]);
            assert!(codes.len() > 2, "{how}: {codes:?}");
        }
    }
}

#[test]
fn a_verdict_that_nobody_could_read_is_kept() {
    let asked = "check out.log --run r --iteration 2 --json";
    let ran = begun().again(asked).stdout_to("/dev/full").code(5).stops();
    let ran = ran.tells("cannot write the answer").again(asked).code(1);
    assert_eq!((&ran.json()["repeated"], &ran.json()["ledger"]["seq"]), (&true.into(), &2.into()));
}

/// What happens in a state folder of its own, on a file system of its own.
fn with_state(script: &str) -> Run {
    let script = format!(
        "gate=$1; state=$HOME/.local/state/gate; mkdir -p \"$state\"\n\
         check() {{ code=0; \"$gate\" check out.log --run r --json >answer 2>said || code=$?; }}\n\
         {script}"
    );
    let words = ["-rm", "sh", "-euc", &script, "sh", GATE];
    Run::new("unshare").args(words).file("out.log", UNDONE)
}

#[test]
fn a_full_disk_is_told_once_it_is_full() {
    if !needs("namespaces") {
        return;
    }
    let ran = with_state(
        "mount -t tmpfs -o size=192k,mode=700 tmpfs \"$state\"; count=0; check\n\
         while [ $code = 1 ]; do count=$((count + 1)); [ $count -lt 99 ]; check; done\n\
         echo $count $code >came; cp answer failure; cp said failed\n\
         mount -o remount,size=2m \"$state\"\n\
         \"$gate\" ledger verify --json >verified\n\
         check; echo $code >>came; \"$gate\" breaker status",
    );
    let ran = ran.settings("[breaker]\nno_exit = 0\nno_progress = 0\n").code(0).says("READY");
    let came = ran.file("came");
    let [count, full, later] = came.split_whitespace().collect::<Vec<_>>()[..] else {
        panic!("{came}")
    };
    assert_eq!((full, later), ("5", "1"));
    assert_eq!(failure(&ran.file("failure"), &ran.file("failed"))["code"], "state-unwritable");
    let verified: Value = serde_json::from_str(&ran.file("verified")).unwrap();
    assert_eq!(verified["records"], count.parse::<u64>().unwrap());
    let decision: Value = serde_json::from_str(&ran.file("answer")).unwrap();
    assert_eq!(decision["ledger"]["seq"], count.parse::<u64>().unwrap() + 1);
}

#[test]
fn a_read_only_folder_is_told() {
    if !needs("namespaces") {
        return;
    }
    // What is there can still be read.
    let read = "\"$gate\" log; \"$gate\" ledger verify; \"$gate\" breaker status";
    for (begins, reads) in [("", ""), ("check; [ $code = 1 ]", read)] {
        let ran = with_state(&format!(
            "{begins}\n\
             mount --bind \"$state\" \"$state\"; mount -o remount,bind,ro \"$state\"\n\
             check; [ $code = 5 ]; cp answer failure; cp said failed; {reads}\n\
             umount \"$state\"; check; [ $code = 1 ]; \"$gate\" ledger verify"
        ));
        let ran = ran.code(0).says("HOLDS");
        let failure = failure(&ran.file("failure"), &ran.file("failed"));
        assert_eq!(failure["code"], "state-unwritable", "{begins}");
    }
}
