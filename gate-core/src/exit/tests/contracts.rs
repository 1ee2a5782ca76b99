//! CTR-EXIT001 to 006, INV-EXIT003, and which of two errors is told.

use super::*;

#[test]
fn ctr_exit001_a_signal_is_immutable() {
    // There is no message that changes or cancels one: each field is set when it
    // is made, builders make another, and an ended session takes no second one.
    let first = ExitSignal::new(WorkPhase::Review, ExitReason::Completed);
    let second = first.clone().with_notes("another");
    assert_eq!(first.notes, None);
    assert_ne!(first, second);
    is_no_signal(&with("cancels", "\"session-123\""), "unknown field `cancels`");
}

#[test]
fn ctr_exit002_the_protocol_is_this_one() {
    accepts(VALID);
    for wrong in ["wrong_protocol", "", "APM2_AGENT_EXIT", " apm2_agent_exit", "apm2_agent_exit "] {
        let json = with("protocol", &format!("\"{wrong}\""));
        refuses(&json, &format!("unknown protocol: expected 'apm2_agent_exit', got '{wrong}'"));
        let error = ExitSignal::from_json(&json).unwrap_err();
        assert_eq!(error, ExitSignalError::UnknownProtocol(wrong.to_owned()));
    }
}

#[test]
fn ctr_exit003_the_version_is_of_the_series_1() {
    for version in ["1.0.0", "1.1.0", "1.99.99", "1.0", "1.23"] {
        assert_eq!(accepts(&with("version", &format!("\"{version}\""))).version, version);
    }
    for version in [
        "2.0.0",
        "10.0.0",
        "0.9.0",
        "",
        "1",
        "1.",
        "1.bad",
        "1.0.bad",
        "1..0",
        "1.0.",
        "1.0.0.0",
        "1.x",
        "1.-1",
        "1.+1",
        " 1.0.0",
        "1.0.0 ",
        "v1.0.0",
        "11.0.0",
        "1.0.0-rc.1",
        "1.٣.0",
    ] {
        let text = format!("unsupported version: expected '1.x', got '{version}'");
        refuses(&with("version", &format!("\"{version}\"")), &text);
    }
}

#[test]
fn a_version_of_a_hundred_digits_is_refused() {
    let longest = format!("1.{}", "1".repeat(62));
    assert_eq!(accepts(&with("version", &format!("\"{longest}\""))).version, longest);
    let text = "version exceeds maximum length: 65 bytes > 64 bytes";
    refuses(&with("version", &format!("\"{longest}1\"")), text);
}

#[test]
fn ctr_exit004_the_phase_is_one_of_eight() {
    for phase in WorkPhase::ALL {
        let signal = accepts(&with("phase_completed", &format!("\"{phase}\"")));
        assert_eq!(signal.phase_completed, phase);
        assert_eq!(WorkPhase::parse(phase.as_str()), Ok(phase));
        assert_eq!(WorkPhase::parse(&phase.as_str().to_lowercase()), Ok(phase));
    }
    for phase in ["implementation", "CODING", "", "CI-PENDING", " DRAFT", "CiPending"] {
        is_no_signal(&with("phase_completed", &format!("\"{phase}\"")), "unknown variant");
    }
    for phase in ["CODING", "", " DRAFT", "CI-PENDING", "DRAFT\n"] {
        let error = WorkPhase::parse(phase).unwrap_err();
        assert_eq!(error, ExitSignalError::InvalidPhase(phase.to_owned()));
        assert_eq!(error.to_string(), format!("invalid work phase: '{phase}'"));
    }
    is_no_signal(&with("phase_completed", "{\"IMPLEMENTATION\":null}"), "a string");
}

#[test]
fn ctr_exit005_the_reason_is_one_of_three() {
    for reason in ExitReason::ALL {
        let signal = accepts(&with("exit_reason", &format!("\"{reason}\"")));
        assert_eq!(signal.exit_reason, reason);
    }
    for reason in ["COMPLETED", "failed", "", "Completed", "success"] {
        is_no_signal(&with("exit_reason", &format!("\"{reason}\"")), "unknown variant");
    }
    is_no_signal(&with("exit_reason", "{\"completed\":null}"), "a string");
}

#[test]
fn ctr_exit006_unknown_fields_are_refused() {
    for value in ["1", "\"x\"", "null", "{\"a\":[1]}"] {
        is_no_signal(&with("zzz", value), "unknown field `zzz`");
    }
    is_no_signal(&with("Notes", "\"x\""), "unknown field `Notes`");
    let deep = format!("{}1{}", "[".repeat(20_000), "]".repeat(20_000));
    is_no_signal(&with("zzz", &deep), "unknown field `zzz`");
    is_no_signal(&with("notes", &deep), "invalid type: sequence");
}

