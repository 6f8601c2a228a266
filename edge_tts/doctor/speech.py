"""Is there a provider, a voice, and a pronunciation table that can be read?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from edge_tts.doctor.finding import ERROR, INFO, OK, WARNING, Finding, System
from edge_tts.doctor.packages import how_to_install
from edge_tts.errors import EdgeTtsError
from edge_tts.inference.board import Board
from edge_tts.inference.provider import choose_provider
from edge_tts.inference.provider_plan import ProviderStep

SMALL_MEMORY_MB = 400
_IMPORT_TIMEOUT_S = 60.0
_IMPORT_SCRIPT = (
    "import os; os.environ['ORT_DISABLE_TELEMETRY'] = '1'; "
    "import onnxruntime; print(onnxruntime.__version__, *onnxruntime.get_available_providers())"
)


def check_providers(board: Board, table: Sequence[ProviderStep], forced: str) -> list[Finding]:
    """Can the networks run, and on what was asked for?"""
    findings = []
    try:
        plan = choose_provider(board, forced)
        best = plan.steps[0]
        findings.append(Finding(OK, "provider", f"{best} will be used: {best.reason}"))
    except EdgeTtsError as exc:
        fix = "edgetts config check; set inference.provider to auto" if forced != "auto" else ""
        findings.append(Finding(ERROR, "provider", str(exc), fix or _provider_fix(table)))
    if board.memory_mb and board.memory_mb < SMALL_MEMORY_MB:
        findings.append(
            Finding(
                WARNING,
                "memory",
                f"only {board.memory_mb} MB may be used; the networks need about 100",
                "raise MemoryMax of the service, or free memory",
            )
        )
    return findings


def check_onnxruntime(system: System) -> list[Finding]:
    """Does ONNX Runtime import? In a process of its own, because it can crash."""
    done = system.run([sys.executable, "-c", _IMPORT_SCRIPT], _IMPORT_TIMEOUT_S)
    if done.succeeded:
        version, *providers = done.output.splitlines()[0].split()
        return [Finding(OK, "onnxruntime", f"ONNX Runtime {version} with {', '.join(providers)}")]
    lines = done.output.strip().splitlines()
    reason = lines[-1] if lines else "no message"
    if done.status is not None and done.status < 0:
        reason = f"it crashed by signal {-done.status}"
    return [
        Finding(
            ERROR,
            "onnxruntime",
            f"ONNX Runtime can't be imported: {reason}",
            how_to_install("--force-reinstall onnxruntime"),
        )
    ]


def check_voice(name: str) -> list[Finding]:
    """Is the voice that is set there, whole, and made for this program's phonemes?"""
    from edge_tts.text.inventory import PHONEMES
    from edge_tts.voice import find_voice, load_voice

    fix = "sudo edgetts voices install PACK.tar.gz"
    try:
        voice = load_voice(find_voice(name))
        voice.verify()
    except EdgeTtsError as exc:
        return [Finding(ERROR, "voice", str(exc), fix)]
    findings = [Finding(OK, "voice", f"{voice.name} {voice.version} in {voice.folder} is whole")]
    unknown = [symbol for symbol in voice.phonemes if symbol not in PHONEMES]
    missing = [symbol for symbol in PHONEMES if symbol not in voice.phonemes]
    if unknown or missing:
        findings.append(
            Finding(
                ERROR if missing else WARNING,
                "voice",
                f"{voice.name} was made for other phonemes (lacks {missing[:5]}, "
                f"has unknown {unknown[:5]}); it is of another release",
                fix,
            )
        )
    return findings


def check_lexicon_folder(folder: Path) -> list[Finding]:
    """Are the user's own pronunciations readable?"""
    if not folder.is_dir():
        return [Finding(OK, "lexicon.d", f"no pronunciations of your own ({folder} is not there)")]
    from edge_tts.text.lexicon_overrides import load_overrides

    findings = []
    count = 0
    try:
        own = load_overrides(folder)
        count = len(own.chinese) + len(own.tokens)
    except EdgeTtsError as exc:
        fix = f"correct the entry, or move its file out of {folder}"
        findings.append(Finding(ERROR, "lexicon.d", str(exc), fix))
    strangers = [path.name for path in sorted(folder.iterdir()) if path.suffix != ".json"]
    if strangers:
        message = f"{folder} holds files that are not read: {', '.join(strangers[:5])}"
        findings.append(Finding(INFO, "lexicon.d", message, "give them names that end in .json"))
    return findings or [Finding(OK, "lexicon.d", f"{count} pronunciations in {folder}")]


def _provider_fix(table: Sequence[ProviderStep]) -> str:
    reason = table[-1].reason
    if "pip install" in reason:
        return how_to_install("onnxruntime")
    return "install a 64-bit system image" if "64-bit" in reason else ""
