//! The identity of a project, the same in all of its work trees.
//!
//! No program runs for this, since every decision reads it. Includes and `insteadOf` of git's
//! settings are not followed.

use std::fs;
use std::path::{Path, PathBuf};

use gate_platform::RealPath;

use super::{git, repository, root};

/// The identity of a project: the address of the repository's `origin` without credentials,
/// else the folder that its work trees share, else the folder itself.
pub fn identity(project: &Path) -> String {
    let project = project.real_path().unwrap_or_else(|_| project.to_owned());
    let repository = project.ancestors().find(|folder| root::is_repository(folder));
    let shared_folder = repository.and_then(|folder| shared_folder(&folder.join(".git")));
    let Some(shared_folder) = shared_folder else { return project.display().to_string() };
    let settings = fs::read(shared_folder.join("config")).unwrap_or_default();
    let origin = origin_url(&String::from_utf8_lossy(&settings));
    origin.map_or_else(|| shared_folder.display().to_string(), |url| without_credentials(&url))
}

fn shared_folder(dot_git: &Path) -> Option<PathBuf> {
    let folder = repository::common_folder(&git::git_dir(dot_git).ok()?);
    Some(folder.real_path().unwrap_or(folder))
}

/// The first `url` of `[remote "origin"]`.
fn origin_url(settings: &str) -> Option<String> {
    let lines = settings.lines().map(str::trim);
    let mut section = lines.skip_while(|line| !is_origin_section(line)).skip(1);
    section.by_ref().take_while(|line| !line.starts_with('[')).find_map(|line| {
        let (key, value) = line.split_once('=')?;
        let value = value.trim().trim_matches('"');
        (key.trim().eq_ignore_ascii_case("url") && !value.is_empty()).then(|| value.to_owned())
    })
}

fn is_origin_section(line: &str) -> bool {
    let Some((section, remote)) = line.strip_prefix('[').and_then(|head| head.split_once('"'))
    else {
        return false;
    };
    section.trim().eq_ignore_ascii_case("remote") && remote.starts_with("origin\"")
}

/// An address without its user's name and password.
fn without_credentials(url: &str) -> String {
    let (scheme, address) = match url.split_once("://") {
        Some((scheme, address)) => (format!("{scheme}://"), address),
        None => (String::new(), url),
    };
    // `user@host:path` has no scheme; with one, a colon stands before the password or the port.
    let ends: &[char] = if scheme.is_empty() { &['/', ':'] } else { &['/'] };
    let (authority, path) = address.split_at(address.find(ends).unwrap_or(address.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_tells_no_secrets() {
        for (url, expected) in [
            ("https://me:secret@host.example/team/shop.git", "https://host.example/team/shop.git"),
            ("https://token@host.example:8443/shop", "https://host.example:8443/shop"),
            ("git@host.example:team/shop.git", "host.example:team/shop.git"),
            ("ssh://git@host.example/team/shop", "ssh://host.example/team/shop"),
            ("/srv/git/a@b/shop.git", "/srv/git/a@b/shop.git"),
            ("https://host.example/a@b", "https://host.example/a@b"),
        ] {
            assert_eq!(without_credentials(url), expected);
        }
    }

    #[test]
    fn the_origin_is_found_among_other_sections() {
        let settings = "[core]\n\turl = no\n[remote \"fork\"]\n\turl = /fork\n\
                        [Remote \"origin\"]\n\tfetch = +refs\n\tURL = \"/srv/shop\"\n[branch \"x\"]\n";
        assert_eq!(origin_url(settings).as_deref(), Some("/srv/shop"));
        assert_eq!(
            origin_url("[remote \"origin\"]\n\tfetch = x\n[remote \"b\"]\nurl = /b\n"),
            None
        );
        assert_eq!(origin_url(""), None);
    }

    #[test]
    fn a_linked_work_tree_is_the_same_project() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let (shop, git, linked) = (folder.join("shop"), folder.join("shop/.git"), folder.join("b"));
        fs::create_dir_all(git.join("objects")).unwrap();
        fs::create_dir_all(git.join("worktrees/b")).unwrap();
        fs::create_dir_all(&linked).unwrap();
        for head in [git.join("HEAD"), git.join("worktrees/b/HEAD")] {
            fs::write(head, "ref: refs/heads/main\n").unwrap();
        }
        fs::write(git.join("worktrees/b/commondir"), "../..\n").unwrap();
        fs::write(linked.join(".git"), format!("gitdir: {}\n", git.join("worktrees/b").display()))
            .unwrap();
        assert_eq!(identity(&shop), git.display().to_string());
        assert_eq!(identity(&linked), identity(&shop));
        fs::write(git.join("config"), "[remote \"origin\"]\nurl = https://a:b@host/shop\n")
            .unwrap();
        assert_eq!(identity(&linked), "https://host/shop");
        assert_eq!(identity(&folder), folder.display().to_string());
    }
}
