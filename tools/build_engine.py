#!/usr/bin/env python3
"""Build the TensorRT engines of a voice on this device; the same as ``edgetts engine build``.

For scripts and images that have a checkout and no installed command:
``python3 tools/build_engine.py --voice models/zh-en --folder /var/lib/edge-tts/engines``.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from edge_tts.cli import run

if __name__ == "__main__":
    sys.exit(run(["engine", "build", *sys.argv[1:]]))
