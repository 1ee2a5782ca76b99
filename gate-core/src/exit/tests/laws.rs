//! Laws that hold for any signal.

use proptest::prelude::*;

use super::*;

fn any_signal() -> impl Strategy<Value = ExitSignal> {
    let phase = prop::sample::select(WorkPhase::ALL.to_vec());
    let reason = prop::sample::select(ExitReason::ALL.to_vec());
    let version = "1\\.[0-9]{1,3}(\\.[0-9]{1,3})?";
    let url = prop::option::of("https://[a-z0-9./_-]{0,40}");
    let path = prop::option::of("[a-z]{2,8}(/[a-z0-9_-]{1,8}){0,4}\\.yaml");
    let notes = prop::option::of(any::<String>());
    (version, phase, reason, url, path, notes).prop_map(
        |(version, phase, reason, url, path, notes)| ExitSignal {
            version,
            pr_url: url,
            evidence_bundle_ref: path,
            notes: notes.filter(|notes| notes.len() <= MAX_NOTES),
            ..ExitSignal::new(phase, reason)
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read(signal in any_signal()) {
        prop_assert_eq!(signal.validate(), Ok(()));
        for json in [serde_json::to_string(&signal).unwrap(), serde_json::to_string_pretty(&signal).unwrap()] {
            prop_assert_eq!(ExitSignal::from_json(&json), Ok(signal.clone()));
            let text = format!("Done.\n\n{json}\n");
            let found: Vec<_> = find(&text).into_iter().map(|place| text[place].to_owned()).collect();
            prop_assert_eq!(found, vec![json]);
        }
    }

    #[test]
    fn what_is_torn_is_no_signal(signal in any_signal(), cut in 0.0..1.0) {
        let json = serde_json::to_string(&signal).unwrap();
        let end = json.floor_char_boundary((json.len() as f64 * cut) as usize);
        prop_assert!(ExitSignal::from_json(&json[..end]).is_err());
    }

    #[test]
    fn a_further_member_is_refused(signal in any_signal(), name in "[a-z_]{1,12}", value in any::<i64>()) {
        let mut json = serde_json::to_string(&signal).unwrap();
        json.truncate(json.len() - 1);
        json.push_str(&format!(",\"{name}\":{value}}}"));
        let is_told = matches!(ExitSignal::from_json(&json), Err(ExitSignalError::InvalidJson(_)));
        prop_assert!(is_told);
    }

    #[test]
    fn a_member_that_stands_twice_is_refused(signal in any_signal(), at in 0..7_usize) {
        let value = serde_json::to_value(&signal).unwrap();
        let members = value.as_object().unwrap();
        let (name, value) = members.iter().nth(at % members.len()).unwrap();
        let json = serde_json::to_string(&signal).unwrap();
        let error = ExitSignal::from_json(&json.replacen('{', &format!("{{\"{name}\":{value},"), 1));
        let text = error.unwrap_err().to_string();
        let part = format!("invalid JSON: duplicate field `{name}` at line 1 column ");
        prop_assert!(text.starts_with(&part), "{}", text);
    }

    #[test]
    fn an_array_of_its_values_is_none(signal in any_signal(), depth in 1..3_000_usize) {
        let value = serde_json::to_value(&signal).unwrap();
        let values: Vec<_> = value.as_object().unwrap().values().cloned().collect();
        let array = serde_json::to_string(&values).unwrap();
        let deep = format!("{}{array}{}", "[".repeat(depth), "]".repeat(depth));
        for json in [array, deep] {
            let text = ExitSignal::from_json(&json).unwrap_err().to_string();
            prop_assert!(text.starts_with("invalid JSON: invalid type: sequence"), "{}", text);
        }
    }

    #[test]
    fn what_is_too_long_is_refused_for_that(signal in any_signal(), more in 1..2 * MAX_EXIT_SIGNAL) {
        let long = ExitSignal { notes: Some("x".repeat(MAX_NOTES + more)), ..signal };
        let json = serde_json::to_string(&long).unwrap();
        let told = ExitSignal::from_json(&json).unwrap_err();
        let expected = if json.len() > MAX_EXIT_SIGNAL {
            ExitSignalError::InputTooLarge { actual: json.len(), max: MAX_EXIT_SIGNAL }
        } else {
            let actual = MAX_NOTES + more;
            ExitSignalError::FieldTooLong { field: "notes", actual, max: MAX_NOTES }
        };
        prop_assert_eq!(told, expected);
    }

    #[test]
    fn any_text_is_read_without_panic(text in any::<String>()) {
        let _ = ExitSignal::from_json(&text);
        let _ = find(&text);
    }

    #[test]
    fn any_json_around_the_protocol_is_gone_over(text in "[\\[\\]{}\":, \n'a]{0,40}", at in 0..40_usize) {
        let at = text.floor_char_boundary(at);
        let text = format!("{}{EXIT_SIGNAL_PROTOCOL}{}", &text[..at], &text[at..]);
        let places = find(&text);
        prop_assert!(places.is_sorted_by_key(|place| place.start));
        prop_assert!(places.iter().all(|place| text[place.clone()].contains(EXIT_SIGNAL_PROTOCOL)));
    }
}
