"""``edgetts config``: what is set, whether a file is right, what can be set."""

from __future__ import annotations

from pathlib import Path

import click


@click.group()
def command() -> None:
    """Show, check and describe the settings."""


@command.command(epilog="Example: edgetts --config my.toml config show")
def show() -> None:
    """Print the settings in force, as a file that would give them again."""
    import os

    from edge_tts.config import load_settings, settings_file
    from edge_tts.config.reference import effective_toml

    path, _ = settings_file(os.environ)
    settings = load_settings()
    click.echo(f"# from {path}" if path else "# no settings file: defaults and environment")
    click.echo(effective_toml(settings), nl=False)


@command.command(epilog="Example: edgetts config check /etc/edge-tts/edge-tts.toml")
@click.argument("files", nargs=-1, metavar="[FILE]...")
def check(files: tuple[str, ...]) -> None:
    """Read settings files strictly and name the first thing wrong in one.

    Without a FILE the one in force is read.
    """
    import os

    from edge_tts.config import load_settings, settings_file

    if files:
        for name in files:
            load_settings(Path(name))
            click.echo(f"{name}: good")
        return
    path, _ = settings_file(os.environ)
    load_settings()
    click.echo(f"{path}: good" if path else "no settings file: the defaults hold")


@command.command(epilog="Example: edgetts config reference --toml > edge-tts.toml")
@click.option("--toml", "as_toml", is_flag=True, help="As a settings file with all commented out.")
@click.option("--base", metavar="FILE", help="Settings file whose values are set in that one.")
def reference(as_toml: bool, base: str | None) -> None:
    """Print every setting with its kind, default, unit and range (Markdown)."""
    from edge_tts.config import load_settings
    from edge_tts.config.loader import read_settings_file
    from edge_tts.config.reference import commented_toml, markdown

    chosen: dict[str, object] = {}
    if base is not None:
        load_settings(Path(base))
        chosen = {key: value for key, (_, value) in read_settings_file(Path(base)).items()}
    click.echo(commented_toml(chosen) if as_toml else markdown(), nl=False)
