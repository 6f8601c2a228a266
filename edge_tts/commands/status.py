"""``edgetts status``: what the daemon is doing."""

from __future__ import annotations

import click

from edge_tts.commands._client_options import socket_option


@click.command(epilog="Example: edgetts status --json | jq .device")
@click.option("--json", "form", flag_value="json", help="One JSON object on one line.")
@click.option("--prometheus", "form", flag_value="prometheus", help="Exposition format.")
@socket_option
def command(form: str | None, socket_path: str | None) -> int:
    """Show state, device, queue, provider, counters and latencies."""
    from edge_tts.client import Client

    with Client(socket_path) as client:
        click.echo(client.status(form or "text"), nl=False)
    return 0
