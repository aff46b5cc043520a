//! Decoders that end the process, or throw what nobody expects: each is named, and the others are still checked.
//!
//! The tests start this program again, as the program of somebody who has registered such decoders.
//! Processes are supervised by the means of Linux.

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
use linux::main;

#[cfg(not(target_os = "linux"))]
fn main() {}
