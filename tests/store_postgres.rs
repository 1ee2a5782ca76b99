//! The store of a fleet: rights, a silent database, and one that is lost in the middle.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use gate_cli::store::{DatabaseUrl, Place, Store, StoreError};

use crate::support::postgres::{Database, is_built};
use crate::support::shelf::{PATIENCE, Shelf, append, chain, decision, head, look, work};

fn open(url: &str, patience: Duration) -> Store {
    Store::open(&Place::Database(url.parse().unwrap()), None, patience).unwrap()
}

/// A role that may log in and nothing more, named after the database.
fn role(shelf: &Shelf, grants: &str) -> Store {
    let session = shelf.database().session();
    let name = format!("{}_role", session.run("SELECT current_database()")[0]);
    session.run(&format!("CREATE ROLE {name} LOGIN PASSWORD 'limited'"));
    session.run(&grants.replace("ROLE", &name));
    open(&shelf.database().url_as(&name, "limited"), PATIENCE)
}

#[test]
fn who_may_select_and_insert_may_do_all_that_a_fleet_does() {
    let Some(shelf) = Shelf::postgres() else { return };
    append(&mut shelf.open(), decision("a", 1)).unwrap();
    let mut limited = role(&shelf, "GRANT SELECT, INSERT ON ledger, policies TO ROLE");
    append(&mut limited, decision("a", 2)).unwrap();
    for _ in 0..2 {
        work(&mut limited, |transaction| transaction.keep_policy("d", "text")).unwrap();
    }
    let latest = look(&mut limited, |view| view.latest_of_loop("a")).unwrap();
    let policy = look(&mut limited, |view| view.policy("d")).unwrap();
    assert_eq!((latest.unwrap().record.seq, policy.as_deref()), (2, Some("text")));
    assert!(matches!(limited.renew("shop"), Err(StoreError::Refused { .. })));
    assert_eq!(chain(&mut limited).len(), 2);
}

#[test]
fn who_may_not_create_tables_is_told_who_may() {
    let Some(shelf) = Shelf::postgres() else { return };
    shelf.run("REVOKE CREATE ON SCHEMA public FROM PUBLIC");
    let mut limited = role(&shelf, "SELECT 1");
    assert_eq!(head(&mut limited).unwrap().seq, 0);
    let refused = append(&mut limited, decision("a", 1)).unwrap_err();
    assert!(matches!(refused, StoreError::Refused { .. }), "{refused}");
    assert!(refused.to_string().contains("owner of the database"), "{refused}");
}

#[test]
fn no_message_holds_a_password() {
    let Some(shelf) = Shelf::postgres() else { return };
    let url = shelf.database().url_as("nobody_here", "not-the-password");
    let refused = append(&mut open(&url, PATIENCE), decision("a", 1)).unwrap_err();
    assert!(matches!(refused, StoreError::Refused { .. }), "{refused}");
    let absent = "postgres://somebody:not-the-password@%2Fnowhere/shop";
    let unreachable =
        append(&mut open(absent, Duration::from_millis(600)), decision("a", 1)).unwrap_err();
    assert!(matches!(unreachable, StoreError::Unreachable { .. }), "{unreachable}");
    let store = open(&url, PATIENCE);
    let place = Place::Database(url.parse().unwrap());
    let texts = format!(
        "{refused} {refused:?} {unreachable} {unreachable:?} {store:?} {place:?} {}",
        store.place()
    );
    for secret in ["not-the-password", "nobody_here", "somebody", "@"] {
        assert!(!texts.contains(secret), "{texts}");
    }
}

#[test]
fn an_address_that_cannot_be_used_says_why() {
    if !is_built() {
        return;
    }
    let reason = |text: &str| text.parse::<DatabaseUrl>().unwrap_err().to_string();
    for text in ["", "shop", "mysql://u:secret@h/db", "postgres://u:secret@h:port/db"] {
        let reason = reason(text);
        assert!(!reason.contains("sec") && reason.contains("the database's address"), "{reason}");
    }
    let url: DatabaseUrl = " postgres://u:secret@h,i:6000/db?connect_timeout=3\n".parse().unwrap();
    assert_eq!(url.to_string(), "postgres://h:5432,i:6000/db");
}

#[test]
fn a_server_that_says_nothing_is_given_up() {
    if !is_built() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let url = format!("postgres://u:p@127.0.0.1:{port}/shop");
    let silent = head(&mut open(&url, Duration::from_millis(300)));
    assert!(matches!(silent, Err(StoreError::Unreachable { .. })), "{silent:?}");
}

