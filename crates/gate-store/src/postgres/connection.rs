//! The connection to a database.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::io;
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_postgres::config::SslMode;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{AsyncMessage, Client, Config, Connection, Error, NoTls, Row, Statement};

use super::super::error::StoreError;
use super::clear::NoClearPassword;
use super::server::Server;
use super::url::Transport;
use super::{DatabaseUrl, fault};

/// The longest that one attempt to connect may take.
const MAX_CONNECT_TIME: Duration = Duration::from_secs(10);

/// A connection. Dropped, it is closed, and the database undoes what was not committed.
#[derive(Debug)]
pub(super) struct Session {
    client: Client,
    /// The projects that the database names in its notifications.
    notified_projects: UnboundedReceiver<String>,
    /// The tables are known to have the newest schema.
    pub(super) is_prepared: Cell<bool>,
    /// The connection may be used again. Not after an error, nor from the beginning of a change
    /// until its commit.
    pub(super) is_sound: Cell<bool>,
    /// The database did not answer in time.
    pub(super) is_silent: Cell<bool>,
    /// One server process answers all statements: no pooler is between. `None` if that is not known
    /// yet. If TLS is demanded it cannot be known, and a pooler is assumed.
    is_direct: Cell<Option<bool>>,
    /// The statements that have run here. A statement that has run twice is prepared.
    statements: RefCell<BTreeMap<&'static str, Option<Statement>>>,
    clock: Option<ClockReading>,
}

/// An answer to the question for the database's time.
#[derive(Clone, Copy, Debug)]
struct ClockReading {
    read_at: Instant,
    /// The database's time, in milliseconds since 1970.
    millis: i64,
}

/// The bytes of a request to cancel a statement: its head (length and code), the number of the
/// server process, a secret.
const CANCEL_BYTES: usize = 16;
const CANCEL_HEAD_BYTES: usize = 8;

/// Age at which the database's time is requested anew.
const MAX_CLOCK_AGE: Duration = Duration::from_secs(1);

/// The outcome of waiting for a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitOutcome {
    /// The project was named.
    Named,
    /// The time is over.
    TimedOut,
    /// The connection has ended.
    Closed,
}

impl Session {
    /// Connects, in one attempt, within the remaining time.
    ///
    /// # Errors
    ///
    /// A database that does not answer, or refuses.
    pub(super) fn connect(server: &Server, remaining: Duration) -> Result<Self, StoreError> {
        let Server { runtime, url, place, .. } = server;
        let (config, transport) = (config(url, remaining), url.transport()?);
        let demands_tls = config.get_ssl_mode() == SslMode::Require;
        let (notifier, notified_projects) = unbounded_channel();
        let attempt = async {
            let opening = open(&config, transport, notifier);
            tokio::time::timeout(remaining.min(MAX_CONNECT_TIME), opening).await
        };
        let outcome = runtime.block_on(attempt).map_err(|_| fault::silent(place))?;
        let client = outcome.map_err(|error| match error {
            OpenError::Database(error) => fault::store_error(place, &error),
            OpenError::Network(error) => fault::unreachable(place, &error),
        })?;
        Ok(Self {
            client,
            notified_projects,
            is_prepared: Cell::new(false),
            is_sound: Cell::new(true),
            is_silent: Cell::new(false),
            // With TLS, `greeting_process` would wait for an answer that nobody gives.
            is_direct: Cell::new(if demands_tls { Some(false) } else { None }),
            statements: RefCell::default(),
            clock: None,
        })
    }

    /// Stores the database's present time, in milliseconds since 1970.
    pub(super) fn set_time(&mut self, millis: i64) {
        self.clock = Some(ClockReading { read_at: Instant::now(), millis });
    }

    /// The database's time, counted on from its last answer; `None` if that is too long ago.
    pub(super) fn time(&self) -> Option<i64> {
        let ClockReading { read_at, millis } = self.clock?;
        let age = read_at.elapsed();
        if age >= MAX_CLOCK_AGE {
            return None;
        }
        millis.checked_add(i64::try_from(age.as_millis()).ok()?)
    }

    /// Waits until the database names a project, at most so long.
    pub(super) fn await_name(
        &mut self,
        runtime: &Runtime,
        project: &str,
        at_most: Duration,
    ) -> WaitOutcome {
        let notified = async {
            loop {
                match self.notified_projects.recv().await {
                    Some(name) if name == project => return WaitOutcome::Named,
                    Some(_) => {}
                    None => return WaitOutcome::Closed,
                }
            }
        };
        let notified = async { tokio::time::timeout(at_most, notified).await };
        runtime.block_on(notified).unwrap_or(WaitOutcome::TimedOut)
    }

