//! Adapters that misbehave, for the tests of the harness: `planted_adapter FAULT ENTRY`. Most behave well on inputs
//! without the byte FF; the others misbehave at the start, or after many questions.

use std::io::{self, Read, Write};
use std::process::{Command, abort, exit};
use std::time::Duration;

fn main() -> io::Result<()> {
    let mut args = std::env::args();
    let program = args.next().unwrap_or_default();
    let fault = args.next().unwrap_or_default();
    let mut out = io::stdout().lock();
    if fault == "banner" {
        writeln!(out, "Welcome to the runtime")?;
    }
    if fault == "silent" {
        std::thread::sleep(Duration::from_secs(3600));
    }
    if fault == "offspring" {
        // Is left running unless the whole process group is killed.
        Command::new(program).arg("silent").spawn()?;
    }
    let first = if fault == "version" { "utfuzz 9 frames" } else { "utfuzz 1 frames" };
    let (answers, contract) = match fault.as_str() {
        "segmentation" => ("verdict offset length", "rfc3629 any-segmentation"),
        _ => ("verdict offset", "rfc3629 no-output"),
    };
    write!(out, "{first}\npackage=planted\nversion=1\nname=foreign-{fault}\nanswers={answers}\n")?;
    write!(out, "contract={contract}\n\n")?;
    out.flush()?;
    let mut input = io::stdin().lock();
    let mut asked = 0u32;
    loop {
        let mut size = [0; 4];
        if input.read_exact(&mut size).is_err() {
            return Ok(());
        }
        let mut body = vec![0; u32::from_le_bytes(size) as usize];
        input.read_exact(&mut body)?;
        let mut reply = Vec::new();
        let mut rest = body.as_slice();
        while let Some((head, after)) = rest.split_first_chunk::<9>() {
            let len = u32::from_le_bytes([head[5], head[6], head[7], head[8]]) as usize;
            let (bytes, after) = after.split_at(len);
            rest = after;
            asked += 1;
            let is_hit = bytes.contains(&0xFF);
            match fault.as_str() {
                "abort" if is_hit => abort(),
                "exit" if is_hit => exit(0),
                "hang" if is_hit => std::thread::sleep(Duration::from_secs(3600)),
                // More than the limit, so it is refused.
                "memory" if is_hit => drop(std::hint::black_box(Vec::<u8>::with_capacity(64 << 30))),
                "stdout" if is_hit => {
                    out.write_all(b"debug: an FF\n")?;
                    out.flush()?;
                }
                "late" if asked > 5000 => abort(),
                _ => {}
            }
            let (verdict, offset) = match std::str::from_utf8(bytes) {
                Ok(_) => (1u8, -1),
                Err(error) => (0, error.valid_up_to() as i32),
            };
            let verdict = if fault == "wrong" && is_hit { 1 } else { verdict };
            let verdict = if fault == "verdict" && is_hit { 77 } else { verdict };
            let len = if fault == "lengths" && is_hit { 1 << 30 } else { -1 };
            reply.push(verdict);
            reply.extend([offset, -1, len].into_iter().flat_map(i32::to_le_bytes));
            if fault == "count" && is_hit {
                reply.extend_from_slice(&[0; 13]);
            }
        }
        let size = if fault == "flood" && body.contains(&0xFF) { u32::MAX } else { reply.len() as u32 };
        out.write_all(&size.to_le_bytes())?;
        out.write_all(&reply)?;
        out.flush()?;
    }
}
