"""``edgetts ping``: does the daemon answer."""

from __future__ import annotations

import time

import click

from edge_tts.commands._client_options import socket_option


@click.command(epilog="Example: edgetts ping && echo alive")
@socket_option
def command(socket_path: str | None) -> int:
    """Ask whether the daemon answers, and how fast."""
    from edge_tts.client import Client

    with Client(socket_path) as client:
        began_s = time.monotonic()
        client.request("PING")
        click.echo(f"answered in {(time.monotonic() - began_s) * 1000:.1f} ms")
    return 0