    /// The rows of a statement.
    ///
    /// The database takes as long to plan a statement as to answer it, so a statement that runs
    /// again is prepared, under a name. Behind a pooler it is not: another client may have given
    /// the name to another statement in the server process that comes next.
    ///
    /// # Errors
    ///
    /// The database's error.
    pub(super) async fn rows(
        &self,
        statement: &'static str,
        values: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<Vec<Row>, Error> {
        if self.is_direct.get() != Some(true) {
            return self.client.query_typed(statement, values).await;
        }
        let entry = self.statements.borrow().get(statement).cloned();
        let prepared = match entry {
            None => {
                self.statements.borrow_mut().insert(statement, None);
                return self.client.query_typed(statement, values).await;
            }
            Some(Some(prepared)) => prepared,
            Some(None) => {
                let types: Vec<_> = values.iter().map(|(_, kind)| kind.clone()).collect();
                let prepared = self.client.prepare_typed(statement, &types).await?;
                self.statements.borrow_mut().insert(statement, Some(prepared.clone()));
                prepared
            }
        };
        let values: Vec<_> = values.iter().map(|(value, _)| *value).collect();
        self.client.query(&prepared, &values).await
    }

    /// Finds out once if the connection is the server's own. A connection without an answer counts as
    /// a pooler's.
    ///
    /// # Errors
    ///
    /// The database's error.
    pub(super) async fn look_for_pooler(&self) -> Result<(), Error> {
        if self.is_direct.get().is_some() {
            return Ok(());
        }
        let rows = self.client.query_typed("SELECT pg_backend_pid()", &[]).await?;
        let answering_process = rows.first().map(|row| row.try_get::<_, i32>(0)).transpose()?;
        let is_direct =
            answering_process.is_some() && answering_process == self.greeting_process().await;
        self.is_direct.set(Some(is_direct));
        Ok(())
    }

    /// The number of the server process that the connection began with. tokio-postgres only sends
    /// it to a server that is to cancel a statement, so gate reads such a request itself. If TLS is
    /// demanded, the request begins with a question to the server.
    async fn greeting_process(&self) -> Option<i32> {
        let (client_end, mut server_end) = tokio::io::duplex(CANCEL_BYTES);
        self.client.cancel_token().cancel_query_raw(client_end, NoTls).await.ok()?;
        let (mut head, mut process) = ([0; CANCEL_HEAD_BYTES], [0; 4]);
        server_end.read_exact(&mut head).await.ok()?;
        server_end.read_exact(&mut process).await.ok()?;
        Some(i32::from_be_bytes(process))
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// The connection is not known to be closed, and its last use ended well.
    pub(super) fn is_usable(&self) -> bool {
        !self.client.is_closed() && self.is_sound.get() && !self.is_silent.get()
    }
}

/// The error of an attempt to connect.
enum OpenError {
    Database(Error),
    Network(io::Error),
}

impl From<Error> for OpenError {
    fn from(error: Error) -> Self {
        Self::Database(error)
    }
}

/// Connects, and drives the connection.
async fn open(
    config: &Config,
    transport: Transport,
    notifier: UnboundedSender<String>,
) -> Result<Client, OpenError> {
    let client = match transport {
        Transport::Plain => {
            let (client, connection) = config.connect(NoTls).await?;
            tokio::spawn(drive(connection, notifier));
            client
        }
        Transport::Tls(connector) => {
            let (client, connection) = config.connect(*connector).await?;
            tokio::spawn(drive(connection, notifier));
            client
        }
        Transport::NoClearPassword { host, port } => {
            let stream = TcpStream::connect((host, port)).await.map_err(OpenError::Network)?;
            stream.set_nodelay(true).map_err(OpenError::Network)?;
            let stream = NoClearPassword::new(stream);
            let (client, connection) = config.connect_raw(stream, NoTls).await?;
            tokio::spawn(drive(connection, notifier));
            client
        }
    };
    Ok(client)
}

/// Drives a connection to its end. The client's next call fails then.
async fn drive<S, T>(mut connection: Connection<S, T>, notifier: UnboundedSender<String>)
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
        if let AsyncMessage::Notification(notification) = message {
            // It fails once the session has gone, and nobody waits for a notification then.
            let _ = notifier.send(notification.payload().to_owned());
        }
    }
}

fn config(url: &DatabaseUrl, remaining: Duration) -> Config {
    let mut config = url.config().clone();
    config.tcp_user_timeout(remaining.max(MAX_CONNECT_TIME));
    if config.get_application_name().is_none() {
        config.application_name("gate");
    }
    config
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;

    use tokio::runtime::Builder;

    use super::*;

    #[test]
    fn a_password_is_not_sent_to_whoever_asks_for_it_in_clear() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut received = vec![0; 4096];
            let count = stream.read(&mut received).unwrap();
            stream.write_all(b"R\0\0\0\x08\0\0\0\x03").unwrap();
            received.truncate(count);
            let _ = stream.read_to_end(&mut received);
            String::from_utf8_lossy(&received).into_owned()
        });
        let url: DatabaseUrl = "postgres://u:open-sesame@h/db?sslmode=disable".parse().unwrap();
        let chosen = url.transport().unwrap();
        assert!(matches!(chosen, Transport::NoClearPassword { .. }), "h is another machine");
        let transport = Transport::NoClearPassword { host: "127.0.0.1".to_owned(), port };
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let opened = runtime.block_on(open(url.config(), transport, unbounded_channel().0));
        let Err(OpenError::Database(error)) = opened else { panic!("it is refused") };
        let refused = fault::store_error("db", &error);
        assert!(matches!(refused, StoreError::Refused { .. }), "{refused}");
        assert!(refused.to_string().contains("the password itself"), "{refused}");
        drop(runtime);
        assert!(!server.join().unwrap().contains("sesame"));
    }
}
