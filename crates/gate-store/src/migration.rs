//! The schema, and the numbered steps to it.

use super::error::StoreError;

/// The steps, in order; the first one makes version 1. A step that was released
/// is never changed.
const STEPS: [&str; 4] = [
    include_str!("migrations/0001_ledger.sql"),
    include_str!("migrations/0002_types.sql"),
    include_str!("migrations/0003_work.sql"),
    include_str!("migrations/0004_owners.sql"),
];

/// The version that this gate knows.
#[expect(clippy::cast_possible_wrap, reason = "a handful of steps")]
pub(super) const VERSION: i64 = STEPS.len() as i64;

/// The first version whose tables hold work items.
pub(super) const WITH_ITEMS: i64 = 3;

/// The SQL that leads from a version, 0 of an empty store, to [`VERSION`]; `None` if it is
/// that version already.
///
/// # Errors
///
/// A version that is newer than this gate, or a number below 0.
pub(super) fn steps_from(version: i64) -> Result<Option<String>, StoreError> {
    let first_step = usize::try_from(version)
        .map_err(|_| StoreError::corrupt(format!("{version} is no version of a schema")))?;
    let Some(steps) = STEPS.get(first_step..) else {
        return Err(StoreError::Newer { version, newest_known: VERSION });
    };
    // Version n is the schema after n steps, and each step records its own.
    let numbered_steps = steps.iter().zip(first_step + 1..);
    let sql: String = numbered_steps
        .map(|(step, number)| format!("{step}\nINSERT INTO gate_schema VALUES ({number});\n"))
        .collect();
    Ok(Some(sql).filter(|sql| !sql.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_store_takes_every_step() {
        let sql = steps_from(0).unwrap().unwrap();
        assert!(sql.contains("CREATE TABLE ledger"));
        assert!(sql.ends_with(&format!("VALUES ({VERSION});\n")));
        assert_eq!(steps_from(VERSION), Ok(None));
    }

    #[test]
    fn a_version_that_nobody_here_knows_is_refused() {
        let newer = StoreError::Newer { version: VERSION + 1, newest_known: VERSION };
        assert_eq!(steps_from(VERSION + 1), Err(newer));
        assert!(matches!(steps_from(-1), Err(StoreError::Corrupt { .. })));
    }
}
