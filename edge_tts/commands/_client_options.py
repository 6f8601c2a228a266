"""What the commands that talk to the daemon share. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

PRIORITIES = ("critical", "high", "medium", "low")
WAITS = ("accepted", "started", "finished")


def socket_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--socket PATH``."""
    return click.option(
        "--socket", "socket_path", metavar="PATH", help="The daemon's socket (also EDGETTS_SOCKET)."
    )(function)


def wait_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--wait STATE`` and ``--timeout SECONDS``."""
    function = click.option(
        "--timeout", "timeout_s", type=click.FloatRange(min=0.01), metavar="SECONDS",
        help="Give up waiting after this long, with exit status 124.",
    )(function)  # fmt: skip
    return click.option(
        "--wait", type=click.Choice(WAITS), default="accepted", show_default=True,
        help="State to wait for.",
    )(function)  # fmt: skip


def target_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Exactly one of ``--key``, ``--id`` and ``--all``."""
    function = click.option("--all", "everything", is_flag=True, help="Every alarm.")(function)
    function = click.option("--id", "alarm_id", type=int, metavar="ID", help="The alarm's id.")(
        function
    )
    return click.option("--key", metavar="KEY", help="Alarms of this key.")(function)


def request_for_target(
    verb: str, socket_path: str | None, key: str | None, alarm_id: int | None, everything: bool
) -> int:
    """Send ACK or CLEAR; prints how many alarms it met.

    Raises:
        UsageError: not exactly one target.
    """
    from edge_tts.client import Client
    from edge_tts.errors import UsageError

    if (key is not None) + (alarm_id is not None) + everything != 1:
        raise UsageError("say which alarms: exactly one of --key, --id and --all")
    with Client(socket_path) as client:
        chosen = "yes" if everything else None
        reply = client.request(verb, key=key, id=alarm_id, all=chosen)
    click.echo(f"{reply.fields['count']} alarms")
    return 0
