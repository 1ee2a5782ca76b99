//! Confines the supervisor of a job that must not carry anything out.

use std::io;

use crate::process::Confinement;

/// Confines this process and all that it starts from now on. The process must have one thread.
///
/// # Errors
///
/// A system that cannot confine it, or a folder that is not there.
pub(super) fn confine(confinement: &Confinement) -> io::Result<()> {
    system::confine(confinement).map_err(|error| {
        let folder = confinement.folder.display();
        io::Error::other(format!("it cannot be confined to {folder}: {error}"))
    })
}

#[cfg(target_os = "linux")]
mod system {
    use gate_platform::OsStringExt;
    use std::ffi::OsString;
    use std::fs;
    use std::io;

    use landlock::{
        ABI, Access, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
        RulesetCreatedAttr, Scope, path_beneath_rules,
    };
    use nix::errno::Errno;
    use nix::mount::{MsFlags, mount};
    use nix::sched::{CloneFlags, unshare};
    use nix::sys::statvfs::statvfs;
    use nix::unistd::{getgid, getuid};
    use rustix::net::{
        AddressFamily, RecvFlags, SendFlags, SocketType, netlink, recv, sendto, socket,
    };

    use std::path::{Path, PathBuf};

    use super::Confinement;

    /// Folder of shared memory: Python's multiprocessing cannot do without it.
    const SHARED_MEMORY: &str = "/dev/shm";

    /// The flags that statvfs(3) and mount(2) call by the same number: no set-user-ID, no devices,
    /// no programs, no access times, and none of folders.
    const KEPT_FLAGS: u64 = 2 | 4 | 8 | 1024 | 2048;

    /// An argument of mount(2) that says nothing.
    const UNSET: Option<&str> = None;

    /// Devices that programs write to.
    const DEVICES: [&str; 4] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/tty"];

    pub(super) fn confine(confinement: &Confinement) -> io::Result<()> {
        if confinement.has_namespaces {
            enter_namespaces(confinement)?;
        }
        restrict(confinement).map_err(io::Error::other)
    }

    fn enter_namespaces(confinement: &Confinement) -> io::Result<()> {
        let (user, group) = (getuid(), getgid());
        let users_and_mounts = CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS;
        unshare(users_and_mounts | CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWIPC)?;
        // The same user inside, so that files look as before. A user may map groups only after
        // giving up `setgroups`.
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
        // Private: what is mounted from here on is not seen outside of the namespace.
        mount(UNSET, "/", UNSET, MsFlags::MS_REC | MsFlags::MS_PRIVATE, UNSET)?;
        read_only_but_for(&confinement.folder)?;
        for folder in confinement.hidden.iter().filter(|folder| folder.is_dir()) {
            cover(folder)?;
        }
        if has_shared_memory(confinement) {
            cover(Path::new(SHARED_MEMORY))?;
        }
        start_loopback()
    }

    /// The job has shared memory of its own. A job whose folder stands there has none: an empty folder in
    /// its place would hide the job's.
    fn has_shared_memory(confinement: &Confinement) -> bool {
        confinement.has_namespaces
            && Path::new(SHARED_MEMORY).is_dir()
            && !confinement.folder.starts_with(SHARED_MEMORY)
    }

