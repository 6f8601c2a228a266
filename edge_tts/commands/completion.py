"""``edgetts completion``: a script that completes commands and options."""

from __future__ import annotations

import click

_HOW = """\b
Where it goes:
  bash   edgetts completion bash > /etc/bash_completion.d/edgetts
  zsh    edgetts completion zsh > "${fpath[1]}/_edgetts"
  fish   edgetts completion fish > ~/.config/fish/completions/edgetts.fish
"""


@click.command(epilog=_HOW)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print a script that completes `edgetts` in SHELL."""
    from click.shell_completion import get_completion_class

    completion = get_completion_class(shell)
    if completion is None:
        raise click.UsageError(f"no completion for {shell}", ctx)
    click.echo(completion(ctx.find_root().command, {}, "edgetts", "_EDGETTS_COMPLETE").source())
