"""Packs a corpus for the way to another machine: Opus in parts of limited size.

A part is a folder of shards, which training reads as it reads a corpus; ``train`` takes a
folder of several parts too.
"""

from __future__ import annotations

from pathlib import Path

import click

from tools.voice.shards import load_shard, save_shard


@click.command()
@click.option("--corpus", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder of the parts.")
@click.option("--part-mb", type=float, default=60.0, show_default=True, help="Largest part.")
def main(corpus: Path, out: Path, part_mb: float) -> None:
    """Write CORPUS as OUT/part-00, part-01, ...; run again, it adds what is new."""
    packed = {path.name for path in out.rglob("shard-*.npz")}
    missing = [p for p in sorted(corpus.rglob("shard-*.npz")) if p.name not in packed]
    with click.progressbar(missing, label="packing") as shards:
        for shard in shards:
            aside = out / shard.name
            out.mkdir(parents=True, exist_ok=True)
            save_shard(aside, load_shard(shard), opus=True)
            part = room_for(aside.stat().st_size, out, part_mb * 1e6)
            aside.replace(part / shard.name)
    for part in sorted(out.glob("part-*")):
        click.echo(f"{part}: {folder_bytes(part) / 1e6:.1f} MB")


def folder_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def room_for(size_bytes: int, out: Path, largest_bytes: float) -> Path:
    """The first part that has room, made when there is none."""
    number = 0
    while (part := out / f"part-{number:02d}").exists():
        if folder_bytes(part) + size_bytes <= largest_bytes:
            return part
        number += 1
    part.mkdir()
    return part


if __name__ == "__main__":
    main()
