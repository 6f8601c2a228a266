"""One stage of training: its modules, optimisers, clock, averages and checkpoint."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
import torch
from torch import nn

from tools.voice.peers import Peers

CHECKPOINT_EVERY_S = 240
WARM_UP_STEPS = 150
LAST_RATE = 0.04
AVERAGE_DECAY = 0.9995


def optimiser(module: nn.Module, rate: float, betas: tuple[float, float]) -> torch.optim.Optimizer:
    """AdamW without decay for vectors and embeddings.

    Muon for the blocks' matrices was slower here: after 160 steps from nothing the mel was
    1.55 nepers off where AdamW's was 1.37, in half as much time again.
    """
    decayed = [p for n, p in module.named_parameters() if p.ndim > 1 and "embedding" not in n]
    others = [p for n, p in module.named_parameters() if not (p.ndim > 1 and "embedding" not in n)]
    groups = [{"params": decayed, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, rate, betas=betas, fused=True)


class Average:
    """An exponential moving average of weights: what is exported."""

    def __init__(self, module: nn.Module) -> None:
        self._module = module
        self.weights = {k: v.detach().clone() for k, v in module.state_dict().items()}

    def load(self, weights: dict[str, torch.Tensor]) -> None:
        for name, value in weights.items():
            self.weights[name].copy_(value)

    @torch.no_grad()
    def update(self, step: int) -> None:
        decay = min(AVERAGE_DECAY, (1 + step) / (10 + step))
        for name, value in self._module.state_dict().items():
            self.weights[name].lerp_(value, 1 - decay)


def take(module: nn.Module, weights: dict[str, torch.Tensor]) -> None:
    """Load weights of the same module or of a narrower one.

    A tensor that has grown keeps what it was in its first rows and columns. New columns
    start at zero, so that the module still gives what it gave; new rows as initialised.
    """
    own = module.state_dict()
    for name, value in weights.items():
        target = own[name]
        if target.shape != value.shape:
            corner = tuple(slice(0, n) for n in value.shape)
            if target.ndim > 1:
                target[: value.shape[0]] = 0
            target[corner] = value
        else:
            target.copy_(value)


class Stage:
    """One stage: its modules, their optimisers, its clock and its checkpoints.

    Beside the whole checkpoint lies a small one, ``NAME.small.pt``: averaged weights as
    float16 and the discriminators, without the state of the optimisers. It is for carrying
    to another machine; a stage that finds nothing else goes on from it.
    """

    def __init__(
        self,
        name: str,
        folder: Path,
        minutes: float,
        modules: dict[str, nn.Module],
        device: torch.device,
        peers: Peers,
    ) -> None:
        self.name, self.minutes, self.modules, self.device = name, minutes, modules, device
        self.peers = peers
        self.path = folder / f"{name}.pt"
        self.small_path = folder / f"{name}.small.pt"
        self.step, self.spent_s = 0, 0.0
        self._first_step = 0
        self.averages: dict[str, Average] = {}
        self.optimisers: dict[str, torch.optim.Optimizer] = {}
        self.rates: dict[str, float] = {}
        self._log = defaultdict(list)

    def optimise(self, key: str, rate: float, betas: tuple[float, float]) -> None:
        self.optimisers[key] = optimiser(self.modules[key], rate, betas)
        self.rates[key] = rate

    def set_rate(self, key: str, rate: float) -> None:
        """The learning rate of one module, until the next step of the stage sets its own."""
        for group in self.optimisers[key].param_groups:
            group["lr"] = rate

    def average_weights(self) -> None:
        """Begin the moving averages at what the modules now hold."""
        networks = {k: m for k, m in self.modules.items() if k != "discriminators"}
        self.averages = {k: Average(m) for k, m in networks.items()}

    @property
    def progress(self) -> float:
        return min(1.0, self.spent_s / (60 * self.minutes))

    def load(self) -> bool:
        if not self.path.exists():
            return self._load_small()
        state = torch.load(self.path, map_location=self.device, weights_only=True)
        for key, module in self.modules.items():
            module.load_state_dict(state["modules"][key])
        for key, average in self.averages.items():
            average.load(state["averages"][key])
        for key, optimiser_ in self.optimisers.items():
            optimiser_.load_state_dict(state["optimisers"][key])
        self.step, self.spent_s = state["step"], state["spent_s"]
        return True

    def _load_small(self) -> bool:
        if not self.small_path.exists():
            return False
        state = torch.load(self.small_path, map_location=self.device, weights_only=True)
        for key, module in self.modules.items():
            take(module, state["modules"][key])
        for key, average in self.averages.items():
            average.load(self.modules[key].state_dict())
        self.step, self.spent_s = state["step"], state["spent_s"]
        # The optimisers know nothing yet: their rates rise again.
        self._first_step = self.step
        return True

    def save(self) -> None:
        clock = {"step": self.step, "spent_s": self.spent_s}
        _write(
            self.path,
            {
                "modules": {k: m.state_dict() for k, m in self.modules.items()},
                "averages": {k: a.weights for k, a in self.averages.items()},
                "optimisers": {k: o.state_dict() for k, o in self.optimisers.items()},
                **clock,
            },
        )
        weights = {
            k: self.averages[k].weights if k in self.averages else m.state_dict()
            for k, m in self.modules.items()
        }
        halves = {k: {n: v.half() for n, v in w.items()} for k, w in weights.items()}
        _write(self.small_path, {"modules": halves, **clock})

    def _clock_s(self) -> float:
        """Seconds of computing a thread so far; on a GPU those of the wall."""
        if self.device.type == "cpu":
            return time.process_time() / torch.get_num_threads()
        return time.monotonic()

    def steps(self, report_every: int = 50) -> Iterator[int]:
        """Yield step numbers until the stage's minutes are over."""
        last_saved = time.monotonic()
        mark = self._clock_s()
        while self.progress < 1:
            scale = min(1, (self.step - self._first_step + 1) / WARM_UP_STEPS) * (
                LAST_RATE + (1 - LAST_RATE) * 0.5 * (1 + math.cos(math.pi * self.progress))
            )
            for key in self.optimisers:
                self.set_rate(key, self.rates[key] * scale)
            yield self.step
            self.step += 1
            for average in self.averages.values():
                average.update(self.step)
            computed = self._clock_s()
            self.spent_s = self.peers.agree(self.spent_s + computed - mark)
            mark = computed
            if not self.peers.leads:
                continue
            if self.step % report_every == 0:
                self.report(f"{self.step} {100 * self.progress:.1f}%")
            if time.monotonic() - last_saved > CHECKPOINT_EVERY_S:
                self.save()
                last_saved = time.monotonic()
        if self.peers.leads:
            self.save()

    def report(self, title: str) -> None:
        """Print the means of what was logged since the last report."""
        means = " ".join(f"{k} {np.mean(v):.3f}" for k, v in self._log.items())
        click.echo(f"{self.name} {title} {means}")
        self._log.clear()

    def log(self, losses: dict[str, torch.Tensor]) -> None:
        for key, value in losses.items():
            self._log[key].append(float(value.detach()))

    def descend(self, key: str, loss: torch.Tensor, also: tuple[str, ...] = ()) -> None:
        keys = (key, *also)
        for k in keys:
            self.optimisers[k].zero_grad()
        loss.backward()
        for k in keys:
            self.peers.average(self.modules[k].parameters())
            nn.utils.clip_grad_norm_(self.modules[k].parameters(), 1.0)
            self.optimisers[k].step()


def _write(path: Path, state: dict[str, object]) -> None:
    aside = path.with_suffix(".part")
    torch.save(state, aside)
    aside.replace(path)
