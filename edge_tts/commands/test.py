"""``edgetts test``: the test sentence."""

from __future__ import annotations

import click

from edge_tts.commands._client_options import PRIORITIES, socket_option, wait_options


@click.command(epilog="Example: edgetts test --wait finished")
@click.option(
    "--priority", "-p", type=click.Choice(PRIORITIES), default="low", show_default=True,
    help="Whose tone and rank the test has.",
)  # fmt: skip
@wait_options
@socket_option
def command(priority: str, wait: str, timeout_s: float | None, socket_path: str | None) -> int:
    """Speak the test sentence through the daemon."""
    from edge_tts.client import Client

    with Client(socket_path) as client:
        spoken = client.test(priority=priority, wait=wait, timeout_s=timeout_s)
    click.echo(spoken.describe())
    return spoken.exit_code
