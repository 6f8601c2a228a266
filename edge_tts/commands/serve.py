"""``edgetts serve``: the daemon in the foreground."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("serve", epilog="Example: edgetts serve --sink device:Headphones")
@click.option(
    "--socket", "socket_path", type=click.Path(path_type=Path), metavar="PATH",
    help="Where to listen (also EDGETTS_SOCKET; a socket from the service manager wins).",
)  # fmt: skip
@click.option(
    "--sink", metavar="SINK",
    help="device, device:NAME, wav:PATH or null; the last two play in real time.",
)  # fmt: skip
@click.option(
    "--log-level", type=click.Choice(["debug", "info", "warning", "error"]),
    help="Least level that is logged.",
)  # fmt: skip
def command(socket_path: Path | None, sink: str | None, log_level: str | None) -> int:
    """Speak alarms that arrive on a Unix socket, until SIGTERM.

    SIGHUP reads the settings and the pronunciations again.
    """
    import os
    import sys
    import threading

    # numpy's own threads would only take memory and time from the audio thread.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

    from edge_tts.config import Settings, load_settings
    from edge_tts.daemon.app import Daemon

    def load() -> Settings:
        return load_settings(
            overrides={"socket.path": socket_path, "audio.sink": sink, "log.level": log_level}
        )

    status = Daemon(load(), load).run()
    if threading.active_count() > 1:
        # A call into a sound driver that hangs may come back while the interpreter is taken down.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    return status
