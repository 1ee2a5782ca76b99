//! TLS to a database: what each mode takes, and what is refused.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Child;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use gate_cli::store::{DatabaseUrl, Place, Store, StoreError};

use crate::needs::{needs, server_programs};
use crate::store_items::{claimed, drafts};
use crate::support::postgres::{CERTIFICATES, supervised};
use crate::support::shelf::{PATIENCE, append, chain, decision};

/// Makes a server that takes nothing but TLS, with certificates of an authority of its own, and
/// ends it when standard input does.
const SUPERVISOR: &str = r#"
programs=$1
folder=$(mktemp -d "${TMPDIR:-/tmp}/gate-tls.XXXXXX")
clean() { "$programs/pg_ctl" -D "$folder/data" -m immediate stop >/dev/null 2>&1 || :; rm -rf "$folder"; }
trap clean EXIT
cd "$folder"
authority ours
authority other
issue server localhost 'subjectAltName=DNS:localhost'
issue gate gate 'extendedKeyUsage=clientAuth'
printf open-sesame >password
"$programs/initdb" -D data -U gate -A scram-sha-256 --pwfile=password -E UTF8 --no-locale --no-sync >>log 2>&1 </dev/null
cp server.key server.crt ours.crt data/
chmod 600 data/server.key
printf 'hostssl by_cert all all cert map=m\nhostssl all all all scram-sha-256\nlocal all all trust\n' >data/pg_hba.conf
printf 'm gate gate\n' >data/pg_ident.conf
options="-k $folder -c listen_addresses=localhost -c port=$2 -c fsync=off -c ssl=on -c ssl_ca_file=ours.crt"
"$programs/pg_ctl" -D data -l log -w -o "$options" start >/dev/null 2>&1 </dev/null || { cat log >&2; exit 1; }
"$programs/createdb" -h "$folder" -p "$2" -U gate by_cert
echo "$folder"
cat >/dev/null
"#;

/// The server, while this process lives.
struct Server {
    /// Its standard input keeps the server alive.
    _shell: Child,
    folder: String,
    port: u16,
}

impl Server {
    /// The server of this process; None where none can be had.
    fn get() -> Option<&'static Self> {
        static SERVER: OnceLock<Server> = OnceLock::new();
        if !needs("postgres") || !needs("openssl") {
            return None;
        }
        Some(SERVER.get_or_init(|| {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let programs = server_programs().unwrap();
            let (shell, folder) =
                supervised(&format!("{CERTIFICATES}{SUPERVISOR}"), &programs, &port.to_string());
            Self { _shell: shell, folder, port }
        }))
    }

    /// An address on this host with these parameters; `DIR` is the folder of the certificates.
    fn url(&self, host: &str, parameters: &str) -> String {
        let parameters = parameters.replace("DIR", &self.folder.replace('/', "%2F"));
        format!("postgres://gate:open-sesame@{host}:{}/postgres?{parameters}", self.port)
    }
}

fn open(url: &str) -> Store {
    Store::open(&Place::Database(url.parse().unwrap()), None, PATIENCE).unwrap()
}

/// Writes a record over a connection with these parameters.
fn write(server: &Server, host: &str, parameters: &str) -> Result<(), StoreError> {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    append(&mut open(&server.url(host, parameters)), decision("a", number)).map(drop)
}

#[test]
fn each_mode_of_tls_reaches_a_server_that_takes_nothing_else() {
    let Some(server) = Server::get() else { return };
    for (number, (host, parameters)) in (1..).zip([
        ("localhost", ""),
        ("localhost", "sslmode=prefer"),
        ("127.0.0.1", "sslmode=require"),
        ("127.0.0.1", "sslmode=verify-ca&sslrootcert=DIR%2Fours.crt"),
        ("localhost", "sslmode=verify-full&sslrootcert=DIR%2Fours.crt"),
        ("localhost", "sslmode=require&channel_binding=require"),
    ]) {
        let written = write(server, host, parameters);
        assert!(written.is_ok(), "{host} {parameters}: {}", written.unwrap_err());
        let mut store = open(&server.url(host, parameters));
        let id = format!("W-{number}");
        drafts(&mut store, &[&id]);
        assert_eq!(claimed(&mut store, 100, 200), Some(id), "{host} {parameters}");
    }
    let url = server.url("localhost", "sslmode=verify-full&sslrootcert=DIR%2Fours.crt");
    assert!(chain(&mut open(&url)).len() >= 6);
}

