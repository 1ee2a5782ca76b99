//! What is masked, and what is not.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Letters and digits in both cases, so many.
fn random(length: usize) -> String {
    "Ab3dE9fGh1jK7mNp".chars().cycle().take(length).collect()
}

fn upper(length: usize) -> String {
    random(length).to_uppercase()
}

/// Tokens of all kinds, put together here so that no scanner takes them for real.
fn tokens() -> Vec<String> {
    let joined = |start: &str, rest: String| format!("{start}{rest}");
    let starts = [
        ("ghp_", 36),
        ("gho_", 36),
        ("ghs_", 36),
        ("github_pat_", 82),
        ("glpat-", 20),
        ("sk-proj-", 48),
        ("sk-ant-api03-", 90),
        ("sk-", 48),
        ("AIza", 35),
        ("GOCSPX-", 28),
        ("xoxb-1234567890-", 24),
        ("xapp-1-", 40),
        ("sk_live_", 24),
        ("rk_test_", 24),
        ("whsec_", 32),
        ("npm_", 36),
        ("pypi-AgEIcHlwaS5vcmc", 60),
        ("hf_", 34),
        ("hvs.", 24),
        ("dckr_pat_", 27),
        ("SG.", 66),
        ("shpat_", 32),
        ("ya29.", 60),
        ("gsk_", 52),
    ];
    let mut all: Vec<_> = starts.map(|(start, length)| joined(start, random(length))).into();
    all.push(joined("AKIA", upper(16)));
    all.push(joined("ASIA", upper(16)));
    let part = |text: &str| joined("ey", joined(text, random(30)));
    all.push(format!("{}.{}.{}", part("J"), part("J"), random(43)));
    all
}

fn masked(text: &str) -> String {
    Masker::default().text(text)
}

#[test]
fn tokens_of_known_shapes_are_masked_wherever_they_stand() {
    for token in tokens() {
        for (before, after) in [
            ("", ""),
            ("key ", " end"),
            ("\"", "\","),
            ("token=", "\n"),
            ("(", ")"),
            ("test_x[", "]"),
            ("\\n", "\\n"),
        ] {
            let text = masked(&format!("{before}{token}{after}"));
            assert_eq!(text, format!("{before}{MASKED}{after}"), "{token}");
        }
    }
}

#[test]
fn what_follows_a_telling_name_is_masked() {
    let secret = random(24);
    for text in [
        format!("Authorization: Bearer {secret}"),
        format!("authorization: basic {}", random(12)),
        format!("curl -H 'Authorization: token {secret}' x"),
        format!("used bearer {secret}."),
        format!("postgres://gate:{}@db:5432/gate", random(9)),
        format!("https://{secret}@example.org/x"),
        format!("AWS_SECRET_ACCESS_KEY={}/+x", random(38)),
        format!("\"SecretAccessKey\": \"{secret}\""),
        format!("api_key: {secret}"),
        format!("db.password = \"{secret}\""),
        format!("x-api-key: {secret}"),
    ] {
        let masked = masked(&text);
        assert!(masked.contains(MASKED) && !masked.contains(&random(9)), "{text} -> {masked}");
    }
}

#[test]
fn private_keys_are_masked_whole_and_cut() {
    let head = format!("-----BEGIN RSA {}-----", "PRIVATE KEY");
    let tail = format!("-----END RSA {}-----", "PRIVATE KEY");
    let row = format!("{}\n", random(64));
    assert_eq!(masked(&format!("a\n{head}\n{row}{row}{tail}\nb")), "a\n[masked]\nb");
    assert_eq!(masked(&format!("\"{head}\\n{}\\n{tail}\\n\"", random(64))), "\"[masked]\\n\"");
    assert_eq!(masked(&format!("said:\n{row}{row}{tail}\nb")), "said:\n[masked]\nb");
    let cut = masked(&format!("{head}\n{row}{row}"));
    assert!(!cut.contains(&random(9)), "{cut}");
    let json = masked(&format!("[\"{head}\",\"{}\",\"x\"]", random(64)));
    assert!(json.starts_with("[\"[masked]\",\""), "{json}");
    let public = format!("-----BEGIN PUBLIC KEY-----\n{row}-----END PUBLIC KEY-----\n");
    assert_eq!(masked(&public), public);
}