#[test]
fn a_connection_that_broke_while_nobody_used_it_is_made_again() {
    let Some(shelf) = Shelf::postgres() else { return };
    let mut store = shelf.open();
    append(&mut store, decision("a", 1)).unwrap();
    shelf.run(END);
    append(&mut store, decision("a", 2)).unwrap();
    assert_eq!(chain(&mut store).len(), 2);
}

/// Ends gate's connections, as an operator may.
const END: &str = "SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity \
                   WHERE datname = current_database() AND application_name = 'gate'";

#[test]
fn a_connection_that_breaks_in_the_middle_is_an_error_and_keeps_nothing() {
    let Some(shelf) = Shelf::postgres() else { return };
    let mut store = shelf.open();
    append(&mut store, decision("a", 1)).unwrap();
    let mut transaction = store.begin("shop").unwrap();
    transaction.append(decision("a", 2)).unwrap();
    shelf.run(END);
    let broken = transaction.append(decision("a", 3));
    assert!(matches!(broken, Err(StoreError::Unreachable { .. })), "{broken:?}");
    drop(transaction);
    assert_eq!(chain(&mut store).len(), 1);
}

/// The place at which a proxy breaks the line.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Cut {
    /// Before the server gets the statement.
    Before,
    /// Before its answer comes back.
    After,
    /// As PgBouncer does that has lost the server.
    Answered,
}

/// The statement that ends a transaction.
const COMMIT: &str = "COMMIT\0";

/// A proxy to the server that breaks the line at so many commits, from the first on.
pub(crate) fn proxy(
    database: &Database,
    listener: TcpListener,
    (cut, times): (Option<Cut>, usize),
) -> Option<String> {
    proxy_at(database, listener, (cut.map(|cut| (cut, COMMIT)), times))
}

