//! Where cases come from: class strings, fragments of text and faults, structured inputs, seeds, published vectors.

pub mod classes;
pub mod fragments;
#[cfg(feature = "check")]
pub mod input_file;
#[cfg(feature = "arbitrary")]
pub mod mutate;
pub mod plan;
pub mod seeds;
#[cfg(feature = "arbitrary")]
pub mod structured;
pub mod vectors;
