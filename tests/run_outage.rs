//! `gate run` whose database does not answer for a while.

use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::store_postgres::{behind, forward};
use crate::support::gate;
use crate::support::postgres::Database;

/// A way to a database that can be closed, and opened again.
struct Way {
    is_open: Arc<AtomicBool>,
    connections: Arc<Mutex<Vec<TcpStream>>>,
    url: String,
}

impl Way {
    fn to(database: &Database) -> Option<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (socket, url) = behind(database, &listener)?;
        let is_open = Arc::new(AtomicBool::new(true));
        let connections = Arc::<Mutex<Vec<TcpStream>>>::default();
        let (open, kept) = (is_open.clone(), connections.clone());
        thread::spawn(move || {
            for client in listener.incoming().map(Result::unwrap) {
                if open.load(Ordering::SeqCst) {
                    kept.lock().unwrap().push(client.try_clone().unwrap());
                    let server = UnixStream::connect(&socket).unwrap();
                    forward(client, server, None, Arc::default());
                }
            }
        });
        Some(Self { is_open, connections, url })
    }

    fn close(&self) {
        self.is_open.store(false, Ordering::SeqCst);
        for connection in self.connections.lock().unwrap().drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }

    fn open(&self) {
        self.is_open.store(true, Ordering::SeqCst);
    }
}

/// Says that it works, and ends when the way is closed.
const AGENT: &str = "#!/bin/sh
cat >/dev/null
touch works
until test -e closed; do sleep 0.02; done
printf 'All tasks are completed.\\n\\nEXIT_STATUS: COMPLETE\\nEXIT_REASON: done\\n'
";

#[test]
fn the_agents_finished_work_is_decided_when_the_database_is_back() {
    let Some(database) = Database::new() else { return };
    let Some(way) = Way::to(&database) else { return };
    let run = gate("run --task t1 --prompt PROMPT.md --json -- ./agent.sh")
        .settings("[project]\nid = \"shop\"\n[checks.tests]\ncommand = [\"true\"]\n")
        .file("PROMPT.md", "Mend it.\n")
        .file(".gitignore", "works\nclosed\n")
        .script("agent.sh", AGENT)
        .committed()
        .env("GATE_DATABASE_URL", &way.url)
        // Shorter than the outage: only a loop waits longer.
        .env("GATE_STORE_PATIENCE", "1s");
    let (works, closed) = (run.at("works"), run.at("closed"));
    let ran = thread::scope(|scope| {
        scope.spawn(|| {
            while !works.exists() {
                thread::sleep(Duration::from_millis(20));
            }
            way.close();
            std::fs::write(closed, "").unwrap();
            thread::sleep(Duration::from_secs(6));
            way.open();
        });
        run.code(0)
    });
    let end = ran.json();
    assert_eq!((&end["stopped_by"], &end["iterations"]), (&"completed".into(), &1.into()), "{end}");
    assert!(ran.stderr.contains("the loop waits for the store, at most 6h"), "{}", ran.stderr);
}
