//! A database's address.

use std::fmt;
use std::str::FromStr;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::store::StoreError;

/// The address of a PostgreSQL database, as `postgres://USER:PASSWORD@HOST/NAME`.
/// It is never printed: [`Debug`] and [`Display`](fmt::Display) leave out who
/// asks and with which password.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl {
    config: Box<Config>,
    name: String,
}

impl DatabaseUrl {
    pub(super) fn config(&self) -> &Config {
        &self.config
    }
}

impl FromStr for DatabaseUrl {
    type Err = StoreError;

    /// Reads an address; white space around it is no part of it, so that it
    /// may come from a file.
    fn from_str(text: &str) -> Result<Self, StoreError> {
        let text = text.trim();
        if ["sslmode=require", "sslmode=verify"].iter().any(|mode| text.contains(mode)) {
            return Err(bad(NO_TLS));
        }
        // The parser's own words may quote a part of a password.
        let config = text.parse::<Config>().map_err(|_| bad(UNREADABLE))?;
        if config.get_hosts().is_empty() {
            return Err(bad("names no host"));
        }
        Ok(Self { name: name(&config), config: Box::new(config) })
    }
}

const NO_TLS: &str = "asks for an encrypted connection (sslmode), and gate has none: use a \
                      tunnel or a private network, and sslmode=disable";
const UNREADABLE: &str = "cannot be understood: postgres://USER:PASSWORD@HOST:PORT/NAME is \
                          expected, with special characters as %XX";

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatabaseUrl({})", self.name)
    }
}

fn bad(what: &str) -> StoreError {
    StoreError::BadAddress { what: what.to_owned() }
}

/// Host, port and name. Options belong to it, because a search path makes
/// another store of the same database.
fn name(config: &Config) -> String {
    let mut hosts = Vec::new();
    for (index, host) in config.get_hosts().iter().enumerate() {
        let ports = config.get_ports();
        let port = ports.get(index).or_else(|| ports.first()).copied().unwrap_or(5432);
        hosts.push(format!("{}:{port}", shown(host)));
    }
    let user = config.get_user().unwrap_or_default();
    let name = config.get_dbname().unwrap_or(user);
    let options =
        config.get_options().map_or_else(String::new, |options| format!("?options={options}"));
    format!("postgres://{}/{name}{options}", hosts.join(","))
}

fn shown(host: &Host) -> String {
    match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string(),
    }
}