    /// Makes all that is mounted read-only, but for this folder. Landlock alone leaves modes,
    /// times and attributes of files to whoever owns them, and a text could be carried out in them.
    fn read_only_but_for(folder: &Path) -> io::Result<()> {
        // A mount of its own, which can stay writable when the one around it is not.
        mount(Some(folder), folder, UNSET, MsFlags::MS_BIND | MsFlags::MS_REC, UNSET)?;
        let mounts = fs::read("/proc/self/mountinfo")?;
        for line in mounts.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let mount_point = mount_point(line).ok_or(io::ErrorKind::InvalidData)?;
            if mount_point.starts_with(folder) {
                continue;
            }
            // Flags that a mount has from outside of the namespace must stay.
            let Ok(file_system) = statvfs(&mount_point) else { continue };
            let kept = MsFlags::from_bits_truncate(file_system.flags().bits() & KEPT_FLAGS);
            let flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY;
            match mount(UNSET, &mount_point, UNSET, kept | flags, UNSET) {
                // Another mount covers it.
                Err(Errno::EINVAL | Errno::ENOENT) => {}
                outcome => outcome?,
            }
        }
        Ok(())
    }

    /// The folder in a line of `/proc/self/mountinfo`, where `\040` is a space.
    fn mount_point(line: &[u8]) -> Option<PathBuf> {
        let escaped_path = line.split(|byte| *byte == b' ').nth(4)?;
        let (mut path, mut unread) = (Vec::new(), escaped_path);
        while let Some((&byte, behind)) = unread.split_first() {
            let digits = if byte == b'\\' { behind.get(..3) } else { None };
            let octal = digits.and_then(|digits| std::str::from_utf8(digits).ok());
            match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
                Some(decoded) => {
                    path.push(decoded);
                    unread = &behind[3..];
                }
                None => {
                    path.push(byte);
                    unread = behind;
                }
            }
        }
        Some(PathBuf::from(OsString::from_vec(path)))
    }

    /// Puts an empty folder over another one.
    fn cover(folder: &Path) -> io::Result<()> {
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        Ok(mount(Some("tmpfs"), folder, Some("tmpfs"), flags, Some("mode=1777"))?)
    }

    /// Starts the loopback interface, which a new network has switched off. The message is an
    /// `RTM_NEWLINK` of rtnetlink(7) about interface 1 with `IFF_UP`.
    fn start_loopback() -> io::Result<()> {
        const LENGTH: u32 = 32;
        const RTM_NEWLINK: u16 = 16;
        const REQUEST_AND_ACKNOWLEDGE: u16 = 1 | 4;
        const LOOPBACK: i32 = 1;
        const IFF_UP: u32 = 1;
        let mut message = Vec::with_capacity(LENGTH as usize);
        message.extend(LENGTH.to_ne_bytes());
        message.extend(RTM_NEWLINK.to_ne_bytes());
        message.extend(REQUEST_AND_ACKNOWLEDGE.to_ne_bytes());
        message.extend([0; 8]); // sequence number, port
        message.extend([0; 4]); // family, padding, type
        message.extend(LOOPBACK.to_ne_bytes());
        message.extend(IFF_UP.to_ne_bytes());
        message.extend(IFF_UP.to_ne_bytes()); // the flags to change
        let kernel = netlink::SocketAddrNetlink::new(0, 0);
        let link = socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
        sendto(&link, &message, SendFlags::empty(), &kernel)?;
        let mut answer = [0_u8; 256];
        let (length, _) = recv(&link, &mut answer, RecvFlags::empty())?;
        // Behind the header of 16 bytes stands the error number; 0: it is done.
        match answer[..length].get(16..20) {
            Some([0, 0, 0, 0]) => Ok(()),
            _ => Err(io::Error::other("the loopback interface cannot be started")),
        }
    }

    fn restrict(confinement: &Confinement) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let (full_access, read_access) =
            (AccessFs::from_all(ABI::V5), AccessFs::from_read(ABI::V5));
        // Landlock itself has to be there; what later kernels added is used if the kernel knows it.
        let basis = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(ABI::V1))?;
        let mut rules = basis
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(full_access)?
            .scope(Scope::AbstractUnixSocket)?
            .create()?
            .add_rule(PathBeneath::new(PathFd::new("/")?, read_access))?
            .add_rule(PathBeneath::new(PathFd::new(&confinement.folder)?, full_access))?
            .add_rules(path_beneath_rules(DEVICES, full_access))?;
        if has_shared_memory(confinement) {
            rules = rules.add_rules(path_beneath_rules([SHARED_MEMORY], full_access))?;
        }
        rules.restrict_self()?;
        Ok(())
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::io;

    use super::Confinement;

    pub(super) fn confine(_: &Confinement) -> io::Result<()> {
        Err(io::Error::other("this system has no Landlock"))
    }
}
