"""``edgetts say``: one alarm through the daemon."""

from __future__ import annotations

import sys

import click

from edge_tts.commands._client_options import PRIORITIES, socket_option, wait_options


@click.command(
    epilog="""\b
Exit status: 0 the state asked for was reached, 10 superseded or pre-empted,
11 expired or shelved, 64 usage, 65 bad data, 69 no daemon, 74 audio failed,
75 full (try again), 77 denied, 124 time-out.
\b
Example: edgetts say --priority critical --key tank7 --wait finished 7号罐压力过高"""
)
@click.argument("text", nargs=-1, required=True)
@click.option(
    "--priority", "-p", type=click.Choice(PRIORITIES), default="medium", show_default=True,
    help="Urgency; critical cuts in.",
)  # fmt: skip
@click.option("--key", metavar="KEY", help="What the alarm is about; a newer text replaces it.")
@click.option("--ttl", type=float, metavar="SECONDS", help="Time in which speaking may begin.")
@click.option("--repeat", type=float, metavar="SECONDS", help="Tell again until ack or clear.")
@click.option("--prefix", default="", metavar="TEXT", help="Words said first, from the cache.")
@click.option("--tone", default="auto", show_default=True, metavar="TONE", help="auto, off, NAME.")
@click.option("--gain", type=float, default=0.0, metavar="DB", help="Louder or softer.")
@click.option("--speed", type=float, default=1.0, metavar="FACTOR", help="Faster or slower.")
@wait_options
@socket_option
def command(
    text: tuple[str, ...],
    priority: str,
    key: str | None,
    ttl: float | None,
    repeat: float | None,
    prefix: str,
    tone: str,
    gain: float,
    speed: float,
    wait: str,
    timeout_s: float | None,
    socket_path: str | None,
) -> int:
    """Speak an alarm through the daemon. TEXT is `-` for standard input."""
    from edge_tts.client import Client

    spoken_text = " ".join(text)
    if spoken_text == "-":
        spoken_text = sys.stdin.buffer.read().decode("utf-8", "replace")
    with Client(socket_path) as client:
        spoken = client.say(
            spoken_text, priority=priority, key=key, ttl_s=ttl, repeat_s=repeat, prefix=prefix,
            tone=tone, gain_db=gain, speed=speed, wait=wait, timeout_s=timeout_s,
        )  # fmt: skip
    click.echo(spoken.describe())
    return spoken.exit_code
