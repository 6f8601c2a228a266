"""One module for each ``edgetts`` command; :mod:`edge_tts.cli` loads them when called."""
