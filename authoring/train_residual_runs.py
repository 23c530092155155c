"""Train the stacks of the residual stream view and measure every layer during training.

``python -m authoring.train_residual_runs`` trains five depths and two layouts, with and without warm-up, with three
seeds each, and writes the file that the view reads. The command takes about seven minutes on one core. The stacks and
their task are the same as in lesson 06.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_course.views.residual_runs import FILE, MEASURES, Run
from transformer_lab.models.encoder import Encoder, PreNormEncoder
from transformer_lab.models.initialization import initialize

LAYOUTS: dict[str, type[Encoder]] = {"post-norm": Encoder, "pre-norm": PreNormEncoder}
WARMUPS = (0, 50)
DEPTHS = (2, 4, 8, 12, 24)
SEEDS = (0, 1, 2)
STEPS = (0, 5, 10, 20, 30, 40, 50, 75, 100, 150, 200)
"""Steps at which a stack is measured. Training ends at the last of these steps."""
VOCAB_SIZE, LENGTH, D_MODEL, LR = 16, 11, 32, 0.003


@dataclass(frozen=True)
class Measurement:
    """Measurements of a stack at one step.

    Attributes:
        loss: Mean cross-entropy.
        layers: One row for each of ``MEASURES``, one column for each layer.
    """

    loss: float
    layers: Float[Tensor, "n_measures n_layers"]


class PreviousTokenModel(nn.Module):
    """A stack that predicts the previous token at every position of a random text.

    Args:
        layout: ``"post-norm"`` or ``"pre-norm"``.
        depth: Number of layers.
    """

    def __init__(self, layout: str, depth: int) -> None:
        super().__init__()
        self.encoder = LAYOUTS[layout](VOCAB_SIZE, D_MODEL, 4, 4 * D_MODEL, depth, LENGTH)
        self.output = nn.Linear(D_MODEL, VOCAB_SIZE)
        initialize(self)

    def forward(self, tokens: Int[Tensor, "batch n"]) -> Float[Tensor, ""]:
        """Return the loss on a batch, excluding the first position, which has no previous token."""
        logits = self.output(self.encoder(tokens))
        return F.cross_entropy(logits[:, 1:].flatten(0, 1), tokens[:, :-1].flatten())


def measure(model: PreviousTokenModel, tokens: Int[Tensor, "batch n"]) -> Measurement:
    """Measure how each layer changes a batch, and the gradient at each layer."""
    streams: list[Tensor] = []
    layers = list(model.encoder.layers)
    hooks = [layers[0].register_forward_pre_hook(lambda module, inputs: streams.append(inputs[0].detach()))]
    hooks += [layer.register_forward_hook(lambda module, inputs, x: streams.append(x.detach())) for layer in layers]
    try:
        loss = model(tokens)
    finally:
        for hook in hooks:
            hook.remove()
    matrices = [matrix for name, matrix in model.named_parameters() if name.endswith("feed_forward.w_2.weight")]
    norms = [gradient.norm() for gradient in torch.autograd.grad(loss, matrices)]
    x = torch.stack(streams)  # (n_layers + 1, batch, n, d_model)
    rows = [
        x[1:].square().mean(dim=(1, 2, 3)).sqrt(),
        torch.stack(norms),
        similarity(x[1:]),
        torch.cosine_similarity(x[:-1], x[1:], dim=-1).mean(dim=(1, 2)),
    ]
    return Measurement(loss.item(), torch.stack(rows))


def similarity(x: Float[Tensor, "*layers batch n d_model"]) -> Float[Tensor, "*layers"]:
    """Return the mean cosine similarity between different positions in a text."""
    directions = F.normalize(x, dim=-1)
    cosines = directions @ directions.mT
    n = x.shape[-2]
    return (cosines.sum(dim=(-2, -1)) - n).mean(dim=-1) / (n * n - n)


def train(layout: str, depth: int, warmup: int, seed: int) -> dict[int, Measurement]:
    """Train a stack and return its measurements by step."""
    torch.manual_seed(seed)
    model = PreviousTokenModel(layout, depth)
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    probe = torch.randint(VOCAB_SIZE, (64, LENGTH), generator=torch.Generator().manual_seed(seed))
    measured = {0: measure(model, probe)}
    for step in range(1, STEPS[-1] + 1):
        optimizer.param_groups[0]["lr"] = LR * min(1.0, step / max(warmup, 1), 3 * (1 - step / STEPS[-1]))
        loss = model(torch.randint(VOCAB_SIZE, (32, LENGTH)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step in STEPS:
            measured[step] = measure(model, probe)
    return measured


def train_all() -> list[Run]:
    """Train every stack with every seed."""
    runs = []
    for depth in DEPTHS:
        for layout in LAYOUTS:
            for warmup in WARMUPS:
                runs.append(merge_seeds(layout, depth, warmup, [train(layout, depth, warmup, seed) for seed in SEEDS]))
                print(f"{depth} layers, {runs[-1].name}: losses {runs[-1].losses[-1]}")
    return runs


def merge_seeds(layout: str, depth: int, warmup: int, by_seed: Sequence[Mapping[int, Measurement]]) -> Run:
    """Merge the runs of several seeds, rounded to three digits because more would differ between machines."""
    moments = [[run[step] for run in by_seed] for step in by_seed[0]]
    losses = [[_short(measured.loss) for measured in seeds] for seeds in moments]
    layers = torch.stack([torch.stack([measured.layers for measured in seeds]).mean(dim=0) for seeds in moments])
    measures = {
        name: [list(map(_short, row)) for row in rows]
        for name, rows in zip(MEASURES, layers.transpose(0, 1).tolist(), strict=True)
    }
    return Run(layout, depth, warmup, list(by_seed[0]), losses, measures)


def _short(number: float) -> float:
    return float(f"{number:.3g}")


if __name__ == "__main__":
    FILE.write_text(json.dumps([vars(run) for run in train_all()], separators=(",", ":")) + "\n", encoding="utf-8")
