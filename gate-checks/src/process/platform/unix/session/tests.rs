//! Sessions whose supervisor is played by the test.

use super::*;

/// A session, and the supervisor's end of its socket. Its process has ended.
fn session() -> (Session, UnixStream) {
    let (link, supervisor_end) = UnixStream::pair().unwrap();
    let mut supervisor = Command::new("true").spawn().unwrap();
    supervisor.wait().unwrap();
    let session = Session {
        supervisor,
        link,
        received: Vec::new(),
        grace: Duration::ZERO,
        pid: None,
        end: None,
        has_leftovers: false,
        mark: new_mark(),
    };
    (session, supervisor_end)
}

fn ended(code: Option<i32>, signal: Option<i32>) -> JobReport {
    JobReport::Ended { code, signal, leftovers: vec!["sleep".to_owned()] }
}

const SOON: Duration = Duration::from_secs(5);

#[test]
fn a_session_ends_as_its_supervisor_reports() {
    let leftovers = vec!["sleep".to_owned()];
    for (report, fate, leftovers) in [
        (ended(Some(3), None), Fate::Exited(3), leftovers.clone()),
        (ended(None, Some(15)), Fate::Signalled(15), leftovers.clone()),
        (ended(None, None), Fate::Lost, leftovers),
        (
            JobReport::NotStarted { error: "no such file".to_owned() },
            Fate::NotStarted("no such file".to_owned()),
            Vec::new(),
        ),
    ] {
        let (mut session, mut supervisor_end) = session();
        writeln!(supervisor_end, "{}", report.to_line()).unwrap();
        assert_eq!(session.wait_for(SOON), Some(SessionEnd { fate, leftovers }), "{report:?}");
    }
}

#[test]
fn a_report_counts_once_its_line_is_whole() {
    let (mut session, mut supervisor_end) = session();
    let line = ended(Some(0), None).to_line();
    let (beginning, ending) = line.split_at(9);
    supervisor_end.write_all(format!("noise\n{beginning}").as_bytes()).unwrap();
    assert_eq!(session.wait_for(Duration::from_millis(1)), None);
    assert_eq!(session.wait_for(Duration::ZERO), None);
    supervisor_end.write_all(format!("{ending}\n").as_bytes()).unwrap();
    assert_eq!(session.wait_for(SOON).map(|end| end.fate), Some(Fate::Exited(0)));
}

#[test]
fn what_a_program_leaves_running_is_known_before_the_session_ends() {
    let (mut session, mut supervisor_end) = session();
    writeln!(supervisor_end, "{}", JobReport::Left.to_line()).unwrap();
    assert_eq!((session.wait_for(Duration::from_millis(1)), session.has_leftovers()), (None, true));
    session.end_leftovers();
    session.stop();
    let mut requests = [0; 2];
    supervisor_end.read_exact(&mut requests).unwrap();
    assert_eq!(requests, [link::END_LEFT, link::END]);
    writeln!(supervisor_end, "{}", ended(Some(0), None).to_line()).unwrap();
    assert_eq!(session.wait_for(SOON).map(|end| end.fate), Some(Fate::Exited(0)));
}

#[test]
fn a_session_whose_supervisor_is_gone_is_lost() {
    let (mut session, supervisor_end) = session();
    drop(supervisor_end);
    assert_eq!(
        session.wait_for(SOON),
        Some(SessionEnd { fate: Fate::Lost, leftovers: Vec::new() })
    );
}

#[test]
fn a_paused_session_has_a_program_only_once_it_began() {
    let began = |report: JobReport| {
        let (session, mut supervisor_end) = session();
        writeln!(supervisor_end, "{}", report.to_line()).unwrap();
        let mut session = PausedSession { session, pid: 7 }.begin();
        let mut requests = [0];
        supervisor_end.read_exact(&mut requests).unwrap();
        assert_eq!(requests, [link::BEGIN]);
        (session.pid(), session.wait_for(Duration::ZERO).map(|end| end.fate))
    };
    assert_eq!(began(JobReport::Began), (Some(7), None));
    let error = "no such file".to_owned();
    let failed = Some(Fate::NotStarted(error.clone()));
    assert_eq!(began(JobReport::NotStarted { error }), (None, failed));
}

#[test]
fn output_is_appended_to_what_a_file_holds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    for text in ["one\n", "two\n"] {
        open_to_append(&path).unwrap().write_all(text.as_bytes()).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\n");
    assert!(open_to_append(&folder.path().join("no/out")).is_err());
}
