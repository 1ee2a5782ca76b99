//! The connection to a database.

use std::time::Duration;

use tokio::runtime::Runtime;
use tokio_postgres::{Client, Config, NoTls};

use super::super::error::StoreError;
use super::super::place::DatabaseUrl;
use super::fault;

/// The longest that one attempt to connect may take.
const ATTEMPT: Duration = Duration::from_secs(10);

/// A connection. Dropped, it is closed, and the database undoes what was not
/// committed.
#[derive(Debug)]
pub(super) struct Line {
    client: Client,
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
        runtime.spawn(async {
            // Its end is told to whoever asks the client next.
            let _ = connection.await;
        });
        Ok(Self { client })
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// Whether nobody has closed it, as far as is known.
    pub(super) fn is_open(&self) -> bool {
        !self.client.is_closed()
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
