"""Processes that train one model together, each on its share of a batch.

Two threads of one process lose most of the second core to waiting for each other on the
small operators of speech models; two processes that average gradients once a step do not.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from torch import distributed, multiprocessing

from tools.voice.processes import end_with_parent


@dataclass(frozen=True)
class Peers:
    """Which of how many processes this is."""

    rank: int = 0
    count: int = 1

    @property
    def leads(self) -> bool:
        """Whether this process reports and writes checkpoints."""
        return self.rank == 0

    def average(self, parameters: Iterable[torch.nn.Parameter]) -> None:
        """Replace gradients by their mean over all processes; a missing one counts as zero."""
        if self.count == 1:
            return
        weights = list(parameters)
        for weight in weights:
            if weight.grad is None:
                weight.grad = torch.zeros_like(weight)
        flat = torch.cat([weight.grad.reshape(-1) for weight in weights if weight.grad is not None])
        distributed.all_reduce(flat)
        flat /= self.count
        for weight, part in zip(weights, flat.split([w.numel() for w in weights]), strict=True):
            weight.grad = part.view_as(weight)

    def agree(self, value: float) -> float:
        """The leader's value, on every process."""
        if self.count == 1:
            return value
        shared = torch.tensor([value], dtype=torch.float64)
        distributed.broadcast(shared, 0)
        return float(shared[0])


def _enter(rank: int, count: int, port: int, work: Callable[..., None], options: object) -> None:
    end_with_parent()
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    distributed.init_process_group("gloo", rank=rank, world_size=count)
    try:
        work(Peers(rank, count), options)
    finally:
        distributed.destroy_process_group()


def run(count: int, work: Callable[..., None], options: object) -> None:
    """Call ``work(peers, options)`` in ``count`` processes; ends when all have ended."""
    if count == 1:
        work(Peers(), options)
        return
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    multiprocessing.spawn(_enter, (count, port, work, options), count)
