"""What keeps a device from speaking, and the command that fixes it."""

from __future__ import annotations
