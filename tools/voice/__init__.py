"""The voice factory: corpus, train, export, quantise, evaluate."""
