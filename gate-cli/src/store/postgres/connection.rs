//! The connection to a database.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_postgres::tls::NoTlsStream;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{
    AsyncMessage, Client, Config, Connection, Error, NoTls, Row, Socket, Statement,
};

use super::super::error::StoreError;
use super::{DatabaseUrl, fault};

/// The longest that one attempt to connect may take.
const MAX_CONNECT_TIME: Duration = Duration::from_secs(10);

/// A connection. Dropped, it is closed, and the database undoes what was not
/// committed.
#[derive(Debug)]
pub(super) struct Session {
    client: Client,
    /// The projects that the database names to whoever listens.
    named: UnboundedReceiver<String>,
    /// True once the tables are known to have the newest schema.
    pub(super) is_prepared: Cell<bool>,
    /// False after an error, and from the beginning of a change until its commit.
    pub(super) is_sound: Cell<bool>,
    /// True once the database did not answer in time.
    pub(super) is_silent: Cell<bool>,
    /// The statements that were asked, and those that were asked again as the
    /// database has prepared them.
    asked: RefCell<BTreeMap<&'static str, Option<Statement>>>,
    /// When the database was asked for its time, and what it said, in milliseconds.
    clock: Option<(Instant, i64)>,
}

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
    /// Connects, once, within the time that is left.
    ///
    /// # Errors
    ///
    /// A database that does not answer, or refuses.
    pub(super) fn connect(
        runtime: &Runtime,
        url: &DatabaseUrl,
        left: Duration,
    ) -> Result<Self, StoreError> {
        let place = url.to_string();
        let config = config(url, left);
        let connecting =
            async { tokio::time::timeout(left.min(MAX_CONNECT_TIME), config.connect(NoTls)).await };
        let (client, connection) = runtime
            .block_on(connecting)
            .map_err(|_| fault::silent(&place))?
            .map_err(|error| fault::store_error(&place, &error))?;
        let (names, named) = unbounded_channel();
        runtime.spawn(carry(connection, names));
        Ok(Self {
            client,
            named,
            is_prepared: Cell::new(false),
            is_sound: Cell::new(true),
            is_silent: Cell::new(false),
            asked: RefCell::default(),
            clock: None,
        })
    }

    /// Takes what the database's time is now, in milliseconds since 1970.
    pub(super) fn is_now(&mut self, now: i64) {
        self.clock = Some((Instant::now(), now));
    }

    /// The database's time, counted on from when it was told; none where that is too
    /// long ago.
    pub(super) fn time(&self) -> Option<i64> {
        let (at, millis) = self.clock?;
        let passed = Some(at.elapsed()).filter(|passed| *passed < MAX_CLOCK_AGE)?;
        millis.checked_add(i64::try_from(passed.as_millis()).ok()?)
    }

    /// Waits until the database names a project, at most so long.
    pub(super) fn await_name(
        &mut self,
        runtime: &Runtime,
        project: &str,
        at_most: Duration,
    ) -> WaitOutcome {
        let heard = async {
            loop {
                match self.named.recv().await {
                    Some(name) if name == project => return WaitOutcome::Named,
                    Some(_) => {}
                    None => return WaitOutcome::Closed,
                }
            }
        };
        let heard = async { tokio::time::timeout(at_most, heard).await };
        runtime.block_on(heard).unwrap_or(WaitOutcome::TimedOut)
    }

    /// The rows of a statement. To plan it takes the database as long as to answer:
    /// what is asked again is prepared; what is asked once is not worth it.
    ///
    /// # Errors
    ///
    /// What the database says.
    pub(super) async fn rows(
        &self,
        statement: &'static str,
        given: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<Vec<Row>, Error> {
        let known = self.asked.borrow().get(statement).cloned();
        let prepared = match known {
            None => {
                self.asked.borrow_mut().insert(statement, None);
                return self.client.query_typed(statement, given).await;
            }
            Some(Some(prepared)) => prepared,
            Some(None) => {
                let types: Vec<_> = given.iter().map(|(_, kind)| kind.clone()).collect();
                let prepared = self.client.prepare_typed(statement, &types).await?;
                self.asked.borrow_mut().insert(statement, Some(prepared.clone()));
                prepared
            }
        };
        let given: Vec<_> = given.iter().map(|(value, _)| *value).collect();
        self.client.query(&prepared, &given).await
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// False once the connection is known to be closed, or its last use did not end well.
    pub(super) fn is_usable(&self) -> bool {
        !self.client.is_closed() && self.is_sound.get() && !self.is_silent.get()
    }
}

/// Carries what is said on a connection, to its end, which is told to whoever asks
/// the client next.
async fn carry(mut connection: Connection<Socket, NoTlsStream>, names: UnboundedSender<String>) {
    while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
        if let AsyncMessage::Notification(said) = message {
            // Most connections listen to nothing.
            let _ = names.send(said.payload().to_owned());
        }
    }
}

fn config(url: &DatabaseUrl, left: Duration) -> Config {
    let mut config = url.config().clone();
    config.tcp_user_timeout(left.max(MAX_CONNECT_TIME));
    if config.get_application_name().is_none() {
        config.application_name("gate");
    }
    config
}
