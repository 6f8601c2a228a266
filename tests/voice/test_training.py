"""Training: what a step, a resume and a wider network must keep. Runs where torch is."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

torch = pytest.importorskip("torch", reason="the voice factory's torch is not installed")

from tools.voice import (  # noqa: E402
    average,
    export,
    graphs,
    match,
    model,
    peers,
    ranges,
    restore,
    screen,
    stages,
    train,
)
from tools.voice.dataset import SEGMENT_FRAMES, Corpus, Item, collate, make_item  # noqa: E402
from tools.voice.graphs import raise_formants  # noqa: E402
from tools.voice.model import AcousticModel, Size, Vocoder, tell, vocoder_features  # noqa: E402
from tools.voice.objectives import (  # noqa: E402
    CONTEXT_FRAMES,
    cut_segments,
    frames_of,
    random_segments,
    render,
    smooth_bands,
)
from tools.voice.shards import Utterance, load_shard, rejected_lines, save_shard  # noqa: E402
from tools.voice.signal import N_FFT, SAMPLE_RATE_HZ, log_mel, pulses, stft  # noqa: E402
from tools.voice.stage import take  # noqa: E402

TINY = Size(
    encoder_width=16, encoder_kernels=(3,), duration_kernels=(3,), pitch_width=16,
    pitch_kernels=(3,), decoder_width=16, decoder_kernels=(3,), latents=4, vocoder_width=16,
    vocoder_kernels=(3,),
)  # fmt: skip


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    random = np.random.default_rng(0)
    lines = []
    for index, frames in enumerate((60, 64, 70, 90, 30, 58, 66, 120)):
        f0 = np.full(frames, 150 + 10 * index, np.float32)
        phase = np.cumsum(np.repeat(f0, 300)) / 24000 * 2 * np.pi
        audio = 8000 * np.sin(phase) + random.normal(0, 50, 300 * frames)
        durations = np.array([5, frames - 20, 10, 5], np.int16)
        lines.append(
            Utterance("zh_alarm", str(index), np.array([1, 9, 12, 2], np.int16), durations, f0,
                      audio.astype(np.int16))
        )  # fmt: skip
    folder = tmp_path / "corpus"
    folder.mkdir()
    save_shard(folder / "shard-00001.npz", lines)
    return folder


def run(monkeypatch: pytest.MonkeyPatch, corpus: Path, out: Path, *options: str) -> str:
    monkeypatch.setattr(train, "Size", lambda: TINY)
    monkeypatch.setattr(stages, "JUDGES_ALONE_STEPS", 2)
    fixed = ["--corpus", str(corpus), "--out", str(out), "--batch", "2", "--device", "cpu"]
    result = CliRunner().invoke(train.main, [*options, *fixed], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_three_stages_run_and_a_stage_goes_on_where_it_was(
    monkeypatch: pytest.MonkeyPatch, corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    run(monkeypatch, corpus, out, "acoustic", "--minutes", "0.005")
    run(monkeypatch, corpus, out, "vocoder", "--minutes", "0.01", "--adversarial-from", "0")
    run(monkeypatch, corpus, out, "joint", "--minutes", "0.01")
    first = torch.load(out / "joint.pt", weights_only=True)
    assert first["step"] > 0
    assert "resumed at step" in run(monkeypatch, corpus, out, "joint", "--minutes", "0.02")
    second = torch.load(out / "joint.pt", weights_only=True)
    assert second["step"] > first["step"]
    assert second["spent_s"] > first["spent_s"]


def test_a_small_checkpoint_is_enough_to_go_on_elsewhere(
    monkeypatch: pytest.MonkeyPatch, corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    run(monkeypatch, corpus, out, "acoustic", "--minutes", "0.005")
    (out / "acoustic.pt").unlink()
    assert "resumed at step" in run(monkeypatch, corpus, out, "acoustic", "--minutes", "0.01")


def average_and_agree(together: peers.Peers, out: Path) -> None:
    used, unused = (torch.nn.Parameter(torch.zeros(2)) for _ in range(2))
    (used * (1.0 + together.rank)).sum().backward()
    together.average([used, unused])
    assert used.grad is not None
    assert unused.grad is not None
    told = [used.grad.tolist(), unused.grad.tolist(), together.agree(7.0 + together.rank)]
    (out / str(together.rank)).write_text(json.dumps(told))


def test_processes_average_gradients_and_follow_the_leader(tmp_path: Path) -> None:
    peers.run(2, average_and_agree, tmp_path)
    told = [json.loads((tmp_path / str(rank)).read_text()) for rank in range(2)]
    assert told == [[[1.5, 1.5], [0.0, 0.0], 7.0]] * 2


def test_a_wider_network_begins_as_the_narrow_one_was() -> None:
    torch.manual_seed(0)
    narrow = Vocoder(Size(**{**TINY.as_dict(), "latents": 0}))
    wide = Vocoder(TINY)
    take(wide, narrow.state_dict())
    mel, f0 = torch.randn(1, 80, 20), torch.full((1, 20), 120.0)
    for old, new in zip(
        narrow(vocoder_features(mel, f0, 0)),
        wide(vocoder_features(mel, f0, torch.randn(1, 4, 20))),
        strict=True,
    ):
        torch.testing.assert_close(old, new)
    acoustic, wider = AcousticModel(Size(**{**TINY.as_dict(), "latents": 0})), AcousticModel(TINY)
    take(wider, acoustic.state_dict())
    frames = torch.randn(1, 20, 19)
    torch.testing.assert_close(acoustic.decode(frames), wider.decode(frames)[:, :82])


def test_padding_changes_nothing() -> None:
    torch.manual_seed(0)
    acoustic = AcousticModel(TINY).eval()
    torch.nn.init.normal_(acoustic.whole.weight)
    ids, frames = torch.randint(4, 60, (1, 9)), torch.randn(1, 30, 19)
    hidden, log_durations = acoustic.encode(ids)
    features = acoustic.decode(frames)
    padded = torch.nn.functional.pad(ids, (0, 5)), torch.ones(1, 14)
    padded[1][:, 9:] = 0
    again, log_again = acoustic.encode(*padded)
    torch.testing.assert_close(again[:, :9], hidden)
    torch.testing.assert_close(log_again[:, :9], log_durations)
    mask = torch.ones(1, 37)
    mask[:, 30:] = 0
    more = acoustic.decode(torch.cat([frames, torch.randn(1, 7, 19)], 1), mask)
    torch.testing.assert_close(more[..., :30], features)


def items_of(corpus: Path) -> list[Item]:
    return [make_item(line) for line in load_shard(corpus / "shard-00001.npz")]


def test_short_utterances_are_rendered_whole(corpus: Path) -> None:
    random = np.random.default_rng(1)
    for _, first, item in random_segments(items_of(corpus), random, 20):
        if item.frames <= SEGMENT_FRAMES:
            assert first <= 0
            assert first + SEGMENT_FRAMES >= item.frames


def test_the_ends_of_an_utterance_are_in_half_as_many_segments_as_its_middle(
    corpus: Path,
) -> None:
    longest = max(items_of(corpus), key=lambda item: item.frames)
    heard = np.zeros(longest.frames)
    for _, first, _ in random_segments([longest], np.random.default_rng(1), 2000):
        heard[max(0, first) : first + SEGMENT_FRAMES] += 1
    assert heard.min() > 0.45 * heard.max()


def test_a_segment_of_a_short_utterance_is_what_it_is_alone_and_silence(corpus: Path) -> None:
    item = min(items_of(corpus), key=lambda item: item.frames)
    cut = cut_segments([item], np.random.default_rng(1), 1, torch.device("cpu"))
    first = -cut.cuts[0][1]
    vocoder = Vocoder(TINY).eval()
    features = vocoder_features(item.mel[None].float(), item.f0_hz[None], TINY.latents)
    source = stft(item.source.float())[None, :, : item.frames]
    harmonic, noise, _ = render(vocoder, features, source, torch.Generator())
    held, held_noise, _ = render(
        vocoder, cut.of(features), torch.ones_like(cut.source), torch.Generator(), cut.mask
    )
    spoken = slice(first, first + item.frames)
    torch.testing.assert_close(held[..., spoken] * source, harmonic, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(held_noise[..., spoken], noise, rtol=1e-4, atol=1e-5)
    assert held_noise.count_nonzero() == noise.count_nonzero()
    assert cut.mask.sum() == item.frames
    assert cut.mask.shape[-1] == SEGMENT_FRAMES + 2 * CONTEXT_FRAMES


def test_what_is_told_replaces_the_pitch_of_its_utterance_alone() -> None:
    predicted = torch.tensor([[[0.3, -0.5], [0.3, 4.0]], [[0.1, 1.0], [0.2, 1.0]]])
    told = tell(predicted, torch.tensor([[200.0, 0.0], [-1.0, -1.0]]))
    torch.testing.assert_close(told[0], torch.tensor([[0.0, 2.0], [0.3, -4.0]]))
    torch.testing.assert_close(told[1], predicted[1])


@pytest.mark.parametrize("lower_hz", [150.0, 200.0, 250.0])
def test_the_envelope_of_a_voice_hardly_tells_its_pitch(lower_hz: float) -> None:
    mels = []
    for f0_hz in (lower_hz, 1.1 * lower_hz):
        source = pulses(torch.full((80,), f0_hz))
        mels.append(log_mel(stft(source))[None, :, 20:60])
    ripple = (mels[0] - mels[1]).abs()[:, 8:25].mean()
    envelope = smooth_bands(mels[0] - mels[1]).abs()[:, 8:25].mean()
    assert envelope < 0.4 * ripple


def test_raised_formants_stand_out_of_the_same_mean() -> None:
    torch.manual_seed(0)
    vocoder = Vocoder(TINY)
    frames = torch.randn(1, 10, TINY.vocoder_width)
    parts = []
    for gain in (0.0, 0.5):
        raise_formants(vocoder, gain)
        parts.append(vocoder.head(frames).chunk(3, -1))
    (magnitude, phase, noise), (raised_magnitude, same_phase, raised_noise) = parts
    torch.testing.assert_close(phase, same_phase)
    for flat, raised in ((magnitude, raised_magnitude), (noise, raised_noise)):
        assert 1.4 < (raised.std(-1) / flat.std(-1)).mean() < 1.6
        torch.testing.assert_close(raised.mean(), flat.mean(), rtol=0, atol=0.05)


def test_an_average_lies_between_two_voices(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(average, "Size", lambda: TINY)
    voices = []
    for seed in range(2):
        torch.manual_seed(seed)
        modules = {"acoustic": AcousticModel(TINY), "vocoder": Vocoder(TINY)}
        voices.append({key: module.state_dict() for key, module in modules.items()})
        torch.save({"modules": {}, "averages": voices[-1]}, tmp_path / f"{seed}.pt")
    out = tmp_path / "joint.pt"
    arguments = [str(tmp_path / "0.pt"), str(tmp_path / "1.pt"), "--out", str(out)]
    result = CliRunner().invoke(average.main, [*arguments, "--acoustic", "0.25"])
    assert result.exit_code == 0, result.output
    mean = torch.load(out, weights_only=True)["averages"]
    for key, share, name in (
        ("acoustic", 0.25, "decoder_in.weight"),
        ("vocoder", 0.5, "head.bias"),
    ):
        first, second = (voice[key][name] for voice in voices)
        torch.testing.assert_close(mean[key][name], share * first + (1 - share) * second)


def test_headroom_makes_a_voice_quieter_and_changes_nothing_else() -> None:
    torch.manual_seed(0)
    vocoder = Vocoder(TINY)
    features = torch.randn(1, 86, 10)
    loud = vocoder(features)
    match.add_level(vocoder.head.bias.data, torch.tensor(-20.0))
    for before, after in zip(loud, vocoder(features), strict=True):
        torch.testing.assert_close(after, before / 10, rtol=1e-3, atol=1e-5)


def test_a_pack_gives_back_the_weights_that_it_was_made_of(
    monkeypatch: pytest.MonkeyPatch, corpus: Path, tmp_path: Path
) -> None:
    out, pack = tmp_path / "run", tmp_path / "pack"
    run(monkeypatch, corpus, out, "acoustic", "--minutes", "0.005")
    run(monkeypatch, corpus, out, "vocoder", "--minutes", "0.005")
    run(monkeypatch, corpus, out, "joint", "--minutes", "0.005")
    monkeypatch.setattr(graphs, "Size", lambda: TINY)
    monkeypatch.setattr(restore, "Size", lambda: TINY)
    arguments = ["--checkpoints", str(out), "--out", str(pack), "--formant-gain", "0.3"]
    arguments += ["--pace", "0.8"]
    arguments += ["--match", str(corpus)]
    result = CliRunner().invoke(export.main, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    result = CliRunner().invoke(restore.main, [str(pack), "--out", str(tmp_path / "back.pt")])
    assert result.exit_code == 0, result.output
    before = {"acoustic": AcousticModel(TINY), "vocoder": Vocoder(TINY)}
    after = {"acoustic": AcousticModel(TINY), "vocoder": Vocoder(TINY)}
    train.start_from(out / "joint.pt", before)
    train.start_from(tmp_path / "back.pt", after)
    ids, frames = torch.randint(1, 99, (1, 9)), torch.randn(1, 7, 19)
    for call in (
        lambda nets: nets["acoustic"].eval().encode(ids)[0],
        lambda nets: nets["acoustic"].eval().encode(ids)[1],
        lambda nets: nets["acoustic"].decode(frames)[:, :82],
        # Latents come back in another scale, which the vocoder knows.
        lambda nets: nets["vocoder"](nets["acoustic"].decode(frames))[0],
        lambda nets: nets["vocoder"](nets["acoustic"].decode(frames))[2],
    ):
        torch.testing.assert_close(call(after), call(before), rtol=1e-3, atol=1e-4)
    trained = torch.load(out / "joint.pt", weights_only=True)["modules"]["discriminators"]
    kept = torch.load(tmp_path / "back.pt", weights_only=True)["modules"]["discriminators"]
    for name, value in trained.items():
        torch.testing.assert_close(kept[name], value, rtol=1e-2, atol=1e-3)
    taught: list[object] = []
    monkeypatch.setattr(stages, "teach_judges", lambda *_: taught.append(_))
    start = ["joint", "--minutes", "0.001", "--start"]
    run(monkeypatch, corpus, tmp_path / "again", *start, str(tmp_path / "back.pt"))
    assert not taught, "discriminators that came with the voice need no start of their own"
    run(monkeypatch, corpus, tmp_path / "new", *start, str(out / "acoustic.pt"))
    assert taught


def test_lines_in_another_tempo_than_a_student_expects_are_left_out(
    monkeypatch: pytest.MonkeyPatch, corpus: Path, tmp_path: Path
) -> None:
    monkeypatch.setattr(model, "Size", lambda: TINY)
    student = AcousticModel(TINY)
    torch.nn.init.zeros_(student.duration_head.weight)
    torch.nn.init.constant_(student.duration_head.bias, np.log(20))
    checkpoint = tmp_path / "student.pt"
    torch.save({"averages": {"acoustic": student.state_dict()}}, checkpoint)
    given = ["--corpus", str(corpus)]
    told = CliRunner().invoke(screen.main, [*given, "--checkpoint", str(checkpoint)])
    assert told.exit_code == 0, told.output
    assert "2 of 8 lines rejected" in told.output
    # Sounds of 10 and 10 frames, and of 100 and 10; the others' mean is near 20.
    assert rejected_lines(corpus / "shard-00001.npz") == {4, 7}
    assert sorted(item.frames for item in Corpus(corpus).items) == [58, 60, 64, 66, 70, 90]
    again = CliRunner().invoke(screen.main, [*given, "--checkpoint", str(checkpoint)])
    assert "0 of 0 lines" in again.output


def test_a_screen_needs_one_listener(corpus: Path) -> None:
    told = CliRunner().invoke(screen.main, ["--corpus", str(corpus)])
    assert told.exit_code == 2
    assert "--whisper or --checkpoint" in told.output


def test_wide_latents_are_narrowed_and_the_voice_stays(corpus: Path) -> None:
    torch.manual_seed(0)
    acoustic, vocoder = AcousticModel(TINY).eval(), Vocoder(TINY).eval()
    acoustic.decoder_head.weight.data[81] *= 30
    items = [make_item(line) for line in load_shard(corpus / "shard-00001.npz")[:3]]
    batch = collate(items[:1])
    frames, _ = frames_of(acoustic, batch)
    before = acoustic.decode(frames)
    sound = vocoder(before)
    ranges.limit_latents(acoustic, vocoder, items)
    after = acoustic.decode(frames)
    assert before[:, 82:].abs().max() > 2 * ranges.LATENT_PEAK
    assert after[:, 82:].abs().max() <= ranges.LATENT_PEAK * 1.001
    torch.testing.assert_close(after[:, :82], before[:, :82])
    for now, then in zip(vocoder(after), sound, strict=True):
        torch.testing.assert_close(now, then, rtol=1e-3, atol=1e-5)


def test_wide_channels_are_narrowed_and_the_voice_stays(corpus: Path) -> None:
    torch.manual_seed(0)
    acoustic, vocoder = AcousticModel(TINY).eval(), Vocoder(TINY).eval()
    vocoder.norm.weight.data[3] *= 30
    acoustic.encoder[0].norm.weight.data[5] *= 30
    items = items_of(corpus)[:3]
    batch = collate(items[:1])
    frames, _ = frames_of(acoustic, batch)
    features = acoustic.decode(frames)
    sound = vocoder(features)
    ranges.smooth_activations(acoustic, vocoder, items)
    for norm in (vocoder.norm, acoustic.encoder[0].norm):
        assert norm.weight.max() < 8 * norm.weight.median()
    frames, _ = frames_of(acoustic, batch)
    torch.testing.assert_close(acoustic.decode(frames), features, rtol=1e-3, atol=1e-4)
    for now, then in zip(vocoder(features), sound, strict=True):
        torch.testing.assert_close(now, then, rtol=1e-3, atol=1e-4)


def test_an_equaliser_gives_a_voice_the_mean_spectrum_of_its_teacher(
    monkeypatch: pytest.MonkeyPatch, corpus: Path
) -> None:
    monkeypatch.setattr(match, "LARGEST_DB", 200.0)
    torch.manual_seed(0)
    acoustic, vocoder = AcousticModel(TINY).eval(), Vocoder(TINY)
    lines = load_shard(corpus / "shard-00001.npz")[:3]
    for line in lines:
        line.f0_hz[20:40] = 0
    items = [make_item(line) for line in lines]
    plain = graphs.VocoderGraph(vocoder, torch.ones(vocoder.bands))
    voiced_db, unvoiced_db = match.colour_db(acoustic, vocoder, plain, items)
    match.add_level(vocoder.head.bias.data, voiced_db, unvoiced_db)
    gains = 10 ** ((voiced_db - unvoiced_db) / 20)
    equalised = graphs.VocoderGraph(vocoder, gains)
    audible = torch.tensor(match.band_centres()) * SAMPLE_RATE_HZ / N_FFT >= match.LOWEST_HZ
    for lacking, left in zip(
        (voiced_db, unvoiced_db), match.colour_db(acoustic, vocoder, equalised, items), strict=True
    ):
        # A tone leaks from its band into those beside it, so that one step is not the whole way.
        assert lacking[audible].abs().mean() > 5
        assert left[audible].abs().mean() < 0.3 * lacking[audible].abs().mean()
        assert (lacking[~audible] == match.RUMBLE_DB).all()
