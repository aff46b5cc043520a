//! Strings over the byte classes: which there are, where they are placed, what stands around them, and which of them a
//! grammar can tell apart.

pub mod padding;
pub mod partition;
pub mod plan;
pub mod strings;
