"""The attention explorer: the attention weights between queries and keys, in every head and layer."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from torch import Tensor
from traitlets import Bool as Boolean
from traitlets import Bytes, Dict, Integer, List, TraitError, observe, validate
from traitlets import Float as Number

from transformer_course import plots
from transformer_course.views.view import View, blank
from transformer_course.views.weight_tables import Tokens, WeightTable, pack, weight_tables

ALL_HEADS = -1
GRAY = "#B9B9B9"
"""The color of masked weights. It is not in the color map of the weights."""
MAX_LEVEL_NAME = 2
"""Maximum length of a horizontal key name in the still picture. If a name is longer, all names are rotated."""
MAX_NAMED = 24
"""Maximum number of named rows or columns in the still picture, and of tokens and heads in the description."""


class AttentionExplorer(View):
    """Show which keys a query attends to, and which queries attend to a key, for one head or all heads of a layer.

    Each head has its own color. Weights of several heads are never averaged, because no head attends like the average.
    If the queries are a slice of the keys, each query is drawn next to its own key. A weight of exactly 0 counts as
    masked: without a mask, a softmax returns 0 only if a score is about 100 below the largest score.

    Args:
        weights: The weights of one layer: a tensor of shape (n_query, n_key) or (n_heads, n_query, n_key) for one
            sentence; a tensor of shape (batch, n_heads, n_query, n_key) or a list of tensors for several sentences. For
            several layers, a dict from layer name to weights, such as the result of ``record_attention``.
        queries: Tokens of the queries: a list of strings, or a list of lists for several sentences. If layers have
            different query sequences, a dict from layer name to tokens.
        keys: Tokens of the keys if they differ from the queries, as in cross-attention.
        **traits: The initial values of ``sentence``, ``layer``, ``head``, ``off``, ``query``, ``key``, ``threshold``
            and ``numbers``.

    Raises:
        ValueError: The shapes and the numbers of tokens do not match, or the weights are not between 0 and 1.

    >>> import torch
    >>> explorer = AttentionExplorer(torch.tensor([[1.0, 0.0], [0.3, 0.7]]), ["I", "like"])
    >>> explorer.query = 1
    >>> print(explorer.words())
    Attention explorer: one layer, one head, one sentence; 2 queries (I like), 2 keys (I like).
    The query like₁ attends most to like₁ 0.70, I₀ 0.30.
    """

    front_end = "attention_explorer"

    sentence = Integer(0, help="Index of the sentence to show.").tag(sync=True)
    layer = Integer(0, help="Index of the layer to show.").tag(sync=True)
    head = Integer(ALL_HEADS, help="Index of the head to show, or −1 for all heads.").tag(sync=True)
    off = List(Integer(), help="Indices of the heads that are switched off while all heads are shown.").tag(sync=True)
    query = Integer(None, allow_none=True, help="Index of the query whose keys are shown, or None.").tag(sync=True)
    key = Integer(None, allow_none=True, help="Index of the key whose queries are shown, or None.").tag(sync=True)
    threshold = Number(0.1, min=0.0, max=1.0, help="Minimum weight for which a line is drawn.").tag(sync=True)
    numbers = Boolean(False, help="Whether to show the weights next to the tokens.").tag(sync=True)
    index = Dict(help="Layers, tokens, and the offset of each attention matrix in ``weights``.").tag(sync=True)
    weights = Bytes(help="All weights, stored as two bytes each.").tag(sync=True)

    def __init__(
        self,
        weights: Tensor | Sequence[Tensor] | Mapping[str, Tensor | Sequence[Tensor]],
        queries: Tokens | Mapping[str, Tokens],
        keys: Tokens | Mapping[str, Tokens] | None = None,
        **traits: Any,
    ) -> None:
        layers = weights if isinstance(weights, Mapping) else {"attention": weights}
        if not layers:
            raise ValueError("weights must contain at least one layer")

        def tokens_of_layer(tokens: Any, layer: str) -> Any:
            return tokens[layer] if isinstance(tokens, Mapping) else tokens

        self.tables: dict[str, list[WeightTable]] = {
            name: weight_tables(tensors, tokens_of_layer(queries, name), tokens_of_layer(keys, name), name)
            for name, tensors in layers.items()
        }
        numbers = {name: len(tables) for name, tables in self.tables.items()}
        if len(set(numbers.values())) > 1:
            raise ValueError(f"all layers must have the same number of sentences; got {numbers}")
        index, data = pack(self.tables)
        super().__init__(index=index, weights=data, **traits)

    @property
    def table(self) -> WeightTable:
        """The weights of the selected layer and sentence."""
        return list(self.tables.values())[self.layer][self.sentence]

    @validate("sentence", "layer", "head", "query", "key")
    def _in_range(self, proposal: dict[str, Any]) -> int | None:
        name, value = proposal["trait"].name, proposal["value"]
        if name in ("sentence", "layer"):
            low, high = 0, len(self.tables if name == "layer" else next(iter(self.tables.values())))
        else:
            n_heads, n_query, n_key = self.table.weights.shape
            low, high = {"head": (ALL_HEADS, n_heads), "query": (0, n_query), "key": (0, n_key)}[name]
        if value is not None and not low <= value < high:
            raise TraitError(f"{name} must be from {low} to {high - 1}; got {value}")
        return value

    @observe("sentence", "layer")
    def _deselect_missing(self, _change: Any) -> None:
        """Deselect heads and tokens that do not exist in the layer or sentence."""
        n_heads, n_query, n_key = self.table.weights.shape
        with self.hold_sync():
            self.head = self.head if self.head < n_heads else ALL_HEADS
            self.query = None if self.query is None or self.query >= n_query else self.query
            self.key = None if self.key is None or self.key >= n_key else self.key

    @observe("query", "key")
    def _select_one(self, change: Any) -> None:
        if change["new"] is not None:
            self.set_trait("key" if change["name"] == "query" else "query", None)

    def still(self) -> Figure:
        """Return a figure with a heat map of each head that is shown."""
        table = self.table
        heads = self._heads_on() if self.head == ALL_HEADS else [self.head]
        n_columns = min(len(heads), max(2, ceil(len(heads) / 2)), 4)  # two rows fit a narrow page
        n_rows = ceil(len(heads) / n_columns)
        _, n_query, n_key = table.weights.shape
        width, height = (min(max(0.2 * n, 1.4), 7.0 / min(n_columns, 2)) for n in (n_key, n_query))
        figure = blank(1.6 + n_columns * (0.4 + width), 1.1 + n_rows * (0.5 + height))
        axes = [figure.add_subplot(n_rows, n_columns, 1 + i) for i in range(len(heads))]
        queries, keys = (side if len(side) <= MAX_NAMED else None for side in (table.queries, table.keys))
        plots.heads(table.weights[list(heads)], queries, keys, axes)
        for ax, head in zip(axes, heads, strict=True):
            ax.set_title(f"head {head}")
            if keys and max(map(len, keys)) > MAX_LEVEL_NAME:
                ax.tick_params(axis="x", rotation=90)
            if self.query is not None or self.key is not None:
                ax.add_patch(self._outline(n_query, n_key))
            if (hidden := table.hidden[head]).any():
                ax.imshow(np.ma.masked_where(~hidden.numpy(), hidden.numpy()), cmap=ListedColormap([GRAY]))
        figure.suptitle(self._where())
        if table.hidden[list(heads)].any():
            figure.legend(handles=[Patch(facecolor=GRAY, label="hidden by the mask")], loc="outside lower right")
        return figure

    def words(self) -> str:
        """Return a summary of the weights, and the largest weights of the selected token."""
        table = self.table
        sizes = [
            (len(self.tables), "layer"),
            (len(table.weights), "head"),
            (len(next(iter(self.tables.values()))), "sentence"),
        ]
        counts = ", ".join(f"one {noun}" if n == 1 else f"{n} {noun}s" for n, noun in sizes)
        sides = [
            f"{len(tokens)} {noun} ({' '.join(tokens)})" if len(tokens) <= MAX_NAMED else f"{len(tokens)} {noun}"
            for tokens, noun in ((table.queries, "queries"), (table.keys, "keys"))
        ]
        description = f"Attention explorer: {counts}; {', '.join(sides)}."
        if len(self.tables) > 1:
            description += f" Shown: {self._where()}."
        return description + self._selected()

    def _outline(self, n_query: int, n_key: int) -> Rectangle:
        """Return the border around the selected row or column of a map."""
        if self.query is not None:
            corner, width, height = (-0.5, self.query - 0.5), n_key, 1
        else:
            corner, width, height = ((self.key or 0) - 0.5, -0.5), 1, n_query
        return Rectangle(corner, width, height, fill=False, edgecolor=plots.COLORS[1], linewidth=2)

    def _heads_on(self) -> list[int]:
        """Return the heads that are switched on, or all heads if none is switched on."""
        heads = range(len(self.table.weights))
        return [head for head in heads if head not in self.off] or [*heads]

    def _where(self) -> str:
        head = "all heads" if self.head == ALL_HEADS else f"head {self.head}"
        return f"{list(self.tables)[self.layer]}, {head}"

    def _selected(self) -> str:
        table = self.table
        queries, keys = table.names()
        if self.query is not None:
            lines, names = table.weights[:, self.query], keys
            beginning = f"The query {queries[self.query]} attends most to"
        elif self.key is not None:
            lines, names = table.weights[:, :, self.key], queries
            beginning = f"The key {keys[self.key]} is attended to most by"
        else:
            return ""
        if self.head == ALL_HEADS and len(lines) > 1:
            heads = [(head, lines[head]) for head in self._heads_on()]
            best = [(head, line.max().item(), names[int(line.argmax())]) for head, line in heads]
            parts = [f"{name} {weight:.2f} (head {head})" for head, weight, name in best[:MAX_NAMED]]
        else:
            line = lines[max(self.head, 0)]
            parts = [f"{names[i]} {line[i]:.2f}" for i in line.sort(descending=True, stable=True)[1][:3].tolist()]
        return f"\n{beginning} {', '.join(parts)}."
