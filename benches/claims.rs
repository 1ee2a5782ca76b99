//! What a claim costs: eight threads that claim work items from PostgreSQL through
//! the library, beside `pgbench` with as many clients whose transaction is a bare
//! `SELECT … FOR UPDATE SKIP LOCKED` and an UPDATE, on one server, in turns.
//! `cargo bench --bench claims --features postgres` prints the table. Without PostgreSQL's programs it
//! says that it skips.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench that cannot go on fails")]

mod server;

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use gate_cli::store::Claimable;
use gate_cli::{Claim, Memory, Places};
use tokio_postgres::{Client, NoTls};

use self::server::{Server, as_nobody, programs};

/// How many claim at a time.
const CLIENTS: u32 = 8;

/// How many items there are, and how many of them are claimed in one turn.
const ITEMS: u32 = 20_000;
const CLAIMS: u32 = 4_000;

const TURNS: usize = 5;

/// The table beside ours: the same columns that a claim needs, and as many rows.
const QUEUE: &str = "CREATE TABLE queue (id BIGINT PRIMARY KEY, phase TEXT NOT NULL, lease TEXT, \
     actor TEXT, expires_at BIGINT NOT NULL); \
     CREATE INDEX queue_claimable ON queue (expires_at, id) WHERE phase = 'DRAFT';";

/// One transaction of pgbench.
const BARE: &str = "BEGIN;\n\
    SELECT id FROM queue WHERE phase = 'DRAFT' AND expires_at <= 1 ORDER BY expires_at, id \
    LIMIT 1 FOR UPDATE SKIP LOCKED \\gset\n\
    UPDATE queue SET lease = 'lease', actor = 'actor', expires_at = 9000000000000 WHERE id = :id;\n\
    COMMIT;\n";

fn main() {
    let Some(programs) = programs(&["initdb", "pg_ctl", "pgbench"]) else {
        println!("SKIPPED claims: there is no initdb, pg_ctl and pgbench");
        return;
    };
    for fsync in ["off", "on"] {
        let server = Database::new(&programs, fsync);
        let bench = Bench::new(&server);
        let (mut ours, mut theirs, mut prepared) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..TURNS {
            bench.fill();
            ours.push(bench.claims());
            theirs.push(bench.bare("simple"));
            prepared.push(bench.bare("prepared"));
        }
        let [ours, theirs, prepared] = [ours, theirs, prepared].map(median);
        println!("fsync={fsync}, {CLIENTS} clients, {ITEMS} rows, median of {TURNS} turns");
        println!("  {:<44}{ours:>10.0} /s", "gate: Memory::claim");
        println!("  {:<44}{theirs:>10.0} /s", "pgbench: SELECT SKIP LOCKED, UPDATE, COMMIT");
        println!("  {:<44}{prepared:>10.0} /s", "the same with -M prepared");
        println!("  {:<44}{:>10.2}", "gate / pgbench (bar: 0.5)", ours / theirs);
        println!("  {:<44}{:>10.2}", "gate / pgbench -M prepared", ours / prepared);
    }
}

/// Makes a server, and ends it when standard input does.
const SUPERVISOR: &str = r#"
set -eu
programs=$1
folder=$(mktemp -d "${TMPDIR:-/tmp}/gate-claims.XXXXXX")
clean() { "$programs/pg_ctl" -D "$folder/data" -m immediate stop >/dev/null 2>&1 || :; rm -rf "$folder"; }
trap clean EXIT
cd "$folder"
"$programs/initdb" -D data -U gate -A trust -E UTF8 --no-locale --no-sync >log 2>&1 </dev/null
"$programs/pg_ctl" -D data -l log -w -o "-k $folder -c listen_addresses= -c fsync=$2" start >/dev/null 2>&1 </dev/null
"$programs/createdb" -h "$folder" -U gate shop
echo "$folder"
cat >/dev/null
"#;

/// A server with the database `shop`.
struct Database {
    _server: Server,
    programs: PathBuf,
    folder: PathBuf,
}

impl Database {
    fn new(programs: &Path, fsync: &str) -> Self {
        let server = Server::new(SUPERVISOR, programs, fsync);
        let folder = PathBuf::from(&server.line);
        Self { _server: server, programs: programs.to_owned(), folder }
    }

    fn url(&self) -> String {
        let host = self.folder.display().to_string().replace('/', "%2F");
        format!("postgres://gate@{host}/shop")
    }
}

struct Bench<'a> {
    server: &'a Database,
    folder: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
    client: Client,
}

