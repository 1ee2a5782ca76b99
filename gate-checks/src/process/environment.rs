//! The part of gate's environment that a check may see.

use std::path::PathBuf;

/// The usual names: who and where the user is, where the tools and their caches stand, and how the
/// network is reached. A tool's own switches (`PYTEST_ADDOPTS`, `GOFLAGS`, `NODE_OPTIONS`,
/// `RUSTC_WRAPPER`, …) are not among them: they can decide which tests run. `env` adds what a check
/// needs. Sorted, because each start of gate looks up each variable.
const USUAL: [&str; 113] = [
    "ALL_PROXY",
    "ANDROID_HOME",
    "ANDROID_SDK_ROOT",
    "AR",
    "ASDF_DATA_DIR",
    "ASDF_DIR",
    "BUNDLE_PATH",
    "BUN_INSTALL",
    "CARGO_BUILD_JOBS",
    "CARGO_HOME",
    "CARGO_NET_OFFLINE",
    "CARGO_TARGET_DIR",
    "CC",
    "CFLAGS",
    "CI",
    "CMAKE_PREFIX_PATH",
    "CONDA_DEFAULT_ENV",
    "CONDA_PREFIX",
    "COREPACK_HOME",
    "CPATH",
    "CPPFLAGS",
    "CURL_CA_BUNDLE",
    "CXX",
    "CXXFLAGS",
    "DBUS_SESSION_BUS_ADDRESS",
    "DENO_DIR",
    "DEVELOPER_DIR",
    "DISPLAY",
    "DOCKER_CONFIG",
    "DOCKER_HOST",
    "DOTNET_CLI_HOME",
    "DOTNET_ROOT",
    "FNM_DIR",
    "GEM_HOME",
    "GEM_PATH",
    "GOCACHE",
    "GOMODCACHE",
    "GOPATH",
    "GOPRIVATE",
    "GOPROXY",
    "GOROOT",
    "GOSUMDB",
    "GOTOOLCHAIN",
    "GRADLE_HOME",
    "GRADLE_USER_HOME",
    "GUIX_PROFILE",
    "HOME",
    "HOMEBREW_PREFIX",
    "HOSTNAME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "JAVA_HOME",
    "JDK_HOME",
    "LANG",
    "LANGUAGE",
    "LD",
    "LDFLAGS",
    "LD_LIBRARY_PATH",
    "LIBRARY_PATH",
    "LOGNAME",
    "M2_HOME",
    "MACOSX_DEPLOYMENT_TARGET",
    "MAVEN_HOME",
    "MISE_CACHE_DIR",
    "MISE_CONFIG_DIR",
    "MISE_DATA_DIR",
    "NIX_PATH",
    "NIX_PROFILES",
    "NIX_SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    "NO_PROXY",
    "NPM_CONFIG_USERCONFIG",
    "NUGET_PACKAGES",
    "NVM_BIN",
    "NVM_DIR",
    "PATH",
    "PIP_CACHE_DIR",
    "PIP_INDEX_URL",
    "PKG_CONFIG_PATH",
    "PNPM_HOME",
    "POETRY_CACHE_DIR",
    "POETRY_HOME",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "RBENV_ROOT",
    "RBENV_VERSION",
    "REQUESTS_CA_BUNDLE",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "SDKROOT",
    "SHELL",
    "SSH_AUTH_SOCK",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TEMP",
    "TERM",
    "TESTCONTAINERS_RYUK_DISABLED",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "UV_CACHE_DIR",
    "UV_PYTHON_INSTALL_DIR",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "YARN_CACHE_FOLDER",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "npm_config_cache",
];

/// Prefixes of names that are usual too.
const USUAL_PREFIXES: [&str; 2] = ["LC_", "XDG_"];

/// True for a variable that every check sees.
pub(crate) fn is_usual(name: &str) -> bool {
    USUAL.binary_search(&name).is_ok()
        || USUAL_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// The part of an environment that a check sees: the usual names, and those in its
/// settings. Variables of gate itself are never passed on.
pub(crate) fn environment(all: &[(String, String)], extra: &[String]) -> Vec<(String, String)> {
    let mut passed = Vec::new();
    for (name, value) in all {
        if !name.starts_with("GATE_") && (is_usual(name) || extra.contains(name)) {
            let value = if name == "PATH" { absolute(value) } else { value.clone() };
            passed.push((name.clone(), value));
        }
    }
    passed
}

/// A PATH without its relative folders: in those, the agent's work could replace the
/// tools that check it.
pub(crate) fn absolute(path: &str) -> String {
    absolute_folders(std::env::split_paths(path))
}

/// A PATH of those folders that are absolute and text.
pub(crate) fn absolute_folders(folders: impl Iterator<Item = PathBuf>) -> String {
    let all = folders.filter(|folder| folder.is_absolute());
    let all: Vec<_> = all.filter_map(|folder| folder.into_os_string().into_string().ok()).collect();
    all.join(":")
}

#[cfg(test)]
mod tests {
    use super::environment;

    fn names(configured: &[&str]) -> Vec<String> {
        let all = ["PATH", "LC_ALL", "GATE_STATE_DIR", "PGPASSWORD", "CLAUDECODE", "RUSTFLAGS"]
            .map(|name| (name.to_owned(), "x".to_owned()));
        let configured: Vec<_> = configured.iter().map(|&name| name.to_owned()).collect();
        environment(&all, &configured).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn the_usual_names_are_in_order_as_the_search_wants_them() {
        assert!(super::USUAL.is_sorted());
    }

    #[test]
    fn the_usual_names_are_passed_and_no_others() {
        assert_eq!(names(&[]), ["PATH", "LC_ALL"]);
    }

    #[test]
    fn what_a_check_asks_for_is_passed() {
        assert_eq!(
            names(&["RUSTFLAGS", "PGPASSWORD"]),
            ["PATH", "LC_ALL", "PGPASSWORD", "RUSTFLAGS"]
        );
    }

    #[test]
    fn a_relative_folder_of_programs_is_left_out() {
        assert_eq!(super::absolute(".:/usr/bin::bin:/bin"), "/usr/bin:/bin");
    }

    #[test]
    fn what_is_gates_own_is_never_passed() {
        assert_eq!(names(&["GATE_STATE_DIR"]), ["PATH", "LC_ALL"]);
    }
}
