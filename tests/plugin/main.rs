//! Decoders in shared libraries: judged in a child and in this process with the same findings; libraries that are wrong,
//! and decoders that misbehave.
//!
//! The tests start this program again, as the program of somebody who has registered decoders.
//! Processes are supervised by the means of Linux.

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
use linux::main;

#[cfg(not(target_os = "linux"))]
fn main() {}
