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

/// The SQL that leads from a version, 0 of an empty store, to [`VERSION`]; None if it is that
/// version already.
///
/// # Errors
///
/// A version that is newer than this gate, or is none.
pub(super) fn from(version: i64) -> Result<Option<String>, StoreError> {
    let done = usize::try_from(version)
        .map_err(|_| StoreError::corrupt(format!("{version} is no version of a schema")))?;
    let Some(steps) = STEPS.get(done..) else {
        return Err(StoreError::Newer { found: version, known: VERSION });
    };
    let record = (done + 1..).map(|number| format!("INSERT INTO gate_schema VALUES ({number});"));
    let sql: String =
        steps.iter().zip(record).map(|(step, record)| format!("{step}\n{record}\n")).collect();
    Ok(Some(sql).filter(|sql| !sql.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_store_takes_every_step() {
        let sql = from(0).unwrap().unwrap();
        assert!(sql.contains("CREATE TABLE ledger"));
        assert!(sql.ends_with(&format!("VALUES ({VERSION});\n")));
        assert_eq!(from(VERSION), Ok(None));
    }

    #[test]
    fn a_version_that_nobody_here_knows_is_refused() {
        let newer = StoreError::Newer { found: VERSION + 1, known: VERSION };
        assert_eq!(from(VERSION + 1), Err(newer));
        assert!(matches!(from(-1), Err(StoreError::Corrupt { .. })));
    }
}
