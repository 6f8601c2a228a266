"""The ``edgetts`` command: a group whose commands load when they are called.

``edgetts --help`` reads the table below and imports no command. Every error
of the tree in :mod:`edge_tts.errors` becomes one line on standard error and
the exit status of its class.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

import edge_tts
from edge_tts.errors import EdgeTtsError, OutputError, UsageError

EXIT_INTERRUPTED = 130
_COMPLETION_VARIABLE = "_EDGETTS_COMPLETE"

# Heading -> command -> its line in the help. The module of a command is
# edge_tts/commands/<name>.py and holds `command`.
COMMANDS: dict[str, dict[str, str]] = {
    "Speak without a daemon": {
        "synth": "Speak a text into a file, a pipe or a device.",
        "normalize": "Print a text as it will be spoken.",
        "phonemize": "Print the phonemes of a text.",
    },
    "Alarms": {
        "serve": "Run the daemon that speaks alarms.",
        "say": "Speak an alarm through the daemon.",
        "ack": "Acknowledge an alarm, ending its repeats.",
        "clear": "Take back an alarm.",
        "silence": "Stop the sound now; the alarms stay.",
        "shelve": "Keep an alarm from sounding for a time.",
        "status": "Show what the daemon is doing.",
        "events": "Print events as they happen.",
        "test": "Speak the test sentence through the daemon.",
        "ping": "Ask whether the daemon answers.",
    },
    "The device": {
        "doctor": "Say what keeps this device from speaking, and the fix.",
        "bench": "Measure latency, speed and memory on this device.",
        "selftest": "Speak with one provider and compare with the CPU.",
        "voices": "List, verify, install and switch voices.",
        "engine": "Build and list TensorRT engines.",
        "config": "Show, check and describe the settings.",
        "completion": "Print a script that completes commands in your shell.",
    },
}

EPILOG = """\b
Examples:
  edgetts synth "警告，主轴温度过高，当前 85℃" -o alarm.wav
  edgetts say --priority critical "7号罐压力过高"
  edgetts doctor
"""


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is called.

    A command of the table whose module this installation lacks is neither
    listed nor found.
    """

    _folder = Path(__file__).parent / "commands"

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [
            name
            for names in COMMANDS.values()
            for name in names
            if (self._folder / f"{name}.py").is_file()
        ]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        module = importlib.import_module(f"edge_tts.commands.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in self.list_commands(ctx):
            import difflib

            nearest = difflib.get_close_matches(args[0], self.list_commands(ctx), n=1)
            hint = f"; did you mean {nearest[0]}?" if nearest else ""
            ctx.fail(f"there is no command {args[0]!r}{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        present = set(self.list_commands(ctx))
        for heading, names in COMMANDS.items():
            rows = [(name, text) for name, text in names.items() if name in present]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


def _print_version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(f"edgetts {edge_tts.__version__}")
        ctx.exit()


@click.group(cls=LazyGroup, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--config",
    metavar="FILE",
    help="Settings file to read instead of the installed one (also EDGETTS_CONFIG).",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version,
    help="Print the version.",
)  # fmt: skip
def cli(config: str | None) -> None:
    """Spoken alarms, in Chinese, English or both, without a network."""
    if config is not None:
        os.environ["EDGETTS_CONFIG"] = config


def run(args: Sequence[str] | None = None) -> int:
    """Run one command line and give its exit status; never raises, prints one line at most.

    A command gives its status by returning an int or by raising; ``EDGETTS_DEBUG=1``
    prints the traceback of an error as well.
    """
    arguments = sys.argv[1:] if args is None else list(args)
    instruction = os.environ.get(_COMPLETION_VARIABLE)
    if instruction:
        from click.shell_completion import shell_complete

        return shell_complete(cli, {}, "edgetts", _COMPLETION_VARIABLE, instruction)
    result: Any = 0
    try:
        # click's own main() would hide a broken pipe behind status 1.
        with cli.make_context("edgetts", arguments) as context:
            result = cli.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as exc:
        result = exc.exit_code
    except BrokenPipeError:
        # The reader has gone: nobody is left to read a message.
        _discard_stdout()
        return OutputError.exit_code
    except (KeyboardInterrupt, click.Abort):
        return EXIT_INTERRUPTED
    except click.ClickException as exc:
        return _fail(_usage_message(exc), UsageError.exit_code)
    except EdgeTtsError as exc:
        return _fail(str(exc), exc.exit_code)
    except OSError as exc:
        _discard_stdout()
        return _fail(_os_message(exc), OutputError.exit_code)
    except Exception as exc:  # the last line of defence: a fault of our own, told in one line
        return _fail(
            f"internal error: {type(exc).__name__}: {exc}; "
            "run again with EDGETTS_DEBUG=1 and report what it prints",
            EdgeTtsError.exit_code,
        )
    return result if isinstance(result, int) and not isinstance(result, bool) else 0


def _fail(message: str, status: int) -> int:
    if os.environ.get("EDGETTS_DEBUG") == "1":
        import traceback

        traceback.print_exc()
    one_line = " ".join(message.split())
    try:
        print(f"edgetts: {one_line}", file=sys.stderr, flush=True)
    except OSError:
        pass  # standard error is gone too; the status still tells
    return status


def _usage_message(exc: click.ClickException) -> str:
    message = exc.format_message().rstrip(".")
    context = getattr(exc, "ctx", None)
    return f"{message}; see '{context.command_path} --help'" if context else message


def _os_message(exc: OSError) -> str:
    what = exc.strerror or str(exc)
    return f"{exc.filename}: {what}" if exc.filename else f"standard output: {what}"


def _discard_stdout() -> None:
    """Keep the interpreter from flushing into a dead pipe as it ends."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        pass  # a stdout without a descriptor has nothing left to flush into


def main() -> None:
    """Entry point of ``edgetts`` and ``python -m edge_tts``."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    sys.exit(run())
