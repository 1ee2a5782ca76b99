//! A database's address.

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls_improved::MakeRustlsConnect;

use super::tls::{ClientIdentity, TlsMode, TlsSettings, TrustedRoots};
use crate::StoreError;

/// The address of a PostgreSQL database, as `postgres://USER:PASSWORD@HOST/NAME`, with the parameters
/// of libpq for TLS: `sslmode`, `sslrootcert`, `sslcert`, `sslkey`. [`Debug`] and
/// [`Display`](fmt::Display) leave out the user and the password.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl {
    config: Box<Config>,
    tls: TlsSettings,
    /// Host, port and name, as [`Display`](fmt::Display) writes them.
    name: String,
}

/// The way to a database.
pub(super) enum Transport {
    /// Without encryption, to this machine, or without a password.
    Plain,
    /// Without encryption. The password itself is not sent.
    NoClearPassword {
        host: String,
        port: u16,
    },
    Tls(Box<MakeRustlsConnect>),
}

impl DatabaseUrl {
    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    /// The way to the database. Beyond this machine a password is never sent as it is.
    ///
    /// # Errors
    ///
    /// A certificate or a key that cannot be used; several hosts without encryption.
    pub(super) fn transport(&self) -> Result<Transport, StoreError> {
        let config = &self.config;
        if config.get_hosts().iter().all(is_socket) {
            return Ok(Transport::Plain);
        }
        if self.tls.mode != TlsMode::Disable {
            return Ok(Transport::Tls(Box::new(self.tls.connector()?)));
        }
        if config.get_password().is_none() || !self.leaves_the_machine() {
            return Ok(Transport::Plain);
        }
        match config.get_hosts() {
            [Host::Tcp(host)] => {
                // An address that is given saves the look-up of the host's name.
                let address = config.get_hostaddrs().first().map(ToString::to_string);
                let port = config.get_ports().first().copied().unwrap_or(DEFAULT_PORT);
                Ok(Transport::NoClearPassword { host: address.unwrap_or(host.clone()), port })
            }
            _ => Err(bad(SEVERAL_HOSTS)),
        }
    }

    fn leaves_the_machine(&self) -> bool {
        let addresses = self.config.get_hostaddrs();
        if !addresses.is_empty() {
            return addresses.iter().any(|address| !address.is_loopback());
        }
        self.config.get_hosts().iter().any(|host| match host {
            Host::Tcp(name) => {
                let address = name.parse::<IpAddr>();
                name != "localhost" && !address.is_ok_and(|address| address.is_loopback())
            }
            #[cfg(unix)]
            Host::Unix(_) => false,
        })
    }
}

