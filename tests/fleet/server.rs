//! A server behind PgBouncer in transaction mode, with TLS, and what goes wrong on the way to it.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::needs::{needs, server_programs};
use crate::support::dice::Dice;
use crate::support::postgres::{CERTIFICATES, supervised};

/// Makes a server, and a pooler that takes nothing but TLS. For each line on standard input it
/// kills the server, as a power loss or the kernel would, and starts it again. Nobody proves a
/// password: proofs are slow to make in programs that are built for tests.
const SUPERVISOR: &str = r#"
programs=$1
folder=$(mktemp -d "${TMPDIR:-/tmp}/gate-fleet.XXXXXX")
pooler=
clean() {
  kill "$pooler" 2>/dev/null || :
  "$programs/pg_ctl" -D "$folder/data" -m immediate stop >/dev/null 2>&1 || :
  rm -rf "$folder"
}
trap clean EXIT
cd "$folder"
authority ours
issue server localhost 'subjectAltName=DNS:localhost'
"$programs/initdb" -D data -U gate -A trust -E UTF8 --no-locale --no-sync >>log 2>&1 </dev/null
start() {
  "$programs/pg_ctl" -D data -l log -w -o "-k $folder -c listen_addresses= -c fsync=off" start >/dev/null 2>&1 </dev/null
}
start || { cat log >&2; exit 1; }
echo '"gate" "open-sesame"' >users
cat >pooler.ini <<END
[databases]
postgres = host=$folder
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $2
unix_socket_dir =
auth_type = trust
auth_file = $folder/users
pool_mode = transaction
default_pool_size = 6
server_login_retry = 1
client_tls_sslmode = require
client_tls_key_file = $folder/server.key
client_tls_cert_file = $folder/server.crt
END
pgbouncer -q pooler.ini >>log 2>&1 </dev/null &
pooler=$!
echo "$folder"
while read -r _; do
  kill -9 "$(head -n1 data/postmaster.pid)"
  until start; do sleep 0.2; done
  echo again >>restarts
done
"#;

/// The server, while this lives.
pub(super) struct Server {
    shell: Child,
    programs: PathBuf,
    folder: PathBuf,
    proxy: Arc<Proxy>,
    port: u16,
}

/// A proxy in front of the pooler.
struct Proxy {
    /// The pooler's port.
    to: u16,
    /// While this is true, connections are cut and stalled.
    is_bad: AtomicBool,
    broken: AtomicU64,
}

impl Server {
    /// A server; None where none can be had.
    pub(super) fn start() -> Option<Self> {
        if !["postgres", "pgbouncer", "openssl"].into_iter().all(needs) {
            return None;
        }
        let free = || TcpListener::bind("127.0.0.1:0").unwrap();
        let to = free().local_addr().unwrap().port();
        let programs = server_programs().unwrap();
        let script = format!("{CERTIFICATES}{SUPERVISOR}");
        let (shell, folder) = supervised(&script, &programs, &to.to_string());
        let proxy = Proxy { to, is_bad: AtomicBool::new(false), broken: AtomicU64::new(0) };
        let (proxy, listener) = (Arc::new(proxy), free());
        let port = listener.local_addr().unwrap().port();
        let serving = proxy.clone();
        thread::spawn(move || serving.serve(&listener));
        Some(Self { shell, programs, folder: folder.into(), proxy, port })
    }

    /// The address through the proxy.
    pub(super) fn url(&self) -> String {
        let root = self.folder.join("ours.crt").display().to_string().replace('/', "%2F");
        let parameters = format!("sslmode=verify-full&sslrootcert={root}");
        format!("postgres://gate:open-sesame@localhost:{}/postgres?{parameters}", self.port)
    }

    /// Lets the network cut and stall connections, or leave them alone.
    pub(super) fn set_bad(&self, is_bad: bool) {
        self.proxy.is_bad.store(is_bad, Ordering::Relaxed);
    }

    /// How many connections the network has broken.
    pub(super) fn broken(&self) -> u64 {
        self.proxy.broken.load(Ordering::Relaxed)
    }

    /// Kills the server, and waits until it is there again.
    pub(super) fn kill(&mut self) {
        let count = || fs::read_to_string(self.folder.join("restarts")).unwrap_or_default().len();
        let (before, began) = (count(), Instant::now());
        self.shell.stdin.as_ref().unwrap().write_all(b"kill\n").unwrap();
        while count() == before {
            assert!(began.elapsed() < Duration::from_secs(60), "the server does not start again");
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Ends one of the server's processes at random, as an operator may. Returns if there was one.
    pub(super) fn terminate_one(&self) -> bool {
        let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() \
                   AND backend_type = 'client backend' ORDER BY random() LIMIT 1";
        let mut psql = Command::new(self.programs.join("psql"));
        psql.arg("-h").arg(&self.folder).args(["-U", "gate", "-d", "postgres", "-Atqc", sql]);
        let output = psql.stdin(Stdio::null()).output().unwrap();
        output.stdout == b"t\n"
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

impl Proxy {
    fn serve(&self, listener: &TcpListener) {
        thread::scope(|scope| {
            for (number, client) in (0..).zip(listener.incoming()) {
                let Ok(client) = client else { continue };
                scope.spawn(move || self.carry(&client, Dice::new(number)));
            }
        });
    }

    fn carry(&self, client: &TcpStream, mut dice: Dice) {
        let Ok(server) = TcpStream::connect(("127.0.0.1", self.to)) else { return };
        // A handshake takes some 4,000 bytes, a command a few thousand more.
        let ends = [dice.below(12_000) as usize, dice.below(12_000) as usize];
        let (is_cut, is_slow) = (dice.happens(20), dice.happens(10));
        thread::scope(|scope| {
            for ((from, to), end) in [(client, &server), (&server, client)].into_iter().zip(ends) {
                scope.spawn(move || {
                    self.copy((from, to), end, (is_cut, is_slow));
                    let _ = from.shutdown(Shutdown::Both);
                    let _ = to.shutdown(Shutdown::Both);
                });
            }
        });
    }

    /// Copies until one side ends, or the network does after so many bytes.
    fn copy(&self, (mut from, mut to): (&TcpStream, &TcpStream), end: usize, faults: (bool, bool)) {
        let (is_cut, mut is_slow) = faults;
        let (mut copied, mut bytes) = (0, [0; 2048]);
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            copied += count;
            let is_due = copied > end && self.is_bad.load(Ordering::Relaxed);
            if is_due && std::mem::take(&mut is_slow) {
                thread::sleep(Duration::from_millis(1500));
            }
            if is_due && is_cut {
                self.broken.fetch_add(1, Ordering::Relaxed);
                // What was on its way may have arrived or not.
                if end.is_multiple_of(2) {
                    let _ = to.write_all(&bytes[..count]);
                }
                return;
            }
            if to.write_all(&bytes[..count]).is_err() {
                return;
            }
        }
    }
}
