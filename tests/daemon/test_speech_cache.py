"""Cached speech: whole or not at all, within its bound, and no text on disk."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge_tts.daemon.speech_cache import CachedSpeech, SpeechCache, fingerprint

HEADER_BYTES = 20


def key_of(text: str, **changes: object) -> str:
    fields = {"voice": "zh-en", "voice_version": "1.0.0", "speed": 1.0, "variant": "int8"}
    return fingerprint(text, **{**fields, **changes})


def opened(folder: Path, max_bytes: int = 10_000) -> SpeechCache:
    cache = SpeechCache(folder, max_bytes)
    cache.open()
    return cache


def pcm(samples: int, value: int = 7) -> bytes:
    return value.to_bytes(2, "little", signed=True) * samples


def test_speech_comes_back_also_after_a_restart(tmp_path: Path) -> None:
    folder = tmp_path / "made" / "on open"
    cache = opened(folder)
    assert cache.get(key_of("警告")) is None
    assert cache.put(key_of("警告"), pcm(240), 24_000)
    expected = CachedSpeech(pcm(240), 24_000)
    assert cache.get(key_of("警告")) == expected
    again = opened(folder)
    assert key_of("警告") in again
    assert again.get(key_of("警告")) == expected
    assert again.total_bytes == HEADER_BYTES + 480


@pytest.mark.parametrize(
    "changes",
    [{"voice": "other"}, {"voice_version": "1.0.1"}, {"speed": 1.01}, {"variant": "fp32"}],
)
def test_whatever_changes_the_samples_changes_the_fingerprint(changes: dict[str, object]) -> None:
    assert key_of("警告", **changes) != key_of("警告")


def test_fingerprint_fields_do_not_run_into_each_other() -> None:
    assert fingerprint("c", voice="a", voice_version="b", speed=1.0) != fingerprint(
        "bc", voice="a", voice_version="", speed=1.0
    )


@pytest.mark.parametrize("text", ["../../../../etc/passwd", "C:\\x", "a\0b", "密码 123", "\ud800"])
def test_no_text_reaches_the_disk(tmp_path: Path, text: str) -> None:
    cache = opened(tmp_path)
    assert cache.put(key_of(text), pcm(10), 24_000)
    [path] = tmp_path.iterdir()
    assert path.name == f"{key_of(text)}.pcm"
    assert len(path.stem) == 64
    assert set(path.stem) <= set("0123456789abcdef")
    assert text.encode("utf-8", "surrogatepass") not in path.read_bytes()


def test_used_longest_ago_goes_first(tmp_path: Path) -> None:
    entry = HEADER_BYTES + 200
    cache = opened(tmp_path, max_bytes=3 * entry)
    for name in "abc":
        cache.put(key_of(name), pcm(100), 24_000)
    assert cache.get(key_of("a"))
    cache.put(key_of("d"), pcm(100), 24_000)
    assert [name for name in "abcd" if key_of(name) in cache] == ["a", "c", "d"]
    assert cache.total_bytes == sum(path.stat().st_size for path in tmp_path.iterdir()) == 3 * entry


def test_order_of_use_survives_a_restart(tmp_path: Path) -> None:
    cache = opened(tmp_path)
    for age, name in enumerate("abc"):
        cache.put(key_of(name), pcm(100), 24_000)
        then = 1e9 - 1000.0 * age
        os.utime(tmp_path / f"{key_of(name)}.pcm", (then, then))
    cache = opened(tmp_path)
    assert cache.get(key_of("c"))
    cache = opened(tmp_path, max_bytes=2 * (HEADER_BYTES + 200))
    assert [name for name in "abc" if key_of(name) in cache] == ["a", "c"]


def test_entry_beyond_the_bound_and_no_samples_are_refused(tmp_path: Path) -> None:
    cache = opened(tmp_path, max_bytes=1000)
    cache.put(key_of("small"), pcm(100), 24_000)
    assert not cache.put(key_of("big"), pcm(500), 24_000)
    assert not cache.put(key_of("none"), b"", 24_000)
    assert key_of("small") in cache
    with pytest.raises(ValueError, match="whole number"):
        cache.put(key_of("odd"), b"abc", 24_000)


def test_put_again_replaces(tmp_path: Path) -> None:
    cache = opened(tmp_path)
    cache.put(key_of("x"), pcm(100), 24_000)
    cache.put(key_of("x"), pcm(50, value=9), 16_000)
    assert cache.get(key_of("x")) == CachedSpeech(pcm(50, value=9), 16_000)
    assert cache.total_bytes == HEADER_BYTES + 100


def test_damage_anywhere_drops_the_entry(tmp_path: Path) -> None:
    cache = opened(tmp_path)
    path = tmp_path / f"{key_of('x')}.pcm"
    cache.put(key_of("x"), pcm(40), 24_000)
    good = path.read_bytes()
    # The sample rate (bytes 8 to 11) is covered too.
    for damaged in (
        b"",
        good[:10],
        good[:HEADER_BYTES],
        good[:-1],
        good + b"\0\0",
        *(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :] for at in range(0, len(good), 3)),
    ):
        assert cache.put(key_of("x"), pcm(40), 24_000)
        path.write_bytes(damaged)
        assert cache.get(key_of("x")) is None
        assert not path.exists()
        assert len(cache) == 0
        assert cache.total_bytes == 0


def test_entry_under_the_name_of_another_is_not_believed(tmp_path: Path) -> None:
    cache = opened(tmp_path)
    for name in "xy":
        cache.put(key_of(name), pcm(40, ord(name)), 24_000)
    (tmp_path / f"{key_of('x')}.pcm").replace(tmp_path / f"{key_of('y')}.pcm")
    assert cache.get(key_of("y")) is None


def test_entry_that_vanished_is_a_miss(tmp_path: Path) -> None:
    cache = opened(tmp_path)
    cache.put(key_of("x"), pcm(40), 24_000)
    (tmp_path / f"{key_of('x')}.pcm").unlink()
    assert cache.get(key_of("x")) is None
    assert key_of("x") not in cache


def test_leftovers_are_swept_and_strangers_left_alone(tmp_path: Path) -> None:
    (tmp_path / f"{key_of('x')}.new").write_bytes(b"half")
    (tmp_path / "README").write_text("keep")
    (tmp_path / "notes.pcm").write_bytes(b"keep")
    (tmp_path / "folder.pcm").mkdir()
    cache = opened(tmp_path, max_bytes=0)
    assert len(cache) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "README",
        "folder.pcm",
        "notes.pcm",
    ]


def test_file_in_place_of_the_folder_costs_the_cache_alone(tmp_path: Path) -> None:
    place = tmp_path / "cache"
    place.write_text("in the way")
    cache = opened(place)
    assert not cache.put(key_of("x"), pcm(40), 24_000)
    assert cache.get(key_of("x")) is None
    assert cache.last_error
    assert place.read_text() == "in the way"


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_full_disk_leaves_no_half_entry(tmp_path: Path) -> None:
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tmp_path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a tmpfs is not allowed here")
    try:
        cache = opened(tmp_path, max_bytes=10_000_000)
        assert cache.put(key_of("fits"), pcm(10_000), 24_000)
        assert not cache.put(key_of("does not"), pcm(40_000), 24_000)
        assert "No space" in cache.last_error
        assert [path.name for path in tmp_path.iterdir()] == [f"{key_of('fits')}.pcm"]
        assert cache.get(key_of("fits"))
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=True)


def test_needs_nothing_heavy() -> None:
    code = (
        "import sys, edge_tts.daemon.speech_cache; "
        "print(sorted({'numpy', 'onnxruntime', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@given(
    st.lists(
        st.tuples(st.sampled_from("abcde"), st.integers(0, 60), st.sampled_from(["put", "get"])),
        max_size=30,
    )
)
@settings(max_examples=60, deadline=None)
def test_bound_holds_and_what_is_there_is_right(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, str]]
) -> None:
    folder = tmp_path_factory.mktemp("cache")
    cache = opened(folder, max_bytes=300)
    last: dict[str, bytes] = {}
    for name, samples, action in steps:
        if action == "put":
            if cache.put(key_of(name), pcm(samples, samples), 24_000):
                last[name] = pcm(samples, samples)
        else:
            found = cache.get(key_of(name))
            assert found is None or found.pcm == last[name]
        assert cache.total_bytes <= 300
        assert cache.total_bytes == sum(path.stat().st_size for path in folder.iterdir())
