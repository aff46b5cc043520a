//! `utfuzz serve-plugin`, which `--plugin` starts: an adapter for a shared library, as `docs/adapter.md` describes it.

use crate::cli::output::{Failure, Verdict};
use crate::error::Error;
#[cfg(target_os = "linux")]
use crate::judge::isolate::guard_pages::GuardedBuffer;
use crate::peers::foreign::plugin::{Plugin, Said, Server, read};
use crate::peers::foreign::protocol::Operation;
use crate::text::printable;
use clap::Args;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;

/// Serve the decoders of a shared library as an adapter
#[derive(Debug, Args)]
pub(super) struct ServePlugin {
    /// The library, by its absolute path
    library: PathBuf,
    /// Serve only this entry point
    entry: Option<String>,
}

impl ServePlugin {
    /// Greets, and answers requests until there are no more.
    pub(super) fn run(self) -> Result<Verdict, Failure> {
        // What the library prints must not get mixed into the answers.
        let mut to = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        rustix::stdio::dup2_stdout(io::stderr()).map_err(io::Error::from)?;
        let mut greeting = String::from("utfuzz 1 frames\n");
        let mut plugins = read(&self.library).unwrap_or_else(|why| {
            greeting += &format!("error={}\n", printable(&why));
            Vec::new()
        });
        plugins.retain(|plugin| {
            self.entry.as_ref().is_none_or(|entry| plugin.texts().first().is_some_and(|(_, name)| name == entry))
        });
        for (key, text) in plugins.iter().flat_map(Plugin::texts) {
            greeting += &format!("{key}={text}\n");
        }
        to.write_all(format!("{greeting}\n").as_bytes())?;
        if let [plugin] = &plugins[..] {
            let served = serve(plugin, &mut io::stdin().lock(), &mut to);
            served.map_err(|error| Error::usage(format!("the requests on standard input: {error}")))?;
        }
        Ok(Verdict::Clean)
    }
}

fn serve(plugin: &Plugin, from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut server = Server::new(plugin);
    #[cfg(target_os = "linux")]
    let mut guarded = GuardedBuffer::new();
    let mut ask = |operation, bytes: &[u8]| {
        #[cfg(target_os = "linux")]
        if let Some(guarded) = &mut guarded
            && let Some(placed) = guarded.at_end(bytes)
        {
            let said = server.ask(operation, placed);
            return if guarded.out_of_bounds_access() { Said::failed("it reads outside its input") } else { said };
        }
        server.ask(operation, bytes)
    };
    let (mut request, mut reply) = (Vec::new(), Vec::new());
    loop {
        let mut size = [0; 4];
        match from.read_exact(&mut size) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
            result => result?,
        }
        request.resize(u32::from_le_bytes(size) as usize, 0);
        from.read_exact(&mut request)?;
        reply.clear();
        reply.extend_from_slice(&[0; 4]);
        let mut rest = &request[..];
        while let Some((operation, bytes)) = Operation::take(&mut rest) {
            ask(operation, bytes).write(&mut reply);
        }
        if !rest.is_empty() {
            return Err(io::Error::other("the request is not made of whole operations"));
        }
        let size = (reply.len() - 4) as u32;
        reply[..4].copy_from_slice(&size.to_le_bytes());
        to.write_all(&reply)?;
    }
}