fn is_socket(host: &Host) -> bool {
    match host {
        Host::Tcp(_) => false,
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

impl FromStr for DatabaseUrl {
    type Err = StoreError;

    /// Reads an address. White space around it is left out: an address from a file ends with a line
    /// break.
    fn from_str(text: &str) -> Result<Self, StoreError> {
        let text = text.trim();
        let is_url = ["postgres://", "postgresql://"].iter().any(|start| text.starts_with(start));
        if !is_url && TLS_KEYS.iter().any(|key| text.contains(key)) {
            return Err(bad(AS_URL));
        }
        let ParsedAddress { without_tls, tls } = parse_tls(text)?;
        // The parser's own message may quote a part of a password.
        let mut config = without_tls.parse::<Config>().map_err(|_| bad(UNREADABLE))?;
        if config.get_hosts().is_empty() {
            return Err(bad("names no host"));
        }
        let name = store_name(&config);
        let url = Self { name, tls, config: Box::new(config.clone()) };
        let has_password = config.get_password().is_some();
        config.ssl_mode(match url.tls.mode {
            TlsMode::Disable => SslMode::Disable,
            // Without encryption the server could ask for the password itself.
            TlsMode::Prefer if has_password && url.leaves_the_machine() => SslMode::Require,
            TlsMode::Prefer => SslMode::Prefer,
            TlsMode::Require | TlsMode::VerifyCa | TlsMode::VerifyFull => SslMode::Require,
        });
        Ok(Self { config: Box::new(config), ..url })
    }
}

/// An address, and the parameters for TLS that stood in it.
struct ParsedAddress {
    /// The address without those parameters, which the parser of tokio-postgres does not know.
    without_tls: String,
    tls: TlsSettings,
}

fn parse_tls(text: &str) -> Result<ParsedAddress, StoreError> {
    let mut tls = TlsSettings::default();
    let Some((address, query)) = text.split_once('?') else {
        return Ok(ParsedAddress { without_tls: text.to_owned(), tls });
    };
    let (mut other_parameters, mut certificate, mut key) = (Vec::new(), None, None);
    for parameter in query.split('&') {
        let (name, encoded) = parameter.split_once('=').unwrap_or((parameter, ""));
        let value = || {
            let decoded = percent_decode_str(encoded).decode_utf8();
            decoded.map(Cow::into_owned).map_err(|_| bad(UNREADABLE))
        };
        match name {
            "sslmode" => tls.mode = TlsMode::parse(&value()?).ok_or_else(|| bad(MODES))?,
            "sslrootcert" => {
                tls.roots = Some(match value()?.as_str() {
                    "system" => TrustedRoots::System,
                    file => TrustedRoots::File(file.into()),
                });
            }
            "sslcert" => certificate = Some(value()?.into()),
            "sslkey" => key = Some(value()?.into()),
            _ => other_parameters.push(parameter),
        }
    }
    tls.identity = match (certificate, key) {
        (Some(certificate), Some(key)) => Some(ClientIdentity { certificate, key }),
        (None, None) => None,
        _ => return Err(bad("has one of sslcert and sslkey: both are needed")),
    };
    let mark = if other_parameters.is_empty() { "" } else { "?" };
    let without_tls = format!("{address}{mark}{}", other_parameters.join("&"));
    Ok(ParsedAddress { without_tls, tls })
}

const DEFAULT_PORT: u16 = 5432;

/// Parameters that are read in an address alone.
const TLS_KEYS: [&str; 4] = ["sslmode", "sslrootcert", "sslcert", "sslkey"];

const AS_URL: &str = "asks for TLS: write it as postgres://USER:PASSWORD@HOST/NAME?sslmode=…";
const MODES: &str = "has an unknown sslmode: disable, prefer, require, verify-ca and verify-full \
                     are known";
const SEVERAL_HOSTS: &str = "names several hosts and a password that would leave this machine \
                       unencrypted: use sslmode=require";
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

fn bad(reason: &str) -> StoreError {
    StoreError::BadAddress { reason: reason.to_owned() }
}

/// Host, port and name. Options are part of it, because a search path makes another store of the same
/// database.
fn store_name(config: &Config) -> String {
    let mut hosts = Vec::new();
    for (index, host) in config.get_hosts().iter().enumerate() {
        let ports = config.get_ports();
        let port = ports.get(index).or_else(|| ports.first()).copied().unwrap_or(DEFAULT_PORT);
        hosts.push(format!("{}:{port}", host_text(host)));
    }
    let user = config.get_user().unwrap_or_default();
    let name = config.get_dbname().unwrap_or(user);
    let options =
        config.get_options().map_or_else(String::new, |options| format!("?options={options}"));
    format!("postgres://{}/{name}{options}", hosts.join(","))
}

fn host_text(host: &Host) -> String {
    match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn mode(url: &str) -> SslMode {
        url.parse::<DatabaseUrl>().unwrap().config().get_ssl_mode()
    }

    #[test]
    fn a_password_leaves_the_machine_encrypted_unless_that_is_switched_off() {
        for (url, expected) in [
            ("postgres://u:p@db/n", SslMode::Require),
            ("postgres://u:p@db/n?sslmode=prefer", SslMode::Require),
            ("postgres://u:p@db/n?sslmode=disable", SslMode::Disable),
            ("postgres://u@db/n", SslMode::Prefer),
            ("postgres://u:p@localhost/n", SslMode::Prefer),
            ("postgres://u:p@127.0.0.1/n", SslMode::Prefer),
            ("postgres://u:p@[::1]/n", SslMode::Prefer),
            ("postgres://u:p@localhost,db/n", SslMode::Require),
            ("postgres://u:p@db/n?hostaddr=127.0.0.1", SslMode::Prefer),
            ("postgres://u:p@localhost/n?hostaddr=10.0.0.1", SslMode::Require),
            ("postgres://u:p@%2Frun%2Fpg/n", SslMode::Prefer),
            ("postgres://u:p@db/n?sslmode=verify-full", SslMode::Require),
        ] {
            assert_eq!(mode(url), expected, "{url}");
        }
    }

    #[test]
    fn the_way_without_encryption_depends_on_the_password_and_on_the_place() {
        let transport = |url: &str| url.parse::<DatabaseUrl>().unwrap().transport();
        let off = |host: &str| format!("postgres://{host}/n?sslmode=disable");
        assert!(matches!(transport(&off("u@db")), Ok(Transport::Plain)));
        assert!(matches!(transport(&off("u:p@localhost")), Ok(Transport::Plain)));
        assert!(matches!(transport("postgres://u:p@%2Frun%2Fpg/n"), Ok(Transport::Plain)));
        let Ok(Transport::NoClearPassword { host, port }) = transport(&off("u:p@db:6000")) else {
            panic!("another way")
        };
        assert_eq!((host.as_str(), port), ("db", 6000));
        assert!(transport(&off("u:p@a,b")).is_err());
    }

    #[test]
    fn other_parameters_stay() {
        let url: DatabaseUrl =
            "postgres://u:p@h/db?sslmode=disable&connect_timeout=3&options=-csearch_path%3Da"
                .parse()
                .unwrap();
        assert_eq!(url.to_string(), "postgres://h:5432/db?options=-csearch_path=a");
        assert_eq!(url.config().get_connect_timeout().map(|time| time.as_secs()), Some(3));
    }
}
