//! Posts a message to an address.

use super::Problem;
use crate::failure::Failure;

/// # Errors
///
/// A build without the feature `webhook`.
#[cfg(not(feature = "webhook"))]
pub(super) fn require_feature() -> Result<(), Failure> {
    let message = "`notify.webhook` is set, and this gate was built without the feature `webhook`";
    Err(Failure::usage("no-webhook", message)
        .hint("build it with `--features webhook`, or let `notify.command` call curl"))
}

#[cfg(not(feature = "webhook"))]
pub(super) fn post(_: &str, _: &str) -> Result<(), Problem> {
    Err(Problem { message: "this gate cannot post".to_owned(), is_passing: false })
}

#[cfg(feature = "webhook")]
#[expect(clippy::unnecessary_wraps, reason = "a build without the feature has an error here")]
pub(super) fn require_feature() -> Result<(), Failure> {
    Ok(())
}

/// Posts JSON. Only a client's own mistake (a code of 400 to 499, but for "too many") is final.
#[cfg(feature = "webhook")]
pub(super) fn post(address: &str, text: &str) -> Result<(), Problem> {
    /// "Too many requests".
    const TOO_MANY: u16 = 429;
    let config = ureq::Agent::config_builder()
        .timeout_global(Some(super::TIMEOUT))
        .max_redirects(0)
        .http_status_as_error(true);
    let agent = ureq::Agent::new_with_config(config.build());
    let response = agent.post(address).header("content-type", "application/json").send(text);
    match response {
        Ok(_) => Ok(()),
        Err(ureq::Error::StatusCode(code)) => Err(Problem {
            message: format!("it answered with {code}"),
            is_passing: code >= 500 || code == TOO_MANY,
        }),
        // The error's own words may hold the address, and an address may hold a secret.
        Err(error) => Err(Problem {
            message: error.to_string().replace(address, "the address"),
            is_passing: true,
        }),
    }
}
