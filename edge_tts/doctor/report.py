"""One examination of the device, as text and as JSON."""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import edge_tts
from edge_tts.doctor import audio, jetson, packages, power, service, speech
from edge_tts.doctor.finding import ERROR, SEVERITIES, WARNING, Finding, System
from edge_tts.errors import EdgeTtsError
from edge_tts.inference.board import Board, probe_board
from edge_tts.inference.provider import provider_table
from edge_tts.inference.provider_plan import ProviderStep


@dataclass(frozen=True)
class Report:
    """Everything that an examination found."""

    board: Board
    providers: tuple[ProviderStep, ...]
    cards: tuple[audio.Card, ...]
    devices: tuple[audio.OutputDevice, ...]
    findings: tuple[Finding, ...]

    @property
    def can_speak(self) -> bool:
        """False when a finding would keep the device from speaking."""
        return all(finding.severity != ERROR for finding in self.findings)


def examine(system: System | None = None, probe: Callable[[], Board] = probe_board) -> Report:
    """Examine the device; a check that breaks down is itself a finding."""
    from edge_tts.config import Settings, client_socket_path, load_settings
    from edge_tts.config.environment import state_folder

    system = system or System()
    findings = []
    try:
        settings = load_settings()
    except EdgeTtsError as exc:
        findings.append(Finding(ERROR, "settings", str(exc), "edgetts config check"))
        settings = Settings()
    board = probe()
    table = provider_table(board)
    cards = audio.playback_cards(system)
    sink = settings.audio.sink
    devices, audio_trouble = audio.output_devices(system)
    if audio_trouble is not None and sink.startswith("device"):
        findings.append(audio_trouble)
    checks: tuple[tuple[str, Callable[[], list[Finding]]], ...] = (
        ("provider", lambda: speech.check_providers(board, table, settings.inference.provider)),
        ("onnxruntime", lambda: speech.check_onnxruntime(system)),
        ("voice", lambda: speech.check_voice(settings.voice.name)),
        ("lexicon.d", lambda: speech.check_lexicon_folder(settings.text.lexicon_folder)),
        ("audio", lambda: audio.check_audio(system, sink, cards, devices)),
        ("packages", packages.check_packages),
        ("upgrade", lambda: packages.check_upgrade(system)),
        ("state", lambda: service.check_state_folder(system, state_folder())),
        ("daemon", lambda: service.check_daemon(system, client_socket_path())),
        ("clock", service.check_clock),
        ("power", lambda: power.check_power(system, board)),
        ("jetson", lambda: jetson.check_jetson(system, board)),
        (
            "engines",
            lambda: jetson.check_engines(
                settings.inference.engine_folder, table[0], board, settings.voice.name
            ),
        ),
    )
    for subject, check in checks:
        try:
            findings += check()
        except Exception as exc:  # one broken check must not hide the others
            message = f"this check broke down: {type(exc).__name__}: {exc}"
            findings.append(Finding(WARNING, subject, message, "report it"))
    findings.sort(key=lambda finding: -SEVERITIES.index(finding.severity))
    return Report(board, table, tuple(cards), tuple(devices), tuple(findings))


def as_json(report: Report) -> dict[str, Any]:
    """The report as plain values; ``findings`` are sorted, the worst first."""
    board = asdict(report.board)
    board["cpu_features"] = sorted(report.board.cpu_features)
    board["python_modules"] = sorted(report.board.python_modules)
    return {
        "version": edge_tts.__version__,
        "python": platform.python_version(),
        "can_speak": report.can_speak,
        "board": board,
        "providers": [asdict(step) for step in report.providers],
        "audio": {
            "cards": [asdict(card) for card in report.cards],
            "devices": [asdict(device) for device in report.devices],
        },
        "findings": [asdict(finding) for finding in report.findings],
    }


def as_text(report: Report) -> str:
    """The report as a page for a person, with the fix under each finding."""
    board = report.board
    lines = [
        f"edgetts {edge_tts.__version__}, Python {platform.python_version()}",
        f"board      {board.model}, {board.architecture}, {board.cores} cores, "
        f"{board.memory_mb} MB",
    ]
    if board.jetson_linux:
        lines.append(f"           Jetson Linux {board.jetson_linux}")
    if board.gpu:
        lines.append(
            f"           {board.gpu.name}, compute capability {board.gpu.compute_capability}"
        )
    for title, step in zip(("providers", *[""] * 9), report.providers, strict=False):
        mark = "yes" if step.usable else "no "
        lines.append(f"{title:<10} {step!s:<14} {mark}  {step.reason}")
    names = [f"{card.number}: {card.card_id} ({card.name})" for card in report.cards]
    names += [
        f"{device.name}, {device.rate_hz:g} Hz{', default' if device.is_default else ''}"
        for device in report.devices
    ]
    for title, name in zip(("audio", *[""] * 99), names or ["no device"], strict=False):
        lines.append(f"{title:<10} {name}")
    lines.append("")
    for finding in report.findings:
        lines.append(f"{finding.severity:<8} {finding.subject}: {finding.message}")
        if finding.fix:
            lines.append(f"         fix: {finding.fix}")
    lines.append("")
    lines.append("ready to speak" if report.can_speak else "something keeps it from speaking")
    return "\n".join(lines)
