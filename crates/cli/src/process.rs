//! The servers of this binary as processes: their common arguments, so that they can be compared, and how they start and end.

use std::ffi::OsString;
use std::future::{Future, poll_fn};
use std::io;
use std::net::{self, IpAddr, Ipv4Addr, SocketAddr};
use std::pin::{Pin, pin};
use std::process::Command;
use std::sync::mpsc;

use anyhow::Context;
use castile::http::server::share_port;
use castile_load::{Network, Placement, Server};
use http::uri::Scheme;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use crate::outcome;
use crate::quantity::{self, Listen};
use crate::tls::ServerTls;

/// How a server process listens, and when it ends.
// The group has its own id, because it is flattened into the arguments of a command.
#[derive(clap::Args)]
#[group(id = "process")]
pub(crate) struct Arguments {
    /// The address to listen on; port 0 is any free port
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8080", value_parser = quantity::listen)]
    addr: Listen,
    /// End when standard input is closed. The parent holds the other end, so a child detects that its parent has ended
    #[arg(long, hide = true)]
    until_stdin_closes: bool,
    /// Listen in a separate network namespace, connected to the parent by a network of this rate
    #[arg(long, hide = true)]
    network: Option<Network>,
}

/// Ready when the server should end.
pub(crate) type End = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Arguments {
    /// Returns the arguments for a child server on a free port, across a network if one is given.
    fn of_child(network: Option<Network>) -> Vec<String> {
        let address = network.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |_| Network::SERVER);
        let mut arguments =
            vec!["--addr".to_owned(), SocketAddr::new(address, 0).to_string(), "--until-stdin-closes".to_owned()];
        if let Some(network) = network {
            arguments.push(format!("--network={}", network.rate()));
        }
        arguments
    }

    /// Listens, prints the URL to standard output, and serves until the process is asked to end. SIGHUP asks for that too, except with TLS,
    /// where it reloads the certificates.
    pub(crate) fn serve<F: Future>(
        &self,
        tls: Option<&ServerTls>,
        serve: impl FnOnce(TcpListener, End) -> F,
    ) -> anyhow::Result<F::Output> {
        self.serve_from(listen_on, TcpListener::local_addr, tls, serve)
    }

    /// Serves as [`serve`](Self::serve) does, with a socket for each core.
    pub(crate) fn serve_per_core<F: Future>(
        &self,
        tls: Option<&ServerTls>,
        serve: impl FnOnce(Vec<net::TcpListener>, End) -> F,
    ) -> anyhow::Result<F::Output> {
        let first = |sockets: &Vec<net::TcpListener>| sockets[0].local_addr();
        let listen = |address| {
            // The sockets would share the port with those of another server of this user. A single one shares it with none.
            drop(share_port(address, 1)?);
            share_port(address, cores())
        };
        self.serve_from(listen, first, tls, serve)
    }

    fn serve_from<S, F: Future>(
        &self,
        listen: impl Fn(SocketAddr) -> io::Result<S>,
        address: impl Fn(&S) -> io::Result<SocketAddr>,
        tls: Option<&ServerTls>,
        serve: impl FnOnce(S, End) -> F,
    ) -> anyhow::Result<F::Output> {
        castile_load::allow_descriptors();
        // The process is still single-threaded, as changing the namespace requires.
        if let Some(network) = &self.network {
            network.serve()?;
        }
        let runtime = runtime()?;
        let served = runtime.block_on(async {
            let sockets =
                first(&self.addr.addresses, listen).with_context(|| format!("can't listen on {}", self.addr))?;
            // Installed before the URL is printed, because a client of that output may send SIGHUP.
            if let Some(tls) = tls {
                tls.reload_on_change();
            }
            let scheme = if tls.is_some() { Scheme::HTTPS } else { Scheme::HTTP };
            out!("listening on {scheme}://{}", address(&sockets)?);
            Ok(serve(sockets, self.end(tls.is_some())).await)
        });
        // Doesn't wait for a file that is being loaded.
        runtime.shutdown_background();
        served
    }

    fn end(&self, reloads: bool) -> End {
        let asked = async move {
            // SIGHUP reloads.
            let _ = if reloads { stop_signal().await } else { end_signal().await };
        };
        if self.until_stdin_closes {
            let closed = stdin_closed();
            Box::pin(async {
                tokio::select! {
                    () = asked => {}
                    () = closed => {}
                }
            })
        } else {
            Box::pin(asked)
        }
    }
}

