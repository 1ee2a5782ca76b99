//! A connection without encryption on which no password is sent as it is.
//!
//! A server chooses how a password is proved. SCRAM and MD5 send a proof; one method asks for the
//! password itself, which everybody on the way could read.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// The bytes of a message's head: its type, and its length without that type.
const HEAD_BYTES: usize = 5;

/// The bytes of a message that demands a proof, with its method.
const METHOD_BYTES: usize = HEAD_BYTES + 4;

/// The type of a message about the proof, and its methods.
const AUTHENTICATION: u8 = b'R';
const ACCEPTED: u32 = 0;
const PASSWORD_ITSELF: u32 = 3;

/// A stream that fails when the server asks for the password itself.
#[derive(Debug)]
pub(super) struct NoClearPassword {
    inner: TcpStream,
    messages: Messages,
}

/// The server's messages, until it has accepted a proof.
#[derive(Debug, Default)]
struct Messages {
    /// The beginning of the message that is being read.
    beginning: Vec<u8>,
    /// The bytes of that message that are still to come after its beginning.
    to_skip: usize,
    /// The server has accepted a proof, or asks for none: nothing more is read.
    is_over: bool,
}

/// The server asks for the password itself.
#[derive(Debug, PartialEq, Eq)]
struct AsksForPassword;

impl NoClearPassword {
    pub(super) fn new(inner: TcpStream) -> Self {
        Self { inner, messages: Messages::default() }
    }
}

impl Messages {
    fn read(&mut self, mut bytes: &[u8]) -> Result<(), AsksForPassword> {
        while !self.is_over && !bytes.is_empty() {
            let skipped = self.to_skip.min(bytes.len());
            self.to_skip -= skipped;
            bytes = &bytes[skipped..];
            // The type, which is the first byte, determines how long a beginning is needed.
            let needed = match self.beginning.first() {
                None => 1,
                Some(&AUTHENTICATION) => METHOD_BYTES,
                Some(_) => HEAD_BYTES,
            };
            let count = needed.saturating_sub(self.beginning.len()).min(bytes.len());
            self.beginning.extend_from_slice(&bytes[..count]);
            bytes = &bytes[count..];
            if needed > 1 && self.beginning.len() == needed {
                self.end_beginning()?;
            }
        }
        Ok(())
    }

    fn end_beginning(&mut self) -> Result<(), AsksForPassword> {
        let number_at = |offset: usize| {
            let bytes = self.beginning.get(offset..offset + 4);
            let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u32::from_be_bytes)
        };
        // The length counts itself, and not the type.
        let length = usize::try_from(number_at(1)).unwrap_or(usize::MAX).saturating_add(1);
        if self.beginning.first() == Some(&AUTHENTICATION) {
            match number_at(HEAD_BYTES) {
                PASSWORD_ITSELF => return Err(AsksForPassword),
                ACCEPTED => self.is_over = true,
                _ => {}
            }
        }
        self.to_skip = length.saturating_sub(self.beginning.len());
        self.beginning.clear();
        Ok(())
    }
}

impl AsyncRead for NoClearPassword {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let filled_before = buffer.filled().len();
        let outcome = Pin::new(&mut self.inner).poll_read(cx, buffer);
        if let Poll::Ready(Ok(())) = outcome
            && let Err(AsksForPassword) = self.messages.read(&buffer.filled()[filled_before..])
        {
            let reason = "the server asks for the password itself, which would be sent unencrypted: \
                        use sslmode=require, or let the server ask for SCRAM";
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::PermissionDenied, reason)));
        }
        outcome
    }
}

impl AsyncWrite for NoClearPassword {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEGOTIATE: &[u8] = b"v\0\0\0\x0c\0\0\0\0\0\0\0\0";
    const SASL: &[u8] = b"R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0";
    const CLEAR: &[u8] = b"R\0\0\0\x08\0\0\0\x03";
    const OK: &[u8] = b"R\0\0\0\x08\0\0\0\0";

    /// Reads messages in pieces of each length.
    #[track_caller]
    fn check(messages: &[&[u8]], expected: &Result<(), AsksForPassword>) {
        let bytes = messages.concat();
        for size in 1..=bytes.len() {
            let mut reader = Messages::default();
            let outcome = bytes.chunks(size).try_for_each(|piece| reader.read(piece));
            assert_eq!(&outcome, expected, "in pieces of {size}");
        }
    }

    #[test]
    fn the_request_for_the_password_itself_is_found_wherever_it_stands() {
        check(&[CLEAR], &Err(AsksForPassword));
        check(&[NEGOTIATE, CLEAR], &Err(AsksForPassword));
        check(&[SASL, CLEAR], &Err(AsksForPassword));
    }

    #[test]
    fn other_proofs_go_on_and_after_them_nothing_is_looked_at() {
        check(&[SASL], &Ok(()));
        check(&[OK, CLEAR], &Ok(()));
        check(&[SASL, OK, b"S\0\0\0\x09R\0\0\0\x03"], &Ok(()));
        check(&[b"E\0\0\0\x0eR\0\0\0\x08\0\0\0\x03\0", OK], &Ok(()));
    }
}
