"""Which shapes an engine is built for: the chunks of a voice, and the few that are not fixed."""

from __future__ import annotations

from dataclasses import dataclass

from edge_tts.voice import Voice

# Upper ends of the encoder's profiles below the voice's longest phrase: most alarms lie in the
# first two, and kernels are chosen for each.
ENCODER_LENGTHS = (40, 90)


@dataclass(frozen=True)
class AxisProfile:
    """Sizes of the one axis of a graph that varies: smallest, most frequent, largest."""

    lowest: int
    usual: int
    highest: int

    def __post_init__(self) -> None:
        if not 1 <= self.lowest <= self.usual <= self.highest:
            raise ValueError(f"{self} is not in ascending order")


def axis_profiles(voice: Voice, graph: str, lookahead_frames: int) -> tuple[AxisProfile, ...]:
    """The profiles of one network, the fixed ones first.

    The encoder has a few, together from a single phoneme to the voice's longest
    phrase. The others have one for each width that chunks have, with no freedom in it, and
    one for utterances shorter than a chunk, which are run at their own length.

    Args:
        voice: gives contexts and chunk lengths.
        graph: ``encoder``, ``decoder`` or ``vocoder``.
        lookahead_frames: frames of features that the first vocoder chunk needs
            beyond its own, at the least.
    """
    if graph == "encoder":
        ends = [end for end in ENCODER_LENGTHS if end < voice.max_phonemes]
        starts = [1, *(end + 1 for end in ends)]
        ends.append(voice.max_phonemes)
        # The upper half of a range has more work in it, and is what its kernels are chosen for.
        return tuple(
            AxisProfile(low, (low + 3 * high) // 4, high)
            for low, high in zip(starts, ends, strict=True)
        )
    context = voice.graphs[graph].context
    chunks = voice.graphs["vocoder"].chunk_frames
    extra = 0
    if graph == "decoder":
        # The decoder is ahead of the vocoder by what the vocoder must see.
        extra = max(voice.graphs["vocoder"].context, lookahead_frames)
    # The first chunk has context on one side; no later one is as short, unless all are.
    later = chunks[1:] or chunks
    widths = {chunks[0] + extra + context, *(chunk + 2 * context for chunk in later)}
    fixed = tuple(AxisProfile(width, width, width) for width in sorted(widths))
    widest = max(widths)
    return (*fixed, AxisProfile(1, min(chunks[0], widest), widest))
