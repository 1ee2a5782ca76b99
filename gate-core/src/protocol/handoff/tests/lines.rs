//! Lines that say two things, look like another one, or have more below them than a
//! handoff can hold.

use super::super::*;
use super::{MARKDOWN, read_md, whole};

#[test]
fn what_stands_below_an_entry_does_not_vanish() {
    for more in [
        "    ```\n    a log\n    ```\n",
        "    > said\n",
        "\n    And a word more.\n",
        "\n    And a word more.\n\n    - notes: x\n",
        "    ***\n",
        "\n    <b>\n",
        "\n    | a |\n    |---|\n",
    ] {
        let rollback = "    - rollback: git revert HEAD\n";
        let risk = "  - Old archives are untested, Some may not load, qa\n";
        let keyed = "  - risk: a\n    - impact: b\n    - owner: qa\n";
        for (field, from, to) in
            [("verification[1]", rollback, rollback), ("open_risks[0]", risk, keyed)]
        {
            let text = MARKDOWN.replace(from, &format!("{to}{more}"));
            let told = read_md(&text).problems;
            let is_told = |it: &Problem| it.field == field && it.message.contains("only a list");
            assert!(told.iter().any(is_told), "{text}: {told:?}");
        }
    }
    // Below a key it belongs to the text.
    let text =
        MARKDOWN.replace("severity: low\n", "severity: low\n\n      ```\n      a log\n      ```\n");
    let read = read_md(&text);
    assert_eq!(read.problems, []);
    let blocker = read.handoff.unwrap().verification[1].blocker.clone().unwrap();
    assert_eq!(blocker.severity, "low\n\n```\na log\n```");
    let text = MARKDOWN.replace(
        "    - severity: low\n    - rollback: git revert HEAD\n",
        "    - blocker:\n      - severity: low\n      - rollback: r\n\n      More.\n",
    );
    assert_eq!(read_md(&text).problems[0].field, "verification[1].blocker");
    assert_eq!(read_md(MARKDOWN), Read { handoff: Some(whole()), problems: Vec::new() });
}
