"""Export and compile small models in a process without shape checks, because a graph cannot contain them.

The texts are longer than the window of 3 tokens. Shorter texts need no window mask, so their graph differs.
"""

import sys

import torch
from torch import nn
from torch.export import Dim, export
from torch.testing import assert_close

from tests.helpers.small_models import CONFIGS, build, inputs
from transformer_lab.models.transformer import Transformer

SHAPES = ((2, 5), (5, 9), (3, 4))


def check_export(model: nn.Module) -> None:
    """Export a model with dynamic batch size and lengths, and compare its outputs for other shapes with the model's."""
    batch = Dim("batch", min=2, max=64)
    n = {0: batch, 1: Dim("n", min=4, max=16)}
    axes = (
        ({0: batch, 1: Dim("m", min=4, max=16)}, {0: batch, **n})
        if isinstance(model, Transformer)
        else ({0: batch, **n},)
    )
    exported = export(model, inputs(model, *SHAPES[0]), dynamic_shapes=axes).module()
    for shape in SHAPES[1:]:
        assert_close(exported(*inputs(model, *shape)), model(*inputs(model, *shape)))


def check_compile(model: nn.Module) -> None:
    """Compile a model to a single graph, and compare its outputs for all shapes with the model's."""
    torch.compiler.reset()
    graphs = []

    def keep(graph, _):
        graphs.append(graph)
        return graph.forward

    compiled = torch.compile(model, fullgraph=True, dynamic=True, backend=keep)
    for shape in SHAPES:
        assert_close(compiled(*inputs(model, *shape)), model(*inputs(model, *shape)))
    assert len(graphs) == 1, f"expected 1 graph; got {len(graphs)}"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        config = CONFIGS[name]
        check_export(build(config))
        print("exported", name)
        check_compile(build(config))
        print("compiled", name)
