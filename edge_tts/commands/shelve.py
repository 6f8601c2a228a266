"""``edgetts shelve``: keep one key quiet for a time."""

from __future__ import annotations

import click

from edge_tts.commands._client_options import socket_option


@click.command(epilog="Example: edgetts shelve tank7 --for 3600")
@click.argument("key")
@click.option(
    "--for", "duration_s", type=float, required=True, metavar="SECONDS",
    help="How long; 0 takes it off the shelf.",
)  # fmt: skip
@click.option("--critical", is_flag=True, help="Shelve critical alarms of the key too.")
@socket_option
def command(key: str, duration_s: float, critical: bool, socket_path: str | None) -> int:
    """Keep the alarms of KEY from sounding for a time."""
    from edge_tts.client import Client

    with Client(socket_path) as client:
        flag = "yes" if critical else None
        reply = client.request("SHELVE", key=key, critical=flag, **{"for": duration_s})
    click.echo(f"{reply.fields['count']} alarms ended")
    return 0
