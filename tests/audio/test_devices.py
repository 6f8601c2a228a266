"""Devices are found by names that stay, and a refusal lists what there is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from edge_tts.audio.devices import (
    OutputDevice,
    alsa_card_ids,
    card_of,
    choose_device,
    rates_to_try,
)
from edge_tts.errors import DeviceError

CARDS = """\
 0 [vc4hdmi0       ]: vc4-hdmi - vc4-hdmi-0
                      vc4-hdmi-0
 2 [Headphones     ]: bcm2835_headpho - bcm2835 Headphones
                      bcm2835 Headphones
10 [Device         ]: USB-Audio - USB Audio Device
                      C-Media Electronics Inc. USB Audio Device at usb-1
"""
NAMES = [
    "vc4-hdmi-0: MAI PCM i2s-hifi-0 (hw:0,0)",
    "bcm2835 Headphones: - (hw:2,0)",
    "USB Audio Device: Audio (hw:10,0)",
    "USB Audio Device: Audio #1 (hw:10,1)",
    "pulse",
    "default",
]


@pytest.fixture
def devices(tmp_path):
    path = tmp_path / "cards"
    path.write_text(CARDS)
    cards = alsa_card_ids(path)
    return [
        OutputDevice(index, name, *card_of(name, cards), 48000, 2, name == "default")
        for index, name in enumerate(NAMES)
    ]


def test_card_ids(tmp_path):
    path = tmp_path / "cards"
    path.write_text(CARDS)
    assert alsa_card_ids(path) == {0: "vc4hdmi0", 2: "Headphones", 10: "Device"}
    path.write_text("--- no soundcards ---\n")
    assert alsa_card_ids(path) == {}
    assert alsa_card_ids(tmp_path / "missing") == {}


@pytest.mark.parametrize(
    ("wanted", "index"),
    [
        (None, 5),
        ("default", 5),
        ("pulse", 4),
        ("Headphones", 1),
        ("vc4hdmi0", 0),
        ("Device", 2),
        ("Device,1", 3),
        ("hw:Device,1", 3),
        ("plughw:CARD=Device,DEV=1", 3),
        ("hw:CARD=Headphones", 1),
        ("bcm2835", 1),
        ("mai pcm", 0),
    ],
)
def test_names_that_fit_one(devices, wanted, index):
    assert choose_device(wanted, devices).index == index


def test_stable_names_lead_back_to_their_device(devices):
    assert [choose_device(device.stable_name, devices) for device in devices] == devices
    assert devices[3].stable_name == "Device,1"


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("USB Audio", "fits several: Device, Device,1"),
        ("Speaker", "there are: vc4hdmi0, Headphones, Device, Device,1, pulse, default"),
        ("Device,7", "no output device"),
    ],
)
def test_names_that_fit_none_or_several(devices, wanted, message):
    with pytest.raises(DeviceError, match=message):
        choose_device(wanted, devices)


def test_no_devices_at_all():
    for wanted in (None, "pulse"):
        with pytest.raises(DeviceError, match="none at all"):
            choose_device(wanted, [])


@pytest.mark.parametrize(
    ("default_rate", "first_two"), [(48000, (48000, 24000)), (44100, (24000, 44100))]
)
def test_a_device_of_one_rate_gets_its_own(default_rate, first_two):
    device = OutputDevice(0, "default", None, 0, default_rate, 2, True)
    rates = rates_to_try(device, 24000)
    assert rates[:2] == first_two
    assert len(set(rates)) == len(rates)


def test_a_mixer_is_no_card_and_runs_at_one_rate(devices):
    assert [device.stable_name for device in devices if device.is_mixer] == ["pulse", "default"]
    anything = [replace(device, default_rate_hz=44100) for device in devices]
    assert not any(device.is_mixer for device in anything)
