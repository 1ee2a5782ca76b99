//! A machine of a test's own: /etc and /var/lib are folders beside its working folder, by mounts
//! that its programs alone see. They run there as root.

use super::{Ran, Run};

/// Puts the folders over the machine's, and starts the program. Files that the test has not written
/// into /etc are copies of the real ones.
const MOUNTED: &str = "\
set -e
mkdir -p ../etc ../var
for name in /etc/*; do test -e ../etc/\"${name#/etc/}\" || cp -a \"$name\" ../etc/ 2>/dev/null || :; done
mount --bind ../etc /etc
mount --bind ../var /var/lib
exec \"$@\"
";

impl Run {
    /// On a machine of its own. The test asks `needs(\"namespaces\")` first.
    pub(crate) fn on_own_machine(self) -> Self {
        self.under(["unshare", "-rm", "sh", "-c", MOUNTED, "sh"])
    }

    /// On a machine with these settings in `/etc/gate/gate.toml`, which only root may write.
    #[track_caller]
    pub(crate) fn on_machine(self, settings: &str) -> Self {
        let run = self.file("../etc/gate/gate.toml", settings);
        let run = run.setup("chmod 755 ../etc ../etc/gate; chmod 644 ../etc/gate/gate.toml");
        run.on_own_machine()
    }
}

impl Ran {
    /// `gate` once more, on the same machine.
    pub(crate) fn again_there(self, words: &str) -> Run {
        self.again(words).on_own_machine()
    }
}
