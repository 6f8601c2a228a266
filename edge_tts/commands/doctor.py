"""``edgetts doctor``: what keeps the device from speaking, and the fix."""

from __future__ import annotations

import click


@click.command(epilog="Example: edgetts doctor --json | jq '.findings[] | select(.fix != \"\")'")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(as_json: bool) -> int:
    """Examine board, providers, voice, sound devices, permissions and the daemon.

    Prints each finding with the command that fixes it. The exit status is 1
    when something would keep the device from speaking, else 0.
    """
    from edge_tts.doctor import report as examination

    report = examination.examine()
    if as_json:
        import json

        click.echo(json.dumps(examination.as_json(report), ensure_ascii=False, indent=1))
    else:
        click.echo(examination.as_text(report))
    return 0 if report.can_speak else 1