#[test]
fn what_is_no_secret_stays_readable() {
    for text in [
        "commit 8c5fdc1d2e2a7a9a0e6f30e1f0a4a1b2c3d4e5f6",
        "blake3:848db68a1bef2a8805bc983e56a81bf8899cbe22167b9fb78154edb40f3d71bd",
        "01a20462-78d7-71b6-b068-52f445c62e02",
        "cache key: 848db68a1bef2a8805bc983e56a81bf8899cbe22",
        "token: 01a20462-78d7-71b6-b068-52f445c62e02",
        "tests/test_auth.py::TestToken::test_expired_token[password=None] FAILED",
        "auth::expired_token_is_refused_after_3600_seconds",
        "EXIT_STATUS: COMPLETE\nEXIT_TOKEN: 4fk39vp8",
        "[signal] token = \"required\"",
        "1 of 312 failed: auth::expired_token",
        "class sk-fading-circle-delay-animation12",
        "npm_package_config_something_very_long_name=x",
        "https://github.com/rust-lang/rust/issues/12345?page=2",
        "ssh://git@github.com/a/b and user@example.org",
        "postgres://USER:PASSWORD@HOST:PORT/NAME is expected",
        "postgres://user:$PASSWORD@host/name",
        "postgres://user:${db_password}@host/name",
        "postgres://user:{password}@host, postgres://user:%s@host",
        "postgres://user:%PASSWORD%@host/name and postgres://user:<password>@host/name",
        "Bearer authentication is not supported here",
        "the password is wrong, and the secret: nobody knows",
        "passed = 311, failed = 1, took 12.3s",
        "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        "/home/user/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/serde-1.0.219",
        "let token = cancellation_token.child_token();",
    ] {
        assert_eq!(masked(text), text);
    }
}

#[test]
fn a_password_that_begins_like_a_placeholder_is_masked() {
    for password in ["%23Secret9fK2", "$ecret9fK2", "$ecret", "{ecret9fK2", "${ecret", "%sK2"] {
        let text = masked(&format!("postgres://app:{password}@db/prod"));
        assert_eq!(text, format!("postgres://app:{MASKED}@db/prod"), "{password}");
    }
}

fn variable<'v>(name: &'v str, value: &'v str) -> Variable<'v> {
    Variable { name, value, is_seen: false }
}

#[test]
fn values_of_secret_variables_are_masked_and_ordinary_ones_are_not() {
    let masker = Masker::new([
        variable("DB_PASSWORD", "correct horse 9"),
        variable("PGPASSWORD", "postgres"),
        variable("API_TOKEN", "short1"),
        variable("SSH_KEY", "/home/user/.ssh/id_ed25519"),
        variable("PWD", "/home/user/project"),
        variable("EDITOR", "/usr/bin/editor"),
        variable("STRANGE", "aB3dE9fGh1jK7mNpQ"),
        variable("DATABASE_URL", "postgres://gate:s3cretPart@db/gate"),
        variable("SESSION", "01a20462-78d7-71b6-b068-52f445c62e02"),
    ]);
    assert_eq!(masker.text("<correct horse 9>"), "<[masked]>");
    assert_eq!(masker.text("xaB3dE9fGh1jK7mNpQy"), "x[masked]y");
    assert_eq!(masker.text("said s3cretPart here"), "said [masked] here");
    for text in [
        "postgres is up",
        "short1",
        "/home/user/.ssh/id_ed25519 /home/user/project",
        "/usr/bin/editor",
        "01a20462-78d7-71b6-b068-52f445c62e02",
    ] {
        assert_eq!(masker.text(text), text);
    }
    let seen = Variable { is_seen: true, ..variable("STRANGE", "aB3dE9fGh1jK7mNpQ") };
    assert_eq!(Masker::new([seen]).text("aB3dE9fGh1jK7mNpQ"), "aB3dE9fGh1jK7mNpQ");
}

#[test]
fn pointers_lead_to_what_is_masked() {
    let token = format!("ghp_{}", random(36));
    let mut value = json!({ "a/b": [1, { "~c": format!("x {token}") }], "d": "fine", (token.as_str()): "fine" });
    Masker::default().value(&mut value);
    assert!(!value.to_string().contains(&token));
    let found = pointers(&value);
    assert_eq!(found, ["/a~1b/1/~0c"]);
    assert_eq!(value.pointer(&found[0]).unwrap(), "x [masked]");
}

