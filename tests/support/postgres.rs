//! A PostgreSQL server for the tests, thrown away with them.
//!
//! One server a test process, made by the machine's own programs, and a new database a test. The
//! server belongs to a shell that reads from a pipe to this process: however this process ends, the
//! pipe closes, and the shell ends the server and removes its folder. GATE_TEST_DATABASE_URL names a
//! server to use instead, where databases may be created.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

use crate::needs::{needs, server_programs};

/// The password of the server's user.
const PASSWORD: &str = "open-sesame";

/// Makes a server, prints its folder, and ends it when standard input ends. The server asks for
/// passwords as they are: nobody else reaches its socket, and proofs of passwords are slow to make
/// in programs that are built for tests.
const SUPERVISOR: &str = r#"
set -eu
trap '' INT TERM HUP
programs=$1
folder=$(mktemp -d "${TMPDIR:-/tmp}/gate-postgres.XXXXXX")
clean() { "$programs/pg_ctl" -D "$folder/data" -m immediate stop >/dev/null 2>&1 || :; rm -rf "$folder"; }
trap clean EXIT
cd "$folder"
printf %s "$2" >password
"$programs/initdb" -D data -U gate -A password --pwfile=password -E UTF8 --no-locale --no-sync >log 2>&1 </dev/null
options="-k $folder -c listen_addresses= -c fsync=off -c max_connections=200"
"$programs/pg_ctl" -D data -l log -w -o "$options" start >/dev/null 2>&1 </dev/null || { cat log >&2; exit 1; }
echo "$folder"
cat >/dev/null
"#;

/// The beginning of a script that makes a server with certificates: functions for an authority, and
/// for certificates that the authority `ours` signs.
pub(crate) const CERTIFICATES: &str = r#"
set -eu
trap '' INT TERM HUP
key() { openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key" 2>>log || openssl ecparam -genkey -noout -name prime256v1 -out "$1.key"; }
authority() { key "$1"; openssl req -x509 -new -key "$1.key" -out "$1.crt" -days 2 -subj "/CN=$1" 2>>log; }
issue() {
  key "$1"
  openssl req -new -key "$1.key" -out "$1.csr" -subj "/CN=$2" 2>>log
  echo "$3" >"$1.ext"
  openssl x509 -req -in "$1.csr" -CA ours.crt -CAkey ours.key -CAcreateserial -out "$1.crt" -days 2 -extfile "$1.ext" 2>>log
}
"#;

/// The server, while this process lives.
struct Server {
    /// Its standard input keeps the server alive.
    _shell: Option<Child>,
    /// An address without the database's name.
    address: String,
    /// The part of the address after the database's name.
    options: String,
}

/// A database for one test, dropped with it.
pub(crate) struct Database {
    name: String,
    /// Its address.
    pub(crate) url: String,
}

/// A connection for statements that gate would not make.
pub(crate) struct Session {
    runtime: Runtime,
    client: Client,
}

/// gate is built with PostgreSQL; else the test is skipped.
pub(crate) fn is_built() -> bool {
    true
}

impl Database {
    /// A new, empty database; `None` on a machine without a server.
    pub(crate) fn new() -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        if !needs("postgres") {
            return None;
        }
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("gate_test_{}_{number}", std::process::id());
        Session::new(&server().url("postgres")).run(&format!("CREATE DATABASE {name}"));
        Some(Self { url: server().url(&name), name })
    }

    /// The same database for another user, or with another password.
    pub(crate) fn url_as(&self, user: &str, password: &str) -> String {
        let (_, host_and_name) = self.url.split_once('@').expect("an address with a user");
        format!("postgres://{user}:{password}@{host_and_name}")
    }

    /// A connection to it.
    pub(crate) fn session(&self) -> Session {
        Session::new(&self.url)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let session = Session::new(&server().url("postgres"));
        session.try_run(&format!("DROP DATABASE {} WITH (FORCE)", self.name));
    }
}

impl Session {
    pub(crate) fn new(url: &str) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let (client, connection) = runtime.block_on(tokio_postgres::connect(url, NoTls)).unwrap();
        runtime.spawn(async {
            let _ = connection.await;
        });
        Self { runtime, client }
    }

    /// Runs statements, and returns the first column of the rows.
    #[track_caller]
    pub(crate) fn run(&self, sql: &str) -> Vec<String> {
        let messages = self.runtime.block_on(self.client.simple_query(sql)).expect(sql);
        let rows = messages.iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        });
        rows.collect()
    }

    /// The message with which the database refuses.
    #[track_caller]
    pub(crate) fn refuses(&self, sql: &str) -> String {
        let error = self.runtime.block_on(self.client.batch_execute(sql)).expect_err(sql);
        error.as_db_error().map_or_else(String::new, |answer| answer.message().to_owned())
    }

    fn try_run(&self, sql: &str) {
        let _ = self.runtime.block_on(self.client.batch_execute(sql));
    }
}

impl Server {
    fn url(&self, database: &str) -> String {
        format!("{}/{database}{}", self.address, self.options)
    }
}

fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| match std::env::var("GATE_TEST_DATABASE_URL") {
        Ok(url) => named_server(&url),
        Err(_) => {
            temporary_server(&server_programs().expect("needs(\"postgres\") looked for them"))
        }
    })
}

fn named_server(url: &str) -> Server {
    let (base, options) = url.split_once('?').unwrap_or((url, ""));
    let (address, _) = base.rsplit_once('/').expect("postgres://USER:PASSWORD@HOST/NAME");
    let options = if options.is_empty() { String::new() } else { format!("?{options}") };
    Server { _shell: None, address: address.to_owned(), options }
}

fn temporary_server(programs: &Path) -> Server {
    let (shell, folder) = supervised(SUPERVISOR, programs, PASSWORD);
    let host = folder.replace('/', "%2F");
    Server {
        _shell: Some(shell),
        address: format!("postgres://gate:{PASSWORD}@{host}"),
        options: String::new(),
    }
}

/// Starts a script that makes a server, and returns the folder that it prints. The server lives
/// until the standard input of the shell ends.
pub(crate) fn supervised(script: &str, programs: &Path, argument: &str) -> (Child, String) {
    let mut shell = as_nobody()
        .args(["sh", "-c", script, "sh"])
        .arg(programs)
        .arg(argument)
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        // A key that interrupts the tests then reaches this process alone.
        .process_group(0)
        .spawn()
        .unwrap();
    let folder = first_line(shell.stdout.take().unwrap());
    assert!(!folder.is_empty(), "no server could be made: see above");
    (shell, folder)
}

/// PostgreSQL's programs refuse to run as root.
fn as_nobody() -> Command {
    let mut command = Command::new("env");
    let id = Command::new("id").arg("-u").output().unwrap();
    if id.stdout == b"0\n" {
        command.args(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]);
    }
    command
}

fn first_line(output: ChildStdout) -> String {
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).unwrap();
    line.trim().to_owned()
}