impl<'a> Bench<'a> {
    fn new(server: &'a Database) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let url = server.url();
        let connecting = tokio_postgres::connect(&url, NoTls);
        let (client, connection) = runtime.block_on(connecting).unwrap();
        runtime.spawn(connection);
        let bench = Self { server, folder: tempfile::tempdir().unwrap(), runtime, client };
        bench.add();
        bench.run(QUEUE);
        bench
    }

    fn run(&self, sql: &str) {
        self.runtime.block_on(self.client.batch_execute(sql)).unwrap();
    }

    /// Adds the items, each with its record.
    fn add(&self) {
        let place = gate_cli::store::Place::Database(self.server.url().parse().unwrap());
        let mut store =
            gate_cli::store::Store::open(&place, None, Duration::from_secs(30)).unwrap();
        let phase = gate_core::exit::WorkPhase::Draft;
        let drafts = (0..ITEMS).map(|number| {
            let id = format!("W-{number}");
            gate_fleet::work::WorkItem::new(&id, "a title", "what is to be done", phase).unwrap()
        });
        let items: Vec<_> = drafts.collect();
        let mut transaction = store.begin("shop").unwrap();
        for item in &items {
            let body = gate_fleet::work::Added::new(item);
            let draft = gate_core::ledger::Draft {
                time: "2026-11-22T10:00:00Z".to_owned(),
                kind: gate_fleet::work::kind::ADDED.to_owned(),
                run: None,
                actor: "bench".to_owned(),
                body: gate_core::ledger::Body::new(&body).unwrap(),
            };
            let seq = transaction.append(draft).unwrap().record.seq;
            assert!(transaction.add_item(item, seq).unwrap());
        }
        transaction.commit().unwrap();
    }

    /// Nothing is claimed, and both tables are as if new.
    fn fill(&self) {
        self.run("UPDATE work SET lease = NULL, actor = NULL, issued_at = NULL, expires_at = 0");
        self.run("TRUNCATE queue");
        let last = ITEMS - 1;
        self.run(&format!(
            "INSERT INTO queue SELECT i, 'DRAFT', NULL, NULL, 0 FROM generate_series(0, {last}) i"
        ));
        for table in ["work", "queue", "ledger"] {
            self.run(&format!("VACUUM FULL ANALYZE {table}"));
        }
    }

    fn memory(&self) -> Memory {
        let environment = vec![("GATE_DATABASE_URL".to_owned(), self.server.url())];
        let folder = self.folder.path().to_owned();
        Memory::open(&Places { folder, environment, ..Places::default() }, Some("shop")).unwrap()
    }

    /// Claims a second through the library. The connections are there before.
    fn claims(&self) -> f64 {
        let mut memories: Vec<_> = (0..CLIENTS).map(|_| self.memory()).collect();
        for memory in &mut memories {
            let named = Claimable { phase: None, id: Some("W-0") };
            let _ = claim(memory, named);
        }
        let began = Instant::now();
        thread::scope(|scope| {
            for mut memory in memories {
                scope.spawn(move || {
                    for _ in 0..CLAIMS / CLIENTS {
                        assert!(claim(&mut memory, Claimable::default()));
                    }
                });
            }
        });
        f64::from(CLAIMS) / began.elapsed().as_secs_f64()
    }

    /// Transactions a second of pgbench, without its connecting.
    fn bare(&self, protocol: &str) -> f64 {
        let script = self.server.folder.join("claim.sql");
        let mut write = as_nobody(Path::new("sh"));
        write.args(["-c", "printf %s \"$1\" >\"$2\"", "sh", BARE]).arg(&script);
        assert!(write.status().unwrap().success());
        let mut pgbench = as_nobody(&self.server.programs.join("pgbench"));
        pgbench.args(["-n", "-U", "gate", "-c", &CLIENTS.to_string(), "-j", &CLIENTS.to_string()]);
        pgbench.args(["-t", &(CLAIMS / CLIENTS).to_string(), "-M", protocol, "-h"]);
        let output = pgbench.arg(&self.server.folder).arg("-f").arg(&script).arg("shop").output();
        let output = output.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("tps = ")).unwrap();
        line.split(' ').next().unwrap().parse().unwrap()
    }
}

/// Whether something was claimed.
fn claim(memory: &mut Memory, selection: Claimable<'_>) -> bool {
    let (ttl, wait) = (Duration::from_secs(3_600), Duration::ZERO);
    let claim = Claim { actor: "bench", selection, ttl, wait, request: None };
    memory.claim(&claim, &|| false).unwrap().is_some()
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}