#[test]
fn required_fields_are_required() {
    for member in ["protocol", "version", "phase_completed", "exit_reason"] {
        let value: serde_json::Value = serde_json::from_str(VALID).unwrap();
        let mut members = value.as_object().unwrap().clone();
        members.remove(member);
        let json = serde_json::Value::Object(members).to_string();
        is_no_signal(&json, &format!("missing field `{member}`"));
    }
}

#[test]
fn a_signal_is_an_object_with_strings_and_no_key_twice() {
    let array = r#"["apm2_agent_exit","1.0.0","IMPLEMENTATION","completed",null,null,null]"#;
    for (json, part) in [
        (array, "invalid type: sequence"),
        ("[]", "invalid type: sequence"),
        ("\"x\"", "invalid type: string"),
        ("null", "invalid type: null"),
        ("7", "invalid type: integer"),
        ("", "EOF"),
        ("not valid json", "expected"),
        ("{}", "missing field"),
        ("{", "EOF"),
    ] {
        is_no_signal(json, part);
    }
    for member in ["protocol", "version", "pr_url", "evidence_bundle_ref", "notes"] {
        for value in ["null", "1", "true", "[]", "{}"] {
            is_no_signal(&with(member, value), "expected a string");
        }
    }
    let twice = VALID.replace("{\"protocol\"", "{\"version\":\"1.0.0\",\"protocol\"");
    is_no_signal(&twice, "duplicate field `version`");
    let escaped = VALID.replace("{\"protocol\"", "{\"\\u0076ersion\":\"1.0.0\",\"protocol\"");
    is_no_signal(&escaped, "duplicate field `version`");
    is_no_signal(&format!("\u{feff}{VALID}"), "expected value at line 1 column 1");
    is_no_signal(&format!("{VALID} x"), "trailing characters");
    is_no_signal(&format!("{VALID}{VALID}"), "trailing characters");
    is_no_signal(&VALID.replace('}', ",}"), "trailing comma");
    accepts(&format!(" \n{VALID}\r\n\n"));
}

#[test]
fn the_place_of_a_mistake_is_told() {
    is_no_signal(
        "{\n  \"protocol\": \"apm2_agent_exit\",\n  version: \"1.0.0\"\n}",
        "at line 3 column 3",
    );
}

#[test]
fn of_two_errors_the_first_rule_is_told() {
    let wrong = |phase: &str| {
        with("protocol", "\"wrong\"").replace("1.0.0", "2.0.0").replace("IMPLEMENTATION", phase)
    };
    is_no_signal(&wrong("NOPE"), "unknown variant `NOPE`");
    refuses(&wrong("DRAFT"), "unknown protocol: expected 'apm2_agent_exit', got 'wrong'");
    let version = with("notes", &format!("\"{}\"", "x".repeat(20_000))).replace("1.0.0", "2.0.0");
    refuses(&version, "unsupported version: expected '1.x', got '2.0.0'");
}

#[test]
fn inv_exit003_the_flag_is_read_once() {
    let (flag, mut reads) = (Flag::new(), 0);
    let mut read = |value: Option<&str>| {
        let value = value.map(str::to_owned);
        flag.is_enabled(|| {
            reads += 1;
            value
        })
    };
    assert_eq!([read(Some("true")), read(None), read(Some("false"))], [true; 3]);
    assert_eq!(reads, 1);
    assert_eq!(AgentExitConfig::default().enabled, is_agent_exit_protocol_enabled());
}

#[test]
fn the_flag_is_off_unless_it_is_switched_on() {
    for on in ["true", "1", "yes", "TRUE", "Yes", "tRuE"] {
        assert!(parse_agent_exit_protocol_enabled(Some(on)), "{on}");
    }
    for off in ["", "false", "0", "no", "on", "enabled", "2", " true", "true ", "y", "maybe"] {
        assert!(!parse_agent_exit_protocol_enabled(Some(off)), "{off}");
    }
    assert!(!parse_agent_exit_protocol_enabled(None));
    assert_eq!(AGENT_EXIT_PROTOCOL_ENABLED_ENV, "AGENT_EXIT_PROTOCOL_ENABLED");
}

#[test]
fn the_flag_is_asked_before_anything_is_read() {
    for json in [VALID, "not valid json", ""] {
        let error = AgentExitConfig::disabled().from_json(json).unwrap_err();
        assert_eq!(error, ExitSignalError::ValidationDisabled);
        assert_eq!(
            error.to_string(),
            "exit signal validation is disabled (AGENT_EXIT_PROTOCOL_ENABLED=false)"
        );
    }
    assert!(AgentExitConfig::enabled().from_json(VALID).is_ok());
    let by_flag = ExitSignal::from_json_if_enabled(VALID).is_ok();
    assert_eq!(by_flag, is_agent_exit_protocol_enabled());
}
