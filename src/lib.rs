//! utfuzz: how UTF-8 decoders behave, with proof.
//!
//! A differential testing harness. [`spec`] is the standard as a program; [`decode`] is our own decoder; a
//! [`Decoder`] is anything that claims to decode UTF-8; the [`judge`] puts cases to decoders and holds each answer to
//! what the standard says under that decoder's own [contract](spec::Contract).
//!
//! Modules stand in layer order: each uses only those above it.

pub mod utf8;

pub mod error;

pub mod spec;

pub mod decode;

pub mod convert;

pub mod input;

pub mod decoder;

pub mod peers;

pub mod judge;

pub mod triage;

#[cfg(feature = "check")]
pub mod check;

#[cfg(feature = "fuzz")]
pub mod fuzz;

#[cfg(feature = "check")]
pub mod targets;

#[cfg(feature = "check")]
pub mod score;

#[cfg(feature = "cli")]
pub mod measure;

#[cfg(feature = "check")]
pub mod report;

#[cfg(feature = "cli")]
pub mod night;

#[cfg(feature = "cli")]
pub mod cli;

pub use decoder::{Decoder, Info, Stream};
pub use judge::Judge;
