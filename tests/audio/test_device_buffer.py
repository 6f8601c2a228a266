"""What a stream on a mixer gets for a buffer: real PortAudio, asked before and after."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

pytest.importorskip("pyaudio", reason="needs PyAudio (pip install PyAudio)")

import pyaudio

from edge_tts.audio.device_buffer import lengthen_mixer_buffer
from edge_tts.audio.devices import OutputDevice
from tests.audio_rig import needs_rig, pulse_rig

pytestmark = needs_rig


@pytest.fixture(scope="module")
def portaudio() -> Iterator[pyaudio.PyAudio]:
    with pulse_rig():
        portaudio = pyaudio.PyAudio()
        yield portaudio
        portaudio.terminate()


@pytest.fixture
def mixer(portaudio) -> OutputDevice:
    info = portaudio.get_default_output_device_info()
    return OutputDevice(int(info["index"]), str(info["name"]), None, 0, 48000, 2, True)


def proposed_s(portaudio, device: OutputDevice) -> float:
    return float(portaudio.get_device_info_by_index(device.index)["defaultLowOutputLatency"])


def stream_latency_s(portaudio, device: OutputDevice) -> float:
    stream = portaudio.open(
        rate=48000,
        channels=2,
        format=pyaudio.paInt16,
        output=True,
        output_device_index=device.index,
        frames_per_buffer=64,
        start=False,
    )
    try:
        return float(stream.get_output_latency())
    finally:
        stream.close()


def test_others_keep_what_portaudio_proposes(portaudio, mixer):
    before_s = proposed_s(portaudio, mixer)
    extension = pyaudio.pa.__file__
    for device in (
        replace(mixer, card_id="Device"),
        replace(mixer, default_rate_hz=44100),
        replace(mixer, name="another"),
        replace(mixer, index=10_000),
    ):
        assert lengthen_mixer_buffer(extension, device) is None
    assert lengthen_mixer_buffer(__file__, mixer) is None
    assert lengthen_mixer_buffer("libc.so.6", mixer) is None
    assert proposed_s(portaudio, mixer) == before_s


def test_a_mixer_gets_one_period_more(portaudio, mixer):
    before_s, stream_s = proposed_s(portaudio, mixer), stream_latency_s(portaudio, mixer)
    assert lengthen_mixer_buffer(pyaudio.pa.__file__, mixer) == pytest.approx(2 * before_s)
    assert proposed_s(portaudio, mixer) == pytest.approx(2 * before_s)
    assert stream_latency_s(portaudio, mixer) > 1.3 * stream_s
