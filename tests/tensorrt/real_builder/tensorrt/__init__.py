"""TensorRT for RTX under TensorRT's name: the real parser and builder, which need no GPU.

It builds ahead of time for compute capabilities that are named; ours names none.
"""

from __future__ import annotations

from typing import Any

import tensorrt_rtx
import tensorrt_rtx_bindings
from tensorrt_rtx import *  # noqa: F403

__version__ = tensorrt_rtx_bindings.__version__


class Builder(tensorrt_rtx.Builder):  # type: ignore[misc]
    def create_builder_config(self) -> Any:
        config = super().create_builder_config()
        config.num_compute_capabilities = 1
        assert config.set_compute_capability(tensorrt_rtx.ComputeCapability.SM86, 0)
        return config
