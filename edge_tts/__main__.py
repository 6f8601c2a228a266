"""``python -m edge_tts`` is ``edgetts``."""

from __future__ import annotations

from edge_tts.cli import main

if __name__ == "__main__":
    main()
