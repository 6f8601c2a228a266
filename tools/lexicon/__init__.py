"""Builds the pronunciation table, ``lexicon.bin``, from open data and from ours."""
