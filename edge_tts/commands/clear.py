"""``edgetts clear``: what the alarm told of is over."""

from __future__ import annotations

import click

from edge_tts.commands._client_options import request_for_target, socket_option, target_options


@click.command(epilog="Example: edgetts clear --key tank7")
@target_options
@socket_option
def command(
    key: str | None, alarm_id: int | None, everything: bool, socket_path: str | None
) -> int:
    """Take back alarms; one being spoken is cut, unless it is critical."""
    return request_for_target("CLEAR", socket_path, key, alarm_id, everything)
