//! Sessions whose supervisor is played by the test.

use super::*;

/// A session, and the supervisor's end of its socket. Its process has ended.
fn session() -> (Session, UnixStream) {
    let (link, theirs) = UnixStream::pair().unwrap();
    let mut supervisor = Command::new("true").spawn().unwrap();
    supervisor.wait().unwrap();
    let session = Session {
        supervisor,
        link,
        received: Vec::new(),
        grace: Duration::ZERO,
        pid: None,
        end: None,
        is_left: false,
        mark: mark(),
    };
    (session, theirs)
}

fn ended(code: Option<i32>, signal: Option<i32>) -> JobReport {
    JobReport::Ended { code, signal, left: vec!["sleep".to_owned()] }
}

const SOON: Duration = Duration::from_secs(5);

#[test]
fn a_session_ends_as_its_supervisor_reports() {
    let left = vec!["sleep".to_owned()];
    for (report, fate, left) in [
        (ended(Some(3), None), Fate::Exited(3), left.clone()),
        (ended(None, Some(15)), Fate::Signalled(15), left.clone()),
        (ended(None, None), Fate::Lost, left),
        (
            JobReport::NotStarted { error: "no such file".to_owned() },
            Fate::NotStarted("no such file".to_owned()),
            Vec::new(),
        ),
    ] {
        let (mut session, mut theirs) = session();
        writeln!(theirs, "{}", report.line()).unwrap();
        assert_eq!(session.wait_for(SOON), Some(SessionEnd { fate, left }), "{report:?}");
    }
}

#[test]
fn a_report_counts_once_its_line_is_whole() {
    let (mut session, mut theirs) = session();
    let line = ended(Some(0), None).line();
    let (first, rest) = line.split_at(9);
    theirs.write_all(format!("noise\n{first}").as_bytes()).unwrap();
    assert_eq!(session.wait_for(Duration::from_millis(1)), None);
    assert_eq!(session.wait_for(Duration::ZERO), None);
    theirs.write_all(format!("{rest}\n").as_bytes()).unwrap();
    assert_eq!(session.wait_for(SOON).map(|end| end.fate), Some(Fate::Exited(0)));
}

#[test]
fn what_a_program_leaves_running_is_known_before_the_session_ends() {
    let (mut session, mut theirs) = session();
    writeln!(theirs, "{}", JobReport::Left.line()).unwrap();
    assert_eq!((session.wait_for(Duration::from_millis(1)), session.is_left()), (None, true));
    session.end_left();
    session.stop();
    let mut asked = [0; 2];
    theirs.read_exact(&mut asked).unwrap();
    assert_eq!(asked, [link::END_LEFT, link::END]);
    writeln!(theirs, "{}", ended(Some(0), None).line()).unwrap();
    assert_eq!(session.wait_for(SOON).map(|end| end.fate), Some(Fate::Exited(0)));
}

#[test]
fn a_session_whose_supervisor_is_gone_is_lost() {
    let (mut session, theirs) = session();
    drop(theirs);
    assert_eq!(session.wait_for(SOON), Some(SessionEnd { fate: Fate::Lost, left: Vec::new() }));
}

#[test]
fn a_paused_session_has_a_program_only_once_it_began() {
    let began = |report: JobReport| {
        let (session, mut theirs) = session();
        writeln!(theirs, "{}", report.line()).unwrap();
        let mut session = PausedSession { session, pid: 7 }.begin();
        let mut asked = [0];
        theirs.read_exact(&mut asked).unwrap();
        assert_eq!(asked, [link::BEGIN]);
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
        appended(&path).unwrap().write_all(text.as_bytes()).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\n");
    assert!(appended(&folder.path().join("no/out")).is_err());
}
