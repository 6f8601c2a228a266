from __future__ import annotations

import numpy as np
import pytest

from edge_tts.inference.onnx_session import OnnxSession
from edge_tts.synthesis.vocoder import NeuralVocoder, fundamental_hz, vocoder_features
from edge_tts.voice import Voice

pytestmark = pytest.mark.core


def test_voicing_and_pitch_become_what_vocoders_take() -> None:
    decoded = np.full((82, 5), 0.5, np.float32)
    decoded[80] = np.log(np.array([150, 10, 4000, 200, 220]) / 200)
    decoded[81] = 3.0, 0.1, 2.0, -0.1, 0.0
    features = vocoder_features(decoded)
    np.testing.assert_array_equal(features[81], [1, 1, 1, 0, 0])
    np.testing.assert_allclose(
        features[80], [np.log(0.75), np.log(0.2), np.log(2.5), 0, 0], rtol=1e-6
    )
    np.testing.assert_allclose(fundamental_hz(features), [150, 40, 500, 0, 0], rtol=1e-5)
    assert (features[:80] == 0.5).all()


def test_filters_pulses_and_shapes_noise(voice: Voice, networks: dict[str, OnnxSession]) -> None:
    rng = np.random.default_rng(1)
    features = rng.standard_normal((voice.n_features, 20)).astype(np.float32)
    pulses, noise = (
        (rng.standard_normal((6, 301)) + 1j * rng.standard_normal((6, 301))).astype(np.complex64)
        for _ in range(2)
    )
    run = NeuralVocoder(networks["vocoder"], voice).start(features, slice(5, 11))
    spectra = run.spectra(pulses, noise)
    outputs = networks["vocoder"].run({"features": features[None]})
    real, imag, magnitude = (
        outputs[name][0, 5:11] for name in ("harmonic_real", "harmonic_imag", "noise_magnitude")
    )
    assert spectra.dtype == np.complex64
    np.testing.assert_allclose(
        spectra, (real + 1j * imag) * pulses + magnitude * noise, rtol=1e-5, atol=1e-5
    )