/// Starts a command of this binary as a server, on a free port of the loopback interface or across a network.
pub(crate) fn start_own(
    placement: &Placement,
    name: &str,
    network: Option<Network>,
    more: &[OsString],
) -> anyhow::Result<Server> {
    Ok(Server::start(&format!("castile {name}"), own_command(name, network, more)?, placement)?)
}

/// Returns the command line of a command of this binary that serves on a free port.
pub(crate) fn own_command(name: &str, network: Option<Network>, more: &[OsString]) -> anyhow::Result<Command> {
    let binary = std::env::current_exe().context("can't find this program to start it as a server")?;
    let mut command = Command::new(binary);
    command.arg(name).args(Arguments::of_child(network)).args(more);
    Ok(command)
}

/// Listens on the first available address.
fn first<S>(addresses: &[SocketAddr], listen: impl Fn(SocketAddr) -> io::Result<S>) -> io::Result<S> {
    let mut refused = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for &address in addresses {
        match listen(address) {
            Ok(sockets) => return Ok(sockets),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

fn listen_on(address: SocketAddr) -> io::Result<TcpListener> {
    TcpListener::from_std(share_port(address, 1)?.remove(0))
}

/// Builds a single-threaded runtime if the process has one core, else one with a thread per core.
fn runtime() -> io::Result<Runtime> {
    match cores() {
        1 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    }
    .enable_all()
    .build()
}

/// Returns how many cores the process may use. This respects those that it is pinned to.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Ready when this process is asked to end: by Ctrl-C, or on Unix by SIGTERM or SIGHUP. On Linux, what was ignored when the process started
/// stays ignored, as `nohup` and background commands of a shell rely on.
pub(crate) async fn end_signal() -> io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::SignalKind;

        tokio::select! {
            result = stop_signal() => result,
            result = received(SignalKind::hangup()) => result,
        }
    }
    #[cfg(not(unix))]
    stop_signal().await
}

/// Ready at Ctrl-C, or on Unix at SIGTERM, unless they were ignored when the process started.
async fn stop_signal() -> io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::SignalKind;

        tokio::select! {
            result = received(SignalKind::interrupt()) => result,
            result = received(SignalKind::terminate()) => result,
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}

/// Waits for a signal, for ever if it is ignored.
#[cfg(unix)]
async fn received(kind: tokio::signal::unix::SignalKind) -> io::Result<()> {
    if is_ignored(kind.as_raw_value()) {
        return std::future::pending().await;
    }
    tokio::signal::unix::signal(kind)?.recv().await;
    Ok(())
}

/// Returns whether this process ignores a signal; `false` where the system doesn't say.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Ends the process at the next signal, with the code of unfinished work. The handlers of an earlier [`end_signal`] stay installed, so that
/// a signal would have no effect otherwise.
pub(crate) fn end_on_signal() {
    let (waits, waiting) = mpsc::channel();
    std::thread::spawn(move || {
        // Without the means to wait for signals, the work is done without.
        let Ok(runtime) = Builder::new_current_thread().enable_io().build() else { return };
        let ended = runtime.block_on(async {
            let mut signal = pin!(end_signal());
            let mut waits = Some(waits);
            poll_fn(|cx| {
                let ended = signal.as_mut().poll(cx);
                // It listens from its first poll on.
                drop(waits.take());
                ended
            })
            .await
        });
        if ended.is_ok() {
            std::process::exit(outcome::INCOMPLETE.into());
        }
    });
    // A signal that came in between would be lost.
    let _: Result<(), _> = waiting.recv();
}

fn stdin_closed() -> impl Future<Output = ()> + Send {
    let (send, receive) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        // Input is ignored. An error means the end, too.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        let _ = send.send(());
    });
    async {
        let _ = receive.await;
    }
}
