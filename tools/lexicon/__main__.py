"""Command line: ``python -m tools.lexicon build|measure``."""

from __future__ import annotations

import argparse
from pathlib import Path

TABLE = Path("models/zh-en/lexicon.bin")


def main() -> None:
    """Run one subcommand and print what it measured."""
    parser = argparse.ArgumentParser(prog="python -m tools.lexicon", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (
        ("build", "build the table from the packages named in SOURCES.md"),
        ("measure", "print size, resident memory, speed and accuracy of a built table"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("--table", type=Path, default=TABLE)
    options = parser.parse_args()
    if options.command == "build":
        from tools.lexicon.build import build

        sizes = build(options.table)
        for section, size in sizes.items():
            print(f"{section} {size:>9,} bytes")
        print(f"{options.table}: {options.table.stat().st_size:,} bytes")
    else:
        from tools.lexicon.measure import measure

        measure(options.table)


if __name__ == "__main__":
    main()
