//! A database that is far away: each wait for an answer costs as much as the way there and back.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crate::store_postgres::behind;
use crate::support::postgres::Database;
use crate::support::{DONE, judge};

/// Carries a connection, and counts the client's waits for an answer.
fn carry(client: TcpStream, server: UnixStream, waits: Arc<AtomicUsize>) {
    let (mut from_client, mut to_server) =
        (client.try_clone().unwrap(), server.try_clone().unwrap());
    let (mut from_server, mut to_client) = (server, client);
    let is_answered = Arc::new(AtomicBool::new(true));
    let answered = is_answered.clone();
    thread::spawn(move || {
        let mut bytes = [0; 1 << 16];
        while let Ok(count @ 1..) = from_server.read(&mut bytes) {
            answered.store(true, Ordering::SeqCst);
            if to_client.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
    });
    thread::spawn(move || {
        let mut bytes = [0; 1 << 16];
        while let Ok(count @ 1..) = from_client.read(&mut bytes) {
            // Nobody waits for the end of a view.
            let is_end = &bytes[5..count.max(5)] == b"ROLLBACK\0";
            if !is_end && is_answered.swap(false, Ordering::SeqCst) {
                waits.fetch_add(1, Ordering::SeqCst);
            }
            if to_server.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
    });
}

#[test]
fn a_check_waits_for_few_answers() {
    let Some(database) = Database::new() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let Some((socket, url)) = behind(&database, &listener) else { return };
    let waits = Arc::<AtomicUsize>::default();
    let counted = waits.clone();
    thread::spawn(move || {
        for client in listener.incoming().map(Result::unwrap) {
            carry(client, UnixStream::connect(&socket).unwrap(), counted.clone());
        }
    });
    // The first one makes the tables.
    let ran = judge("check out.log --run r --json", DONE)
        .settings("[project]\nid = \"shop\"\n[checks.tests]\ncommand = [\"true\"]\n")
        .env("GATE_DATABASE_URL", &url)
        .code(0);
    let check = |words: &str| {
        waits.store(0, Ordering::SeqCst);
        let output = ran.beside(words).env("GATE_DATABASE_URL", &url).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        waits.load(Ordering::SeqCst)
    };
    // Three of them are the request for TLS, the greeting and the password.
    let without_number = check("check out.log --run r --json");
    let with_number = check("check out.log --run r --iteration 7 --json");
    assert!(without_number <= 3 + 6 && with_number <= 3 + 7, "{without_number}, {with_number}");
}