#[test]
fn a_wrong_certificate_is_refused_at_once() {
    let Some(server) = Server::get() else { return };
    for (host, parameters, says) in [
        ("127.0.0.1", "sslmode=verify-full&sslrootcert=DIR%2Fours.crt", "not valid for"),
        ("localhost", "sslmode=verify-full&sslrootcert=DIR%2Fother.crt", "certificate"),
        ("localhost", "sslmode=verify-ca&sslrootcert=DIR%2Fother.crt", "certificate"),
        // A file of roots is there to be used.
        ("localhost", "sslmode=require&sslrootcert=DIR%2Fother.crt", "certificate"),
        ("localhost", "sslmode=verify-full&sslrootcert=system", "certificate"),
    ] {
        let began = Instant::now();
        let refused = write(server, host, parameters).unwrap_err();
        assert!(matches!(refused, StoreError::Refused { .. }), "{parameters}: {refused}");
        assert!(refused.to_string().contains(says), "{parameters}: {refused}");
        assert!(began.elapsed() < PATIENCE, "{parameters}");
    }
}

#[test]
fn without_tls_the_servers_own_words_say_why_not() {
    let Some(server) = Server::get() else { return };
    let refused = write(server, "localhost", "sslmode=disable").unwrap_err().to_string();
    assert!(refused.contains("no pg_hba.conf entry"), "{refused}");
    assert!(refused.contains("no encryption") && !refused.contains("\"gate\""), "{refused}");
}

#[test]
fn a_certificate_proves_who_connects() {
    let Some(server) = Server::get() else { return };
    let own = "sslmode=require&sslcert=DIR%2Fgate.crt&sslkey=DIR%2Fgate.key";
    let url = server.url("localhost", own).replace("/postgres?", "/by_cert?");
    append(&mut open(&url), decision("a", 1)).unwrap();
    let without = server.url("localhost", "sslmode=require").replace("/postgres?", "/by_cert?");
    let refused = append(&mut open(&without), decision("a", 2)).unwrap_err();
    assert!(refused.to_string().contains("certificate"), "{refused}");
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let Some(server) = Server::get() else { return };
    for (parameters, says) in [
        ("sslmode=verify-ca&sslrootcert=%2Fnowhere.crt", "sslrootcert=/nowhere.crt"),
        ("sslmode=verify-ca&sslrootcert=DIR%2Fpassword", "it holds no certificate in PEM"),
        ("sslmode=require&sslcert=DIR%2Fgate.crt&sslkey=DIR%2Fpassword", "sslkey="),
    ] {
        let refused = write(server, "localhost", parameters).unwrap_err();
        assert!(matches!(refused, StoreError::BadAddress { .. }), "{parameters}: {refused}");
        assert!(refused.to_string().contains(says), "{parameters}: {refused}");
    }
}

#[test]
fn an_address_with_a_mistake_about_tls_says_what_is_known() {
    for (url, says) in [
        ("postgres://u:secret@h/db?sslmode=on", "verify-full are known"),
        ("postgres://u:secret@h/db?sslcert=a.crt", "one of sslcert and sslkey"),
        ("host=h user=u password=secret sslmode=require", "write it as postgres://"),
    ] {
        let refused = url.parse::<DatabaseUrl>().unwrap_err().to_string();
        assert!(refused.contains(says) && !refused.contains("secret"), "{url}: {refused}");
    }
}

/// A server that answers a request for TLS with one byte, and then says this.
fn fake(answer: &'static [u8], says: &'static [u8]) -> (u16, thread::JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let heard = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
        let mut buffer = [0; 4096];
        for answer in [answer, says] {
            let _ = stream.read(&mut buffer);
            let _ = stream.write_all(answer);
        }
        let mut heard = Vec::new();
        let _ = stream.read_to_end(&mut heard);
        heard
    });
    (port, heard)
}

#[test]
fn a_server_without_tls_does_not_get_the_password() {
    let (port, heard) = fake(b"N", b"R\0\0\0\x08\0\0\0\x03");
    let url = format!("postgres://u:open-sesame@127.0.0.1:{port}/db?sslmode=require");
    let refused = append(&mut open(&url), decision("a", 1)).unwrap_err();
    assert!(matches!(refused, StoreError::Refused { .. }), "{refused}");
    assert!(refused.to_string().contains("does not support TLS"), "{refused}");
    assert!(!String::from_utf8_lossy(&heard.join().unwrap()).contains("sesame"));
}
