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
    from dataclasses import replace

    from edge_tts.config import Settings, load_settings
    from edge_tts.daemon.app import Daemon

    def load() -> Settings:
        settings = load_settings()
        if socket_path is not None:
            settings = replace(settings, socket=replace(settings.socket, path=socket_path))
        if sink is not None:
            settings = replace(settings, audio=replace(settings.audio, sink=sink))
        if log_level is not None:
            settings = replace(settings, log=replace(settings.log, level=log_level))
        return settings

    return Daemon(load(), load).run()
