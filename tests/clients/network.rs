//! A network that holds nothing but loopback.

use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// Brings loopback up, says so, and lives until its standard input ends.
const HOLDER: &str = "ip link set lo up && echo up && read -r _";

/// The network that a thread has moved into, while this lives.
pub(super) struct Alone(Child);

impl Alone {
    /// Moves the calling thread, and all that it starts from now on, into a
    /// network without any way out. None where the machine does not allow it.
    pub(super) fn enter() -> Option<Self> {
        let mut holder = Command::new("unshare");
        holder.args(["-n", "sh", "-c", HOLDER]);
        holder.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut alone = Self(holder.spawn().ok()?);
        let mut up = [0; 3];
        alone.0.stdout.as_mut()?.read_exact(&mut up).ok()?;
        let network = File::open(format!("/proc/{}/ns/net", alone.0.id())).ok()?;
        let moved = move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network));
        moved.is_ok().then_some(alone)
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}
