"""The shapes of an engine's optimisation profile, and one tensor's memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class TensorBuffer:
    """Memory of one tensor at its largest: page-locked ``host``, flat, and ``device``."""

    host: npt.NDArray[Any]
    device: Any


@dataclass(frozen=True)
class EngineProfile:
    """An execution context bound to one profile.

    Attributes:
        context: TensorRT's execution context.
        lowest: smallest shape of each input.
        highest: largest shape of each input.
        shapes: the shape that each tensor has at present.
    """

    context: Any
    lowest: Shapes
    highest: Shapes
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def is_fixed(self) -> bool:
        return self.lowest == self.highest

    def takes(self, shapes: Shapes) -> bool:
        """Do all inputs lie within the profile?"""
        return all(
            len(shape) == len(self.lowest[name])
            and all(
                low <= size <= high
                for low, size, high in zip(
                    self.lowest[name], shape, self.highest[name], strict=True
                )
            )
            for name, shape in shapes.items()
        )


def best_profile(profiles: list[EngineProfile], shapes: Shapes) -> EngineProfile | None:
    """The profile made for just these shapes, else the first that takes them, else none."""
    fitting = [profile for profile in profiles if profile.takes(shapes)]
    fixed = [profile for profile in fitting if profile.is_fixed]
    return next(iter(fixed or fitting), None)
