//! The identity of a project, the same in all of its work trees.
//!
//! No program runs for this, since every decision reads it. Includes and `insteadOf` of git's
//! settings are not followed.

use std::fs;
use std::path::{Path, PathBuf};

use super::{git, repository, root};

/// The identity of a project: the address of the repository's `origin` without credentials,
/// else the folder that its work trees share, else the folder itself.
pub fn identity(project: &Path) -> String {
    let project = project.canonicalize().unwrap_or_else(|_| project.to_owned());
    let repository = project.ancestors().find(|folder| root::is_repository(folder));
    let common = repository.and_then(|folder| common(&folder.join(".git")));
    let Some(common) = common else { return project.display().to_string() };
    let settings = fs::read(common.join("config")).unwrap_or_default();
    let origin = origin(&String::from_utf8_lossy(&settings));
    origin.map_or_else(|| common.display().to_string(), |url| without_credentials(&url))
}

fn common(dot_git: &Path) -> Option<PathBuf> {
    let common = repository::common(&git::git_dir(dot_git).ok()?);
    Some(common.canonicalize().unwrap_or(common))
}

/// The first `url` of `[remote "origin"]`.
fn origin(settings: &str) -> Option<String> {
    let lines = settings.lines().map(str::trim);
    let mut section = lines.skip_while(|line| !is_origin(line)).skip(1);
    section.by_ref().take_while(|line| !line.starts_with('[')).find_map(|line| {
        let (key, value) = line.split_once('=')?;
        let value = value.trim().trim_matches('"');
        (key.trim().eq_ignore_ascii_case("url") && !value.is_empty()).then(|| value.to_owned())
    })
}

fn is_origin(line: &str) -> bool {
    let Some((name, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once('"')) else {
        return false;
    };
    name.trim().eq_ignore_ascii_case("remote") && rest.starts_with("origin\"")
}

/// An address without its user's name and password.
fn without_credentials(url: &str) -> String {
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), url),
    };
    let host_ends = rest.find(['/', ':']).unwrap_or(rest.len());
    let end = if scheme.is_empty() { host_ends } else { rest.find('/').unwrap_or(rest.len()) };
    let host = rest[..end].rsplit_once('@').map_or(&rest[..end], |(_, host)| host);
    format!("{scheme}{host}{}", &rest[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_tells_no_secrets() {
        for (url, known_by) in [
            ("https://me:secret@host.example/team/shop.git", "https://host.example/team/shop.git"),
            ("https://token@host.example:8443/shop", "https://host.example:8443/shop"),
            ("git@host.example:team/shop.git", "host.example:team/shop.git"),
            ("ssh://git@host.example/team/shop", "ssh://host.example/team/shop"),
            ("/srv/git/a@b/shop.git", "/srv/git/a@b/shop.git"),
            ("https://host.example/a@b", "https://host.example/a@b"),
        ] {
            assert_eq!(without_credentials(url), known_by);
        }
    }

    #[test]
    fn the_origin_is_found_among_other_sections() {
        let settings = "[core]\n\turl = no\n[remote \"fork\"]\n\turl = /fork\n\
                        [Remote \"origin\"]\n\tfetch = +refs\n\tURL = \"/srv/shop\"\n[branch \"x\"]\n";
        assert_eq!(origin(settings).as_deref(), Some("/srv/shop"));
        assert_eq!(origin("[remote \"origin\"]\n\tfetch = x\n[remote \"b\"]\nurl = /b\n"), None);
        assert_eq!(origin(""), None);
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
