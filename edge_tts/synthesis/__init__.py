"""Synthesis: phoneme ids to streamed waveform chunks."""
