//! TLS for the connection to a database, by the parameters of libpq.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use tokio_postgres_rustls_improved::MakeRustlsConnect;

use crate::StoreError;

/// The protection of a connection (libpq's `sslmode`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TlsMode {
    /// No protection.
    Disable,
    /// Encryption if the server offers it.
    #[default]
    Prefer,
    /// Encryption, with any server that answers.
    Require,
    /// Encryption; a trusted certificate has signed the server's.
    VerifyCa,
    /// As [`VerifyCa`](Self::VerifyCa), and the server's certificate is for the host's name.
    VerifyFull,
}

impl TlsMode {
    /// Reads a value of `sslmode`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "disable" => Self::Disable,
            "prefer" => Self::Prefer,
            "require" => Self::Require,
            "verify-ca" => Self::VerifyCa,
            "verify-full" => Self::VerifyFull,
            _ => return None,
        })
    }
}

/// Certificates that are trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TrustedRoots {
    /// Those of the system.
    System,
    /// Those of a file, in PEM.
    File(PathBuf),
}

/// The TLS parameters of an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TlsSettings {
    pub(super) mode: TlsMode,
    /// `sslrootcert`.
    pub(super) roots: Option<TrustedRoots>,
    pub(super) identity: Option<ClientIdentity>,
}

/// The files by which gate proves who it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClientIdentity {
    /// `sslcert`.
    pub(super) certificate: PathBuf,
    /// `sslkey`.
    pub(super) key: PathBuf,
}

impl TlsSettings {
    /// The maker of connections.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or that holds no certificate or no key.
    pub(super) fn connector(&self) -> Result<MakeRustlsConnect, StoreError> {
        let provider = Arc::new(ring::default_provider());
        let verifier = self.verifier(&provider)?;
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| bad(format!("cannot be reached by TLS: {error}")))?;
        let builder = builder.dangerous().with_custom_certificate_verifier(verifier);
        let config = match &self.identity {
            None => builder.with_no_client_auth(),
            Some(ClientIdentity { certificate, key }) => {
                let chain = certificates("sslcert", certificate)?;
                let secret = PrivateKeyDer::from_pem_file(key)
                    .map_err(|error| unreadable("sslkey", key, &error))?;
                builder
                    .with_client_auth_cert(chain, secret)
                    .map_err(|error| unreadable("sslkey", key, &error))?
            }
        };
        Ok(MakeRustlsConnect::new(config))
    }

    fn verifier(
        &self,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Arc<dyn ServerCertVerifier>, StoreError> {
        let checks_name = self.mode == TlsMode::VerifyFull;
        // As in libpq, a file of roots has the certificate checked, even with `require`.
        let has_file = matches!(self.roots, Some(TrustedRoots::File(_)));
        let mut verifier = None;
        if checks_name || self.mode == TlsMode::VerifyCa || has_file {
            let roots = Arc::new(self.trusted_roots()?);
            let builder = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(provider));
            verifier = Some(builder.build().map_err(|error| {
                bad(format!("names certificates that cannot be used: {error}"))
            })?);
        }
        Ok(match verifier {
            Some(verifier) if checks_name => verifier,
            signatures => Arc::new(WithoutName { provider: Arc::clone(provider), signatures }),
        })
    }

    fn trusted_roots(&self) -> Result<RootCertStore, StoreError> {
        let mut roots = RootCertStore::empty();
        match &self.roots {
            Some(TrustedRoots::File(file)) => {
                for certificate in certificates("sslrootcert", file)? {
                    roots
                        .add(certificate)
                        .map_err(|error| unreadable("sslrootcert", file, &error))?;
                }
            }
            Some(TrustedRoots::System) | None => {
                // A certificate of the system that cannot be read is passed over, unless none is left.
                let loaded = rustls_native_certs::load_native_certs();
                roots.add_parsable_certificates(loaded.certs);
                if roots.is_empty() {
                    let reason = "needs trusted certificates, and the system has none: \
                                sslrootcert=FILE names some";
                    return Err(bad(reason.to_owned()));
                }
            }
        }
        Ok(roots)
    }
}

fn certificates(key: &str, file: &Path) -> Result<Vec<CertificateDer<'static>>, StoreError> {
    let certificates: Vec<_> = CertificateDer::pem_file_iter(file)
        .and_then(Iterator::collect)
        .map_err(|error| unreadable(key, file, &error))?;
    if certificates.is_empty() {
        return Err(unreadable(key, file, &"it holds no certificate in PEM"));
    }
    Ok(certificates)
}

fn unreadable(key: &str, file: &Path, reason: &dyn std::fmt::Display) -> StoreError {
    bad(format!("names {key}={}, which cannot be used: {reason}", file.display()))
}

fn bad(reason: String) -> StoreError {
    StoreError::BadAddress { reason }
}

/// Leaves the host's name unchecked: checks the signatures of the certificate, or nothing.
#[derive(Debug)]
struct WithoutName {
    provider: Arc<CryptoProvider>,
    /// `None` accepts any server: `require` protects against listeners alone.
    signatures: Option<Arc<WebPkiServerVerifier>>,
}

impl ServerCertVerifier for WithoutName {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(verifier) = &self.signatures else { return Ok(ServerCertVerified::assertion()) };
        // The name is checked last, after the signatures and the dates. So a wrong name proves that
        // they are right.
        match verifier.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            outcome => outcome,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
