//! A check whose database is far away: `gate check` over TLS with a password, through a proxy that
//! holds each byte back, beside the same through one that does not, in turns.
//! `cargo bench --bench far --features postgres` prints the table. Without PostgreSQL's programs and
//! openssl it says that it skips.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench that cannot go on fails")]

mod server;

use std::collections::VecDeque;
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use self::server::{Server, programs};

/// The time from one end to the other.
const DELAY: Duration = Duration::from_millis(10);

/// The most that a check may take longer, in milliseconds.
const BAR: f64 = 250.0;

const TURNS: usize = 11;

/// Makes a server that takes TLS and a password alone, and ends it when standard input does.
const SUPERVISOR: &str = r#"
set -eu
programs=$1
folder=$(mktemp -d "${TMPDIR:-/tmp}/gate-far.XXXXXX")
clean() { "$programs/pg_ctl" -D "$folder/data" -m immediate stop >/dev/null 2>&1 || :; rm -rf "$folder"; }
trap clean EXIT
cd "$folder"
printf sesame >password
"$programs/initdb" -D data -U gate -A scram-sha-256 --pwfile=password -E UTF8 --no-locale --no-sync >log 2>&1 </dev/null
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout data/server.key -out data/server.crt >>log 2>&1
chmod 600 data/server.key
echo 'hostssl all all 127.0.0.1/32 scram-sha-256' >data/pg_hba.conf
"$programs/pg_ctl" -D data -l log -w -o "-k $folder -p $2 -c listen_addresses=127.0.0.1 -c ssl=on" start >/dev/null 2>&1 </dev/null || { cat log >&2; exit 1; }
echo ready
cat >/dev/null
"#;

fn main() {
    let has_openssl = Command::new("openssl").arg("version").output().is_ok();
    let programs = if has_openssl { programs(&["initdb", "pg_ctl"]) } else { None };
    let Some(programs) = programs else {
        println!("SKIPPED far: there is no initdb, pg_ctl and openssl");
        return;
    };
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = Server::new(SUPERVISOR, &programs, &port.to_string());
    assert_eq!(server.line, "ready");
    let project = Project::new();
    let near = proxy(port, Duration::ZERO);
    let far = proxy(port, DELAY);
    // Makes the tables.
    project.check(near);
    let (mut close, mut distant) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        close.push(project.check(near));
        distant.push(project.check(far));
    }
    let [close, distant] = [close, distant].map(median);
    println!(
        "median of {TURNS} turns, TLS, a password, {} ms there and back",
        2 * DELAY.as_millis()
    );
    println!("  {:<44}{close:>10.1} ms", "gate check, on loopback");
    println!("  {:<44}{distant:>10.1} ms", "gate check, far away");
    println!("  {:<44}{:>10.1} ms", format!("more (bar: {BAR})"), distant - close);
}

/// A project with a transcript that goes on.
struct Project(tempfile::TempDir);

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("gate.toml"), "[project]\nid = \"shop\"\n").unwrap();
        fs::write(folder.path().join("out.log"), "I wrote the first half.\n").unwrap();
        Self(folder)
    }

    /// The milliseconds that a check takes.
    fn check(&self, port: u16) -> f64 {
        let url = format!("postgres://gate:sesame@127.0.0.1:{port}/postgres?sslmode=require");
        let mut command = Command::new(env!("CARGO_BIN_EXE_gate"));
        command.args(["check", "out.log", "--run", "far", "--json"]).current_dir(self.0.path());
        command.env_clear().env("HOME", self.0.path()).env("PATH", std::env::var("PATH").unwrap());
        let began = Instant::now();
        let output = command.env("GATE_DATABASE_URL", url).output().unwrap();
        let took = began.elapsed().as_secs_f64() * 1e3;
        assert!(matches!(output.status.code(), Some(1 | 3)), "{output:?}");
        took
    }
}

/// A proxy that passes each byte on after this time.
fn proxy(to: u16, delay: Duration) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for client in listener.incoming().map(Result::unwrap) {
            let server = TcpStream::connect(("127.0.0.1", to)).unwrap();
            for stream in [&client, &server] {
                stream.set_nodelay(true).unwrap();
            }
            // The connection itself takes a way there and back.
            thread::sleep(delay * 2);
            let other = (server.try_clone().unwrap(), client.try_clone().unwrap());
            carry(client, server, delay);
            carry(other.0, other.1, delay);
        }
    });
    port
}

/// The bytes on their way, each with its arrival.
type Way = (Mutex<VecDeque<(Instant, Vec<u8>)>>, Condvar);

fn carry(mut from: TcpStream, mut to: TcpStream, delay: Duration) {
    let way = Arc::<Way>::default();
    let sent = way.clone();
    thread::spawn(move || {
        let mut bytes = [0; 1 << 16];
        loop {
            let count = from.read(&mut bytes).unwrap_or(0);
            sent.0.lock().unwrap().push_back((Instant::now() + delay, bytes[..count].to_vec()));
            sent.1.notify_one();
            if count == 0 {
                return;
            }
        }
    });
    thread::spawn(move || {
        loop {
            let mut waiting = way.0.lock().unwrap();
            while waiting.is_empty() {
                waiting = way.1.wait(waiting).unwrap();
            }
            let (arrival, bytes) = waiting.pop_front().unwrap();
            drop(waiting);
            thread::sleep(arrival.saturating_duration_since(Instant::now()));
            if bytes.is_empty() || to.write_all(&bytes).is_err() {
                let _ = to.shutdown(Shutdown::Both);
                return;
            }
        }
    });
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
