"""``edgetts silence``: no sound now."""

from __future__ import annotations

import click

from edge_tts.commands._client_options import socket_option


@click.command(epilog="Example: edgetts silence --for 60")
@click.option("--for", "hold_s", type=float, metavar="SECONDS", help="How long; 0 ends a silence.")
@socket_option
def command(hold_s: float | None, socket_path: str | None) -> int:
    """Stop the sound now; the alarms stay, and critical ones still cut in."""
    from edge_tts.client import Client

    with Client(socket_path) as client:
        reply = client.request("SILENCE", **{"for": hold_s})
    click.echo(f"{reply.fields['count']} alarms stopped")
    return 0
