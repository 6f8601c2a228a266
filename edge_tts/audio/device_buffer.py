"""Gives ALSA's mixer a buffer of three periods instead of two.

PyAudio always asks for the latency that PortAudio proposes as the device's lowest, and for
ALSA's mixer ``dmix`` that makes a buffer of two of its periods. The mixer's clock moves a period
at a time while a stream begins anywhere within one, so by chance hardly a sample may be left in
the buffer when the next period is asked for: the slightest delay then empties it, PortAudio fills
it with silence, begins anew at the same place in the period, and one block in three is heard.
"""

from __future__ import annotations

import ctypes
import logging

from edge_tts.audio.devices import OutputDevice

_log = logging.getLogger(__name__)
# The proposed latency is what a buffer has beyond one period: of a mixer, one period.
_PERIODS_BEYOND_ONE = 2


class _DeviceInfo(ctypes.Structure):
    """``PaDeviceInfo`` of portaudio.h, the same since PortAudio 19 (structVersion 2)."""

    _fields_ = (
        ("struct_version", ctypes.c_int),
        ("name", ctypes.c_char_p),
        ("host_api", ctypes.c_int),
        ("max_input_channels", ctypes.c_int),
        ("max_output_channels", ctypes.c_int),
        ("default_low_input_latency_s", ctypes.c_double),
        ("default_low_output_latency_s", ctypes.c_double),
        ("default_high_input_latency_s", ctypes.c_double),
        ("default_high_output_latency_s", ctypes.c_double),
        ("default_sample_rate_hz", ctypes.c_double),
    )


def lengthen_mixer_buffer(extension: str, device: OutputDevice) -> float | None:
    """Let the next stream on a mixer have a longer buffer; a card itself stays as it is.

    Lasts until PortAudio is terminated.

    Args:
        extension: path of PyAudio's extension module, through which PortAudio is found.
        device: to be opened; PortAudio must be initialised.

    Returns:
        The latency in seconds that PyAudio will ask for; None where nothing was changed.
    """
    if not device.is_mixer:
        return None
    try:
        get_device_info = ctypes.CDLL(extension).Pa_GetDeviceInfo
    except (OSError, AttributeError) as exc:
        _log.info("the mixer's buffer stays short, PortAudio is not in reach: %s", exc)
        return None
    get_device_info.restype = ctypes.POINTER(_DeviceInfo)
    get_device_info.argtypes = (ctypes.c_int,)
    found = get_device_info(device.index)
    if not found or found.contents.struct_version != 2:
        return None
    info = found.contents
    if info.name != device.name.encode() or info.default_low_output_latency_s <= 0:
        return None
    info.default_low_output_latency_s *= _PERIODS_BEYOND_ONE
    return float(info.default_low_output_latency_s)
