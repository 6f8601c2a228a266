"""The attention tone of an alarm: coded by priority, named, its own WAV, or none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from edge_tts.audio.alarm_wav import load_alarm_wav
from edge_tts.audio.tones import TONES, attention_tone
from edge_tts.daemon import log
from edge_tts.daemon.alarm import Alarm
from edge_tts.errors import InputError

Waveform = npt.NDArray[np.float32]

_NONE: Waveform = np.zeros(0, np.float32)


class AttentionTones:
    """Tones at one sample rate.

    Args:
        level_lufs: loudness of the computed tones.
        wav_folder: where ``tone=NAME`` finds ``NAME.wav``; None: only the names
            of priorities are known.
    """

    def __init__(
        self,
        sample_rate_hz: int,
        *,
        enabled: bool = True,
        level_lufs: float = -18.0,
        wav_folder: Path | None = None,
    ) -> None:
        self._sample_rate_hz = sample_rate_hz
        self._enabled = enabled
        self._level_lufs = level_lufs
        self._wav_folder = wav_folder
        self._wavs: dict[str, Waveform] = {}

    def prepare(self) -> None:
        """Compute the tones now, so that the first alarm does not wait for its own."""
        for name in TONES:
            attention_tone(name, self._sample_rate_hz, self._level_lufs)

    def before(self, alarm: Alarm) -> Waveform:
        """What sounds before the speech, ``(N,)`` in [-1, 1]; empty for nothing."""
        if alarm.tone == "off" or (alarm.tone == "auto" and not self._enabled):
            return _NONE
        if alarm.tone == "auto":
            return self.of_priority(alarm)
        if alarm.tone in TONES:
            return attention_tone(alarm.tone, self._sample_rate_hz, self._level_lufs)
        return self._from_file(alarm)

    def of_priority(self, alarm: Alarm) -> Waveform:
        """The computed tone of the alarm's priority, whatever the alarm asks for."""
        return attention_tone(alarm.priority.word, self._sample_rate_hz, self._level_lufs)

    def _from_file(self, alarm: Alarm) -> Waveform:
        name = alarm.tone.removesuffix(".wav")
        if name not in self._wavs:
            try:
                if self._wav_folder is None:
                    raise InputError("no folder of tones is set (tones.wav_folder)")
                # A tone's name holds no slash, so the file lies in the folder.
                self._wavs[name] = load_alarm_wav(
                    self._wav_folder / f"{name}.wav",
                    self._sample_rate_hz,
                    level_lufs=self._level_lufs,
                )
            except InputError as exc:
                log.event("tone-unusable", log.WARNING, id=alarm.id, tone=name, error=exc)
                return self.of_priority(alarm)
        return self._wavs[name]
