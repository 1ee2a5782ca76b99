//! What of gate's environment a check may see.

/// The usual names: who and where the user is, where the tools and their
/// caches stand, and how the network is reached. A tool's own switches
/// (`PYTEST_ADDOPTS`, `GOFLAGS`, `NODE_OPTIONS`, `RUSTC_WRAPPER`, …) are not
/// among them: they can decide which tests run. `env` adds what a check needs.
const USUAL: &str = "
    PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM TMPDIR TMP TEMP HOSTNAME CI
    DISPLAY WAYLAND_DISPLAY XAUTHORITY DBUS_SESSION_BUS_ADDRESS SSH_AUTH_SOCK
    http_proxy https_proxy no_proxy all_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY
    SSL_CERT_FILE SSL_CERT_DIR NIX_SSL_CERT_FILE REQUESTS_CA_BUNDLE CURL_CA_BUNDLE
    NIX_PATH NIX_PROFILES GUIX_PROFILE HOMEBREW_PREFIX
    CC CXX AR LD CFLAGS CXXFLAGS CPPFLAGS LDFLAGS LIBRARY_PATH LD_LIBRARY_PATH CPATH
    PKG_CONFIG_PATH CMAKE_PREFIX_PATH DEVELOPER_DIR SDKROOT MACOSX_DEPLOYMENT_TARGET
    CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN CARGO_TARGET_DIR CARGO_BUILD_JOBS CARGO_NET_OFFLINE
    GOPATH GOROOT GOCACHE GOMODCACHE GOPROXY GOSUMDB GOPRIVATE GOTOOLCHAIN
    JAVA_HOME JDK_HOME M2_HOME MAVEN_HOME GRADLE_HOME GRADLE_USER_HOME
    ANDROID_HOME ANDROID_SDK_ROOT DOTNET_ROOT NUGET_PACKAGES DOTNET_CLI_HOME
    NVM_DIR NVM_BIN FNM_DIR VOLTA_HOME PNPM_HOME BUN_INSTALL DENO_DIR COREPACK_HOME
    NODE_EXTRA_CA_CERTS NPM_CONFIG_USERCONFIG npm_config_cache YARN_CACHE_FOLDER
    VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV PYENV_ROOT PYENV_VERSION UV_CACHE_DIR
    UV_PYTHON_INSTALL_DIR PIP_CACHE_DIR PIP_INDEX_URL POETRY_HOME POETRY_CACHE_DIR
    GEM_HOME GEM_PATH BUNDLE_PATH RBENV_ROOT RBENV_VERSION
    ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR MISE_CONFIG_DIR MISE_CACHE_DIR
    DOCKER_HOST DOCKER_CONFIG TESTCONTAINERS_RYUK_DISABLED
";

/// Prefixes of names that are usual too.
const USUAL_PREFIXES: [&str; 2] = ["LC_", "XDG_"];

/// Whether a check sees a variable of this name unasked.
pub(crate) fn is_usual(name: &str) -> bool {
    USUAL.split_whitespace().any(|usual| usual == name)
        || USUAL_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// The part of an environment that a check sees: the usual names and those
/// that it asks for. What belongs to gate itself is never passed on.
pub(crate) fn environment(all: &[(String, String)], asked: &[String]) -> Vec<(String, String)> {
    let wanted = |name: &str| is_usual(name) || asked.iter().any(|asked| asked == name);
    let passed = all.iter().filter(|(name, _)| !name.starts_with("GATE_") && wanted(name));
    let passed = passed.map(|(name, value)| match name.as_str() {
        "PATH" => (name.clone(), absolute(value)),
        _ => (name.clone(), value.clone()),
    });
    passed.collect()
}

/// The folders of a PATH without relative ones: those would let the work decide
/// which tools look at it.
pub(crate) fn absolute(path: &str) -> String {
    let all = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    let all: Vec<_> = all.filter_map(|folder| folder.into_os_string().into_string().ok()).collect();
    all.join(":")
}

#[cfg(test)]
mod tests {
    use super::environment;

    fn names(asked: &[&str]) -> Vec<String> {
        let all = ["PATH", "LC_ALL", "GATE_STATE_DIR", "PGPASSWORD", "CLAUDECODE", "RUSTFLAGS"]
            .map(|name| (name.to_owned(), "x".to_owned()));
        let asked: Vec<_> = asked.iter().map(|&name| name.to_owned()).collect();
        environment(&all, &asked).into_iter().map(|(name, _)| name).collect()
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
