"""``edgetts ack``: a person knows of the alarm."""

from __future__ import annotations

import click

from edge_tts.commands._client_options import request_for_target, socket_option, target_options


@click.command(epilog="Example: edgetts ack --key tank7")
@target_options
@socket_option
def command(
    key: str | None, alarm_id: int | None, everything: bool, socket_path: str | None
) -> int:
    """Acknowledge alarms: they are not repeated any more."""
    return request_for_target("ACK", socket_path, key, alarm_id, everything)
