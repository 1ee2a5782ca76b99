//! A database behind PgBouncer, which gives each transaction any of its server's processes.

use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use gate_cli::store::{Place, Store};

use crate::needs::{needs, server_programs};
use crate::store_items::{claimed, drafts};
use crate::support::postgres::supervised;
use crate::support::shelf::{PATIENCE, append, chain, decision, head};

/// Makes a server and a pooler with two processes in front of it, and ends them when standard
/// input does.
const SUPERVISOR: &str = r#"
set -eu
trap '' INT TERM HUP
programs=$1
folder=$(mktemp -d "${TMPDIR:-/tmp}/gate-pooler.XXXXXX")
clean() {
  kill "$pooler" 2>/dev/null || :
  "$programs/pg_ctl" -D "$folder/data" -m immediate stop >/dev/null 2>&1 || :
  rm -rf "$folder"
}
trap clean EXIT
cd "$folder"
pooler=
"$programs/initdb" -D data -U gate -A trust -E UTF8 --no-locale --no-sync >>log 2>&1 </dev/null
"$programs/pg_ctl" -D data -l log -w -o "-k $folder -c listen_addresses= -c fsync=off" start >/dev/null 2>&1 </dev/null || { cat log >&2; exit 1; }
echo '"gate" "open-sesame"' >users
cat >pooler.ini <<END
[databases]
postgres = host=$folder
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $2
unix_socket_dir = $folder
auth_type = trust
auth_file = $folder/users
pool_mode = transaction
default_pool_size = 2
server_round_robin = 1
END
pgbouncer -q pooler.ini >>log 2>&1 </dev/null &
pooler=$!
for _ in $(seq 100); do
  "$programs/pg_isready" -q -h 127.0.0.1 -p "$2" && break
  sleep 0.1
done
echo "$folder"
cat >/dev/null
"#;

#[test]
fn decisions_and_claims_need_no_process_of_their_own() {
    if !needs("postgres") || !needs("pgbouncer") {
        return;
    }
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let programs = server_programs().unwrap();
    let (mut shell, _) = supervised(SUPERVISOR, &programs, &port.to_string());
    let url = format!("postgres://gate:open-sesame@127.0.0.1:{port}/postgres");
    let open = || -> Store {
        Store::open(&Place::Database(url.parse().unwrap()), None, PATIENCE).unwrap()
    };
    append(&mut open(), decision("run", 1)).unwrap();
    // More connections than processes, each with statements that it sends again and again.
    thread::scope(|scope| {
        for writer in 0..4 {
            let mut store = open();
            scope.spawn(move || {
                for number in 1..=10 {
                    append(&mut store, decision(&format!("run-{writer}"), number)).unwrap();
                    assert!(head(&mut store).unwrap().seq > number);
                    store.await_work("shop", Duration::from_millis(1)).unwrap();
                }
            });
        }
    });
    assert_eq!(chain(&mut open()).len(), 41);
    let ids: Vec<_> = (0..40).map(|number| format!("W-{number:02}")).collect();
    drafts(&mut open(), &ids.iter().map(String::as_str).collect::<Vec<_>>());
    let mut taken = thread::scope(|scope| {
        let claim_all = || {
            let mut store = open();
            std::iter::from_fn(|| claimed(&mut store, 100, 200)).collect::<Vec<_>>()
        };
        let claimers: Vec<_> = (0..4).map(|_| scope.spawn(claim_all)).collect();
        claimers.into_iter().flat_map(|claimer| claimer.join().unwrap()).collect::<Vec<_>>()
    });
    taken.sort();
    assert_eq!(taken, ids, "each item is claimed once");
    drop(shell.stdin.take());
    let _ = shell.wait();
}
