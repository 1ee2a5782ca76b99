//! Tests of all formats.
