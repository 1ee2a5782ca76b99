//! Changes of the schema that older gates can live with: an index, a view, a table of its own.
//!
//! An addition does not change the version of the schema, so gates that do not know it go on.
//! Nothing may depend on one: a store may be without it.

/// A change of the schema that older gates can live with. A released addition is never changed.
#[derive(Debug)]
pub(super) struct Addition {
    /// The name of its file, without the number.
    pub(super) name: &'static str,
    pub(super) sqlite: &'static str,
    #[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "SQLite alone"))]
    pub(super) postgres: &'static str,
}

/// The view of all decisions, from the ledger with its decisions as JSON.
macro_rules! decisions {
    ($parsed:literal) => {
        concat!(
            "DROP VIEW IF EXISTS gate_decisions;\nCREATE VIEW gate_decisions AS\nWITH parsed AS (",
            $parsed,
            ")\n",
            include_str!("additions/0002_decisions.sql")
        )
    };
}

/// The additions in order; the first one has number 1.
const ADDITIONS: [Addition; 2] = [
    Addition {
        name: "work_lease",
        sqlite: include_str!("additions/0001_work_lease.sql"),
        postgres: include_str!("additions/0001_work_lease.sql"),
    },
    Addition {
        name: "decisions",
        // Without the LIMIT, SQLite would parse the body again for each column.
        sqlite: decisions!("SELECT *, body -> 'decision' AS decision FROM ledger LIMIT -1"),
        // The OFFSET has the same effect in PostgreSQL. A condition on the ledger's columns is still
        // looked up first.
        postgres: decisions!(
            "SELECT * FROM ledger, \
             LATERAL (SELECT CAST(body AS JSONB) -> 'decision' AS decision OFFSET 0) AS body_parsed"
        ),
    },
];

/// The table of the numbers of the additions that a store has.
const TABLE: &str =
    "CREATE TABLE IF NOT EXISTS gate_additions (number BIGINT NOT NULL PRIMARY KEY);";

/// The numbers of the additions that a store has.
pub(super) const PRESENT: &str = "SELECT number FROM gate_additions ORDER BY number";

/// An addition with its number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbered {
    pub(super) number: i64,
    pub(super) addition: &'static Addition,
}

impl Numbered {
    /// The statements that make the addition and record its number. `sql` is its text for the
    /// database.
    pub(super) fn statements(&self, sql: &str) -> String {
        format!("{TABLE}\n{sql}\nINSERT INTO gate_additions VALUES ({});", self.number)
    }
}

/// The additions that a store lacks, by the numbers that are present. A present number that this gate
/// does not know is a newer gate's.
pub(super) fn missing(present: &[i64]) -> impl Iterator<Item = Numbered> {
    let additions = (1..).zip(&ADDITIONS).map(|(number, addition)| Numbered { number, addition });
    additions.filter(move |numbered| !present.contains(&numbered.number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_numbered_from_1_in_order() {
        let numbers = |present: &[i64]| -> Vec<_> {
            missing(present).map(|numbered| numbered.number).collect()
        };
        let all: Vec<_> = (1..).take(ADDITIONS.len()).collect();
        assert_eq!(numbers(&[]), all);
        assert_eq!(numbers(&[1]), all[1..]);
        assert!(numbers(&[all.as_slice(), &[99]].concat()).is_empty());
    }

    #[test]
    fn an_addition_records_its_number() {
        let first = missing(&[]).next().unwrap();
        let statements = first.statements(first.addition.sqlite);
        assert!(
            statements.starts_with("CREATE TABLE IF NOT EXISTS gate_additions"),
            "{statements}"
        );
        assert!(statements.ends_with("INSERT INTO gate_additions VALUES (1);"), "{statements}");
    }
}
