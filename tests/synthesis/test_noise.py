from __future__ import annotations

import hashlib

import numpy as np
import pytest

from edge_tts.synthesis.noise import TABLE_FRAMES, NoiseTable

pytestmark = pytest.mark.core


def test_is_complex_gaussian_of_unit_power() -> None:
    rows = NoiseTable(601).rows(0, TABLE_FRAMES)
    assert rows.dtype == np.complex64
    assert rows.shape == (TABLE_FRAMES, 601)
    assert abs(rows.mean()) < 0.01
    assert abs(np.mean(np.abs(rows) ** 2) - 1) < 0.02
    for part in (rows.real, rows.imag):
        kurtosis = np.mean(part**4) / np.mean(part**2) ** 2
        assert abs(kurtosis - 3) < 0.1
    assert abs(np.mean(rows.real * rows.imag)) < 0.01
    # Neighbours in time and in frequency know nothing of each other.
    assert abs(np.mean(rows[1:] * rows[:-1].conj())) < 0.01
    assert abs(np.mean(rows[:, 1:] * rows[:, :-1].conj())) < 0.01


def test_rows_depend_on_the_frame_alone() -> None:
    table = NoiseTable(7)
    whole = table.rows(0, 600)
    np.testing.assert_array_equal(table.rows(250, 270), whole[250:270])
    np.testing.assert_array_equal(table.rows(512, 520), table.rows(0, 8))
    table.clear()
    np.testing.assert_array_equal(table.rows(0, 600), whole)


def test_uniform_source_is_the_same_everywhere() -> None:
    # Signs come straight from the integers; logarithms may differ in a last bit.
    signs = np.signbit(NoiseTable(601).rows(0, 4).real)
    assert hashlib.sha256(np.packbits(signs).tobytes()).hexdigest()[:16] == "aaee8d965d245531"
