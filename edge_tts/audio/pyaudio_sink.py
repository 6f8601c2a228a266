"""A PortAudio output in callback mode. The only module that imports pyaudio.

Whatever a device does after it was opened, nothing here raises because of it:
a lost card neither fails nor ends, its callbacks just stop. A watchdog has to
compare ``consumed_samples`` to the clock.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Mapping

import pyaudio

from edge_tts.audio import devices
from edge_tts.audio.block_times import BlockTimes
from edge_tts.audio.device_buffer import lengthen_mixer_buffer
from edge_tts.audio.devices import OutputDevice
from edge_tts.audio.double_buffer import DoubleBuffer
from edge_tts.audio.quiet_libraries import silence_libraries
from edge_tts.audio.sink import Samples
from edge_tts.errors import DeviceError

_log = logging.getLogger(__name__)

# PortAudio's codes for what another rate or channel count can cure.
_WRONG_FORMAT = {pyaudio.paInvalidSampleRate, pyaudio.paInvalidChannelCount}
_FIRST_SAMPLES_S = 1.5
_LONGEST_LATENCY_S = 2.0
# The card that a name led to when it was opened last. A card that is gone is looked for
# there, since starting PortAudio for it once a second costs time and fills the log.
_cards_by_name: dict[str | None, str | None] = {}


class PyAudioSink:
    """An open output device; see ``AudioSink`` for the methods.

    The stream plays silence while nothing is written, so that neither the
    device nor an amplifier falls asleep and swallows a first syllable.

    Args:
        device: a PCM name, an ALSA card id, ``CARD,DEV`` or a part of the name;
            None for the default device.
        sample_rate_hz: wanted; ``sample_rate_hz`` of the sink is what it got, and
            that of the device itself where it runs at one rate alone.
        block_ms: length of each of the two blocks, and of a callback.
        realtime_priority: SCHED_FIFO priority for the thread of the callback,
            1 to 99, where the process may set one.

    Raises:
        DeviceError: PortAudio or the device can't be opened, or takes no samples.
    """

    def __init__(
        self,
        device: str | None,
        sample_rate_hz: int,
        *,
        block_ms: float = 10.0,
        realtime_priority: int | None = None,
    ) -> None:
        silence_libraries()
        self._consumed = 0
        self._underruns = 0
        self._in_run = False
        self._dry = False
        self._called_s = 0.0
        self._measured_latency_s = 0.0
        # The longest pause between two callbacks that the device's own buffer can bridge.
        self._longest_gap_s = float("inf")
        self._thread_id: int | None = None
        self._times = BlockTimes()
        self._closed = False
        card_id = _cards_by_name.get(device)
        if card_id is not None and card_id not in devices.alsa_card_ids().values():
            raise DeviceError(f"sound card {card_id!r} is not plugged in")
        self._portaudio = _initialise()
        try:
            chosen = devices.choose_device(device, _list_outputs(self._portaudio))
            self._name = chosen.stable_name
            lengthen_mixer_buffer(pyaudio.pa.__file__, chosen)
            self._open_stream(chosen, sample_rate_hz, block_ms)
            self._await_progress()
            _cards_by_name[device] = chosen.card_id
        except BaseException:
            self.close()
            raise
        if realtime_priority is not None:
            self._set_realtime(realtime_priority)

    def _open_stream(self, device: OutputDevice, wanted_rate_hz: int, block_ms: float) -> None:
        # Mono on a card that has only stereo would sound on the left alone.
        channel_counts = (2, 1) if device.channels >= 2 else (1,)
        error: OSError | ValueError | None = None
        for rate_hz in devices.rates_to_try(device, wanted_rate_hz):
            for channels in channel_counts:
                self._prepare(rate_hz, channels, block_ms)
                try:
                    self._stream = self._portaudio.open(
                        rate=rate_hz,
                        channels=channels,
                        format=pyaudio.paInt16,
                        output=True,
                        output_device_index=device.index,
                        frames_per_buffer=self._block_samples,
                        stream_callback=self._callback,
                    )
                except (OSError, ValueError) as exc:
                    error = exc
                    if isinstance(exc, OSError) and exc.errno not in _WRONG_FORMAT:
                        raise self._open_error(exc) from exc
                else:
                    self._latency_s = float(self._stream.get_output_latency())
                    self._measured_latency_s = self._measured_latency_s or self._latency_s
                    self._longest_gap_s = self._latency_s + 2 * self._block_samples / rate_hz
                    return
        raise self._open_error(error) from error

    def _open_error(self, error: Exception | None) -> DeviceError:
        return DeviceError(
            f"can't open audio device {self._name!r}: {error}; "
            "is it plugged in, and does no other program hold it?"
        )

    def _prepare(self, rate_hz: int, channels: int, block_ms: float) -> None:
        self._rate_hz = rate_hz
        self._block_samples = max(16, round(rate_hz * block_ms / 1000))
        self._buffer = DoubleBuffer(self._block_samples, channels)
        self._patience_s = self._block_samples / rate_hz / 2
        self._silence = bytes(2 * channels * self._block_samples)

    def _await_progress(self) -> None:
        # Filling the device's buffer proves nothing; what it takes beyond shows that it plays.
        enough = self._latency_s * self._rate_hz + 3 * self._block_samples
        deadline_s = time.monotonic() + _FIRST_SAMPLES_S
        while self._consumed < enough:
            if time.monotonic() > deadline_s:
                raise DeviceError(f"audio device {self._name!r} opened but takes no samples")
            time.sleep(0.002)

    def _set_realtime(self, priority: int) -> None:
        try:
            os.sched_setscheduler(self._thread_id or 0, os.SCHED_FIFO, os.sched_param(priority))
        except OSError as exc:
            _log.info("audio thread stays without real-time priority: %s", exc.strerror)

    def _callback(
        self, _input: bytes | None, frames: int, times: Mapping[str, float], status: int
    ) -> tuple[bytes, int]:
        now_s = time.monotonic()
        gap_s, self._called_s = now_s - self._called_s, now_s
        if self._in_run and (status & pyaudio.paOutputUnderflow or gap_s > self._longest_gap_s):
            self._underruns += 1
        latency_s = times["output_buffer_dac_time"] - times["current_time"]
        if 0.0 <= latency_s <= _LONGEST_LATENCY_S:
            self._measured_latency_s = latency_s
        # Waited for once: a voice that is late is none of the callback's business.
        block = self._buffer.take(0.0 if self._dry else self._patience_s)
        if block is None:
            self._dry = self._dry or self._in_run
            data = self._silence
        else:
            # Silence inside a run shows when the run goes on.
            self._underruns += self._dry and block.position != self._buffer.run_end
            self._dry = False
            self._times.add(block.position, block.count, now_s + self._measured_latency_s)
            data = block.frames.tobytes()
            self._buffer.give_back(block)
        self._in_run = block is not None
        if self._thread_id is None:
            self._thread_id = threading.get_native_id()
        self._consumed += frames
        return data, pyaudio.paContinue

    @property
    def name(self) -> str:
        """The stable name of the device that was chosen."""
        return self._name

    @property
    def sample_rate_hz(self) -> int:
        return self._rate_hz

    @property
    def latency_s(self) -> float:
        """The device's own buffer and all behind it, by the last callback."""
        return self._measured_latency_s

    @property
    def callback_thread_id(self) -> int | None:
        """The kernel's number of the thread that PortAudio calls back in."""
        return self._thread_id

    @property
    def written_samples(self) -> int:
        return self._buffer.written_samples

    @property
    def underruns(self) -> int:
        return self._underruns

    def write(self, samples: Samples, timeout_s: float | None = None) -> int:
        if self._closed:
            raise DeviceError(f"audio device {self._name!r} is closed; open it again")
        return self._buffer.write(samples, timeout_s)

    def flush(self) -> None:
        self._buffer.flush()

    def reclaim(self) -> Samples:
        return self._buffer.reclaim()

    def interrupt(self) -> None:
        self._buffer.interrupt()

    def played_at(self, position: int) -> float | None:
        return self._times.heard_at(position, self._rate_hz)

    def played_samples(self) -> int:
        return self._times.heard_samples(time.monotonic(), self._rate_hz)

    def consumed_samples(self) -> int:
        return self._consumed

    def is_active(self) -> bool:
        try:
            return not self._closed and bool(self._stream.is_active())
        except OSError:
            return False

    def close(self) -> None:
        """Drop what is left and shut PortAudio down, so that its device list is read anew.

        May hang when the driver does; a player calls it in a thread of its own.
        """
        if self._closed:
            return
        self._closed = True
        try:
            if hasattr(self, "_stream"):
                self._stream.close()
        except OSError as exc:
            _log.info("closing audio device %s: %s", self._name, exc)
        finally:
            self._portaudio.terminate()


def _initialise() -> pyaudio.PyAudio:
    try:
        return pyaudio.PyAudio()
    except OSError as exc:
        raise DeviceError(f"PortAudio can't start: {exc}; is ALSA set up?") from exc


def _list_outputs(portaudio: pyaudio.PyAudio) -> list[OutputDevice]:
    try:
        default = int(portaudio.get_default_output_device_info()["index"])
    except OSError:
        default = -1
    card_ids = devices.alsa_card_ids()
    outputs = []
    for index in range(portaudio.get_device_count()):
        info = portaudio.get_device_info_by_index(index)
        channels = int(info["maxOutputChannels"])
        if channels > 0:
            name = str(info["name"])
            card_id, card_device = devices.card_of(name, card_ids)
            rate_hz = int(info["defaultSampleRate"])
            outputs.append(
                OutputDevice(index, name, card_id, card_device, rate_hz, channels, index == default)
            )
    return outputs