#[test]
fn a_token_before_a_name_with_an_at_sign_is_masked_too() {
    let token = random(24);
    let address = format!("https://{token}@team:{}@example.org/x", random(9));
    assert_eq!(masked(&address), "https://[masked]@team:[masked]@example.org/x");
    assert_eq!(
        masked("https://me@example.org:pw1@host/x"),
        "https://me@example.org:[masked]@host/x"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn masked_text_is_not_masked_again(pieces in proptest::collection::vec(0_usize..40, 0..30)) {
        let long = random(40);
        let key = format!("-----BEGIN {}-----\n", "PRIVATE KEY");
        let end = format!("-----END {}-----\n", "PRIVATE KEY");
        let fixed = [
            "ghp_", "sk-", "AKIA", "xoxb-", "eyJ", ".", "-", "_", " ", "\n", "://", "u:", "@", "password", "=", ": ",
            "Bearer ", "authorization: ", "[masked]", "[mask", "ed]", "ed]x9Yz3", "secretvalue1", "\"", &long[..9], &long[..17],
            &long, &key, &end, "ü", "SG.", "hvs.", "/", "token", "FlyV1 fm", "dp.pt.",
        ];
        let masker = Masker::new([
            variable("A_TOKEN", "secretvalue1"), variable("B_KEY", "ed]x9Yz3"), variable("C_KEY", "value1ghp_"),
        ]);
        let text: String = pieces.iter().map(|at| fixed[at % fixed.len()]).collect();
        let once = masker.text(&text);
        prop_assert_eq!(masker.text(&once), once, "{}", text);
    }
}

/// What would take for ever if it took more than time in proportion.
#[test]
fn a_flood_of_beginnings_is_masked_too() {
    let end = format!("-----END {}-----", "PRIVATE KEY");
    for piece in [
        "eyJ",
        "password=",
        "token: ",
        ":",
        "=",
        " ",
        "ghp_",
        "Bearer ",
        "a://b:c",
        "sk-",
        "A\n",
        end.as_str(),
        "dp.st.",
        "@",
        "PRIVATE KEY",
    ] {
        let text = piece.repeat((1 << 16) / piece.len());
        assert!(Masker::default().text(&masked(&text)) == masked(&text), "{piece}");
    }
    let base64 = format!("{}{}", random(1 << 16), end.repeat(2_000));
    assert!(masked(&base64).ends_with(MASKED));
}

fn printed(output: &str) -> String {
    Masker::default().output(&[], output)
}

#[test]
fn a_check_s_output_keeps_no_secret_that_a_name_beside_it_gives_away() {
    let token = random(24);
    for line in [
        format!("using token {token} for the upload"),
        format!("the deploy secret was ({token})"),
        format!("{token} is not a valid token"),
        format!("AssertionError: expected credentials '{token}'"),
        format!("+ export DEPLOY_KEY={token}"),
    ] {
        assert!(!printed(&line).contains(&token), "{line}");
        assert!(printed(&line).contains(MASKED), "{line}");
    }
    let repeated = printed("+ export DB_PASS=plain-words-only\nlogin failed for plain-words-only");
    assert_eq!(repeated, "+ export DB_PASS=[masked]\nlogin failed for [masked]");
    let hex = "9f86d081884c7d659a2feaa0c55ad015";
    assert_eq!(printed(&format!("api_token: {hex}")), "api_token: [masked]");
    let argv = ["bash", "-c", "export SIGNING_KEY=blue-horse-9; ./run"].map(str::to_owned);
    let output = Masker::default().output(&argv, "signed with blue-horse-9");
    assert_eq!(output, "signed with [masked]");
}

#[test]
fn a_check_s_output_stays_readable() {
    for line in [
        "--- PASS: TestHTTP2Server10Connections (0.00s)",
        "FAILED tests/test_auth.py::TestToken::test_expired_token[password=None]",
        "test_token (tests.TestToken.TestOAuth2RefreshFlowWithV2)",
        "cache key: 848db68a1bef2a8805bc983e56a81bf8",
        "let token = cancellation_token.child_token();",
        "token 01a20462-78d7-71b6-b068-52f445c62e02 has expired",
        "SSH_KEY=/home/user/.ssh/id_ed25519",
        "API_TOKEN=$OTHER_VARIABLE",
        "error[E0425]: cannot find value `token` in this scope at src/auth2_tokens_and_more.rs",
    ] {
        assert_eq!(printed(line), line);
    }
}

#[test]
fn an_output_full_of_names_is_masked_in_each_place() {
    let value = |at: usize| format!("zQ4rT8mW2kLp6Hs{at:08}");
    let output: String = (0..40_000).map(|at| format!("X_TOKEN={}\n", value(at))).collect();
    let masked = printed(&output);
    assert_eq!(masked.lines().count(), 40_000);
    assert!(!masked.contains("zQ4rT8mW2kLp6Hs"));
}
