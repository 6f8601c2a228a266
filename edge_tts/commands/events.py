"""``edgetts events``: what happens, as it happens."""

from __future__ import annotations

import click

from edge_tts.commands._client_options import PRIORITIES, socket_option


@click.command(epilog="Example: edgetts events --priority high")
@click.option("--key", metavar="KEY", help="Events of this key only.")
@click.option("--priority", type=click.Choice(PRIORITIES), help="Of this urgency and above.")
@click.option("--count", type=click.IntRange(min=1), metavar="N", help="End after N events.")
@socket_option
def command(
    key: str | None, priority: str | None, count: int | None, socket_path: str | None
) -> int:
    """Print events of all alarms and of the device, one a line, until interrupted."""
    from edge_tts.client import Client

    with Client(socket_path) as client:
        for number, line in enumerate(client.event_lines(key=key, priority=priority), 1):
            click.echo(line)
            if number == count:
                break
    return 0
