//! The connection to a database.

use std::cell::RefCell;
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
const ATTEMPT: Duration = Duration::from_secs(10);

/// A connection. Dropped, it is closed, and the database undoes what was not
/// committed.
#[derive(Debug)]
pub(super) struct Line {
    client: Client,
    /// The projects that the database names to whoever listens.
    named: UnboundedReceiver<String>,
    /// Whether the tables are known to be of the newest schema.
    pub(super) is_prepared: bool,
    /// The statements that were asked, and those that were asked again as the
    /// database has prepared them.
    asked: RefCell<BTreeMap<&'static str, Option<Statement>>>,
    /// When the database was asked for its time, and what it said, in milliseconds.
    told: Option<(Instant, i64)>,
}

/// How long the database's time is counted on before it is asked again.
const COUNTED: Duration = Duration::from_secs(1);

/// What the database told whoever listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// The project was named.
    Something,
    /// It was not.
    Nothing,
    /// The connection has ended.
    End,
}

impl Line {
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
            async { tokio::time::timeout(left.min(ATTEMPT), config.connect(NoTls)).await };
        let (client, connection) = runtime
            .block_on(connecting)
            .map_err(|_| fault::silent(&place))?
            .map_err(|error| fault::of(&place, &error))?;
        let (names, named) = unbounded_channel();
        runtime.spawn(carry(connection, names));
        Ok(Self { client, named, is_prepared: false, asked: RefCell::default(), told: None })
    }

    /// Takes what the database's time is now, in milliseconds since 1970.
    pub(super) fn is_now(&mut self, now: i64) {
        self.told = Some((Instant::now(), now));
    }

    /// The database's time, counted on from when it was told; none where that is too
    /// long ago.
    pub(super) fn time(&self) -> Option<i64> {
        let (at, told) = self.told?;
        let passed = Some(at.elapsed()).filter(|passed| *passed < COUNTED)?;
        told.checked_add(i64::try_from(passed.as_millis()).ok()?)
    }

    /// Waits until the database names a project, at most so long.
    pub(super) fn hears(&mut self, runtime: &Runtime, project: &str, at_most: Duration) -> Heard {
        let heard = async {
            loop {
                match self.named.recv().await {
                    Some(name) if name == project => return Heard::Something,
                    Some(_) => {}
                    None => return Heard::End,
                }
            }
        };
        let heard = async { tokio::time::timeout(at_most, heard).await };
        runtime.block_on(heard).unwrap_or(Heard::Nothing)
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

    /// Whether nobody has closed it, as far as is known.
    pub(super) fn is_open(&self) -> bool {
        !self.client.is_closed()
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
    config.tcp_user_timeout(left.max(ATTEMPT));
    if config.get_application_name().is_none() {
        config.application_name("gate");
    }
    config
}