/// A proxy that breaks the line at so many statements with these words, from the first on.
pub(crate) fn proxy_at(
    database: &Database,
    listener: TcpListener,
    (cut, times): (Option<(Cut, &'static str)>, usize),
) -> Option<String> {
    let (socket, url) = behind(database, &listener)?;
    let remaining_cuts = Arc::new(AtomicUsize::new(times));
    thread::spawn(move || {
        for client in listener.incoming() {
            let (client, server) = (client.unwrap(), UnixStream::connect(&socket).unwrap());
            forward(client, server, cut, remaining_cuts.clone());
        }
    });
    Some(url)
}

/// The error that PgBouncer answers with.
const CRASHED: &[u8] = b"E\0\0\0\x30SFATAL\0VFATAL\0C08P01\0Mserver conn crashed?\0\0";

/// The socket of a database, and its address behind a listener; `None` without a local socket.
pub(crate) fn behind(database: &Database, listener: &TcpListener) -> Option<(PathBuf, String)> {
    let (user, host_and_name) = database.url.split_once('@')?;
    let (host, name) = host_and_name.split_once('/')?;
    let socket = PathBuf::from(host.replace("%2F", "/")).join(".s.PGSQL.5432");
    let port = listener.local_addr().unwrap().port();
    socket.exists().then(|| (socket, format!("{user}@127.0.0.1:{port}/{name}")))
}

pub(crate) fn forward(
    client: TcpStream,
    server: UnixStream,
    cut: Option<(Cut, &'static str)>,
    remaining_cuts: Arc<AtomicUsize>,
) {
    let (mut from_client, mut to_server) =
        (client.try_clone().unwrap(), server.try_clone().unwrap());
    let (mut from_server, mut to_client) = (server, client);
    thread::spawn(move || std::io::copy(&mut from_server, &mut to_client));
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = from_client.read(&mut bytes) {
            let has_words = |words: &str| {
                bytes[..count].windows(words.len()).any(|part| part == words.as_bytes())
            };
            let take_one = |number: usize| number.checked_sub(1);
            let order = Ordering::SeqCst;
            let cut = cut
                .filter(|(_, words)| has_words(words))
                .filter(|_| remaining_cuts.fetch_update(order, order, take_one).is_ok());
            if cut.is_some_and(|(cut, _)| cut == Cut::Answered) {
                let _ = from_client.write_all(CRASHED);
            }
            if cut.is_some() {
                let _ = from_client.shutdown(Shutdown::Both);
            }
            let is_kept_back = cut.is_some_and(|(cut, _)| cut == Cut::Before);
            if !is_kept_back && to_server.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        let _ = to_server.shutdown(Shutdown::Write);
    });
}

#[test]
fn a_commit_without_an_answer_is_looked_for() {
    for cut in [Cut::Before, Cut::After, Cut::Answered] {
        let Some(shelf) = Shelf::postgres() else { return };
        append(&mut shelf.open(), decision("a", 1)).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let Some(url) = proxy(shelf.database(), listener, (Some(cut), usize::MAX)) else { return };
        let place = Place::Database(url.parse().unwrap());
        let store = &mut Store::open(&place, Some(shelf.heads()), PATIENCE).unwrap();
        let appended = append(store, decision("a", 2));
        let records = chain(&mut shelf.open());
        assert_eq!(shelf.heads().exists(), cut != Cut::Before);
        if cut == Cut::Before {
            assert!(matches!(appended, Err(StoreError::Unreachable { .. })), "{appended:?}");
            assert_eq!(records.len(), 1);
        } else {
            assert_eq!(records[1..], [appended.unwrap()]);
        }
    }
}

#[test]
fn a_commit_that_nobody_can_look_for_is_uncertain() {
    let Some(shelf) = Shelf::postgres() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let Some((socket, url)) = behind(shelf.database(), &listener) else { return };
    thread::spawn(move || {
        let (client, _) = listener.accept().unwrap();
        drop(listener);
        let server = UnixStream::connect(socket).unwrap();
        forward(client, server, Some((Cut::After, COMMIT)), Arc::new(AtomicUsize::new(1)));
    });
    let uncertain = append(&mut open(&url, Duration::from_millis(1_500)), decision("a", 2));
    assert!(matches!(uncertain, Err(StoreError::Uncertain { .. })), "{uncertain:?}");
    assert!(uncertain.unwrap_err().to_string().contains("the commit's outcome is unknown"));
}

#[test]
fn a_server_that_starts_late_is_waited_for() {
    let Some(shelf) = Shelf::postgres() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let other_listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let Some(url) = proxy(shelf.database(), other_listener, (None, 0)) else { return };
    drop(listener);
    let (user, _) = url.rsplit_once('@').unwrap();
    let (_, name) = url.rsplit_once('/').unwrap();
    let url = format!("{user}@{address}/{name}");
    thread::scope(|scope| {
        let waiting = scope.spawn(|| append(&mut open(&url, PATIENCE), decision("a", 1)));
        thread::sleep(Duration::from_millis(400));
        proxy(shelf.database(), TcpListener::bind(address).unwrap(), (None, 0)).unwrap();
        waiting.join().unwrap().unwrap();
    });
}

#[test]
fn a_commit_waits_for_the_disk_whatever_the_database_is_set_to() {
    let Some(shelf) = Shelf::postgres() else { return };
    append(&mut shelf.open(), decision("a", 1)).unwrap();
    let session = shelf.database().session();
    let database = &session.run("SELECT current_database()")[0];
    session.run(&format!("ALTER DATABASE {database} SET synchronous_commit = off"));
    session.run(
        "CREATE TABLE seen (setting TEXT);
         CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             INSERT INTO seen VALUES (current_setting('synchronous_commit')); RETURN NEW; END $$;
         CREATE TRIGGER see BEFORE INSERT ON ledger FOR EACH ROW EXECUTE FUNCTION see()",
    );
    append(&mut shelf.open(), decision("a", 2)).unwrap();
    assert_eq!(session.run("SELECT setting FROM seen"), ["on"]);
}

#[test]
fn a_search_path_makes_another_store() {
    let Some(shelf) = Shelf::postgres() else { return };
    shelf.run("CREATE SCHEMA apart");
    let url = &shelf.database().url;
    let mark = if url.contains('?') { '&' } else { '?' };
    let mut apart = open(&format!("{url}{mark}options=-c%20search_path%3Dapart"), PATIENCE);
    append(&mut shelf.open(), decision("a", 1)).unwrap();
    assert_eq!(head(&mut apart).unwrap().seq, 0);
    append(&mut apart, decision("a", 1)).unwrap();
    assert_eq!(shelf.run("SELECT count(*) FROM apart.ledger"), ["1"]);
    assert_ne!(apart.place(), shelf.open().place());
}

#[cfg(not(feature = "postgres"))]
#[test]
fn without_the_feature_a_database_is_refused_and_the_message_says_what_to_do() {
    use crate::support::judge;
    for variable in ["GATE_DATABASE_URL", "GATE_DATABASE_URL_FILE"] {
        let run = judge("check --json out.log", "EXIT_STATUS: COMPLETE\n")
            .file("url", "postgres://u:secret@h/db")
            .settings("[project]\nid = \"shop\"\n");
        let value = if variable.ends_with("FILE") { "url" } else { "postgres://u:secret@h/db" };
        let ran = run.env(variable, value).code(2).stops().tells("built without PostgreSQL");
        let error = ran.tells("--features postgres").json();
        assert_eq!(error["code"], "database-unsupported", "{error}");
    }
}
