"""Build-time tools: the voice factory, the lexicon and the benchmarks."""
