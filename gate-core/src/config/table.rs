//! A table of settings, of which each key is written once.

/// Defines a table twice: `Raw`, as a source writes it, where each key may be absent and no other may
/// be there, and `Settled`, the values that count.
///
/// A key is `name: Type`. If `=> name: Type` follows, that is its name and type in `Settled`. A key
/// that no source sets is a fault, unless `= value` stands for it; with `as function` that makes the
/// value of `Settled`, or a fault, from what is written, if anything. `_ => name: Type = value` is a
/// member of `Settled` that is no key. Docs are for both, `#[schemars]` for `Raw`, and `#[serde]` for
/// the form that `Settled` has in records.
macro_rules! settings {
    (
        $(#[doc = $doc:literal])*
        #[derive($($derive:path),* $(,)?)] $(#[$open:ident])?
        pub struct $Settled:ident from $Raw:ident in $table:literal { $($keys:tt)* }
    ) => {
        $crate::config::settings! {
            @[[$(#[doc = $doc])*] [#[derive($($derive),*)] $(#[$open])?] $Settled $Raw]
            $table [] [] [] [] $($keys)*
        }
    };
    (@value $table:literal $key:ident [] [$settle:path]) => {
        $settle($key)?
    };
    (@value $table:literal $key:ident [] []) => {
        $key.ok_or_else(|| {
            $crate::config::Fault::missing(concat!($table, ".", stringify!($key)))
        })?
        .into()
    };
    (@value $table:literal $key:ident [$absent:expr] []) => {
        $key.map_or_else(|| $absent, Into::into)
    };
    (
        @$head:tt $table:literal
        [$($raw:tt)*] [$($key:ident)*] [$($settled:tt)*] [$($values:tt)*]
        $(#[doc = $doc:literal])* $(#[serde($($record:tt)*)])?
        _ => $field:ident: $Field:ty = $value:expr, $($more:tt)*
    ) => {
        $crate::config::settings! {
            @$head $table
            [$($raw)*] [$($key)*]
            [$($settled)* $(#[doc = $doc])* $(#[serde($($record)*)])? pub $field: $Field,]
            [$($values)* $field: $value,]
            $($more)*
        }
    };
    (
        @$head:tt $table:literal
        [$($raw:tt)*] [$($keys:ident)*] [$($settled:tt)*] [$($values:tt)*]
        $(#[doc = $doc:literal])* $(#[schemars($($file:tt)*)])? $(#[serde($($record:tt)*)])?
        $key:ident: $Type:ty => $field:ident: $Field:ty $(as $settle:path)? $(= $absent:expr)?,
        $($more:tt)*
    ) => {
        $crate::config::settings! {
            @$head $table
            [$($raw)* $(#[doc = $doc])* $(#[schemars($($file)*)])? pub $key: Option<$Type>,]
            [$($keys)* $key]
            [$($settled)* $(#[doc = $doc])* $(#[serde($($record)*)])? pub $field: $Field,]
            [$($values)*
                $field: $crate::config::settings!(@value $table $key [$($absent)?] [$($settle)?]),]
            $($more)*
        }
    };
    (
        @$head:tt $table:literal $raw:tt $keys:tt $settled:tt $values:tt
        $(#[doc = $doc:literal])* $(#[schemars($($file:tt)*)])? $(#[serde($($record:tt)*)])?
        $key:ident: $Type:ty $(= $absent:expr)?, $($more:tt)*
    ) => {
        $crate::config::settings! {
            @$head $table $raw $keys $settled $values
            $(#[doc = $doc])* $(#[schemars($($file)*)])? $(#[serde($($record)*)])?
            $key: $Type => $key: $Type $(= $absent)?, $($more)*
        }
    };
    (
        @[[$($docs:tt)*] [$($attributes:tt)*] $Settled:ident $Raw:ident] $table:literal
        [$($raw:tt)*] [$($key:ident)*] [$($settled:tt)*] [$($values:tt)*]
    ) => {
        $($docs)* $($attributes)*
        pub struct $Settled { $($settled)* }

        $($docs)*
        #[non_exhaustive]
        #[derive(Clone, Debug, Default, PartialEq)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $Raw { $($raw)* }

        impl $Raw {
            /// The values that count.
            pub(crate) fn settled(self) -> Result<$Settled, $crate::config::Fault> {
                let Self { $($key),* } = self;
                Ok($Settled { $($values)* })
            }
        }
    };
}

pub(crate) use settings;
