"""Mistakes in what goes through which layer, and in what shape."""

from torch import nn

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.heads.mistakes.in_pieces import InPieces


class ValuesProjectedAsKeys(InPieces):
    def project(self, query, key, value):
        return self.w_q(query), self.w_k(key), self.w_k(value)


class ValuesFromTheKeys(InPieces):
    def project(self, query, key, value):
        return self.w_q(query), self.w_k(key), self.w_v(key)


class NotProjected(InPieces):
    def project(self, query, key, value):
        return query, key, value


class ProjectedAfterTheSplit(InPieces):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.project(self.split(query), self.split(key), self.split(value))
        return self.w_o(self.merge(self.weights(self.scores(q, k), mask) @ v))


class NotMerged(InPieces):
    def merge(self, x):
        return x


class NotMergedButTurned(InPieces):
    def merge(self, x):
        return x.transpose(1, 2)


class MixedBeforeTheMerging(InPieces):
    def forward(self, query, key, value, mask=None):
        q, k, v = (self.split(x) for x in self.project(query, key, value))
        return self.merge(self.w_o(self.weights(self.scores(q, k), mask) @ v))


class ReadyMade(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(d_model, n_heads, batch_first=True)

    def forward(self, query, key, value, mask=None):
        return self.attention(query, key, value)[0]


MISTAKES = [
    Mistake(
        ValuesProjectedAsKeys,
        "`w_v` plays no part: the values go through the layer of the keys. Look at which layer each input meets.",
        [
            "After `output.sum().backward()`, is there a layer whose `.weight.grad` is None?",
            "Each of the three inputs has a layer of its own.",
            "The values go through `self.w_v`.",
        ],
    ),
    Mistake(
        ValuesFromTheKeys,
        "What is handed over in `value` is never looked at: the values are made from `key`. In self-attention, where "
        "the two are one, nobody would notice. Look at what goes into each layer.",
        [
            "There are three inputs. Does each of them occur in the code?",
            "Keys are what is compared, values what is mixed. They come in two arguments.",
            "`self.w_v(value)`.",
        ],
    ),
    Mistake(
        NotProjected,
        "The inputs are attended to as they come: `w_q`, `w_k` and `w_v` are not used. One step is missing at the "
        "beginning.",
        [
            "After `output.sum().backward()`, is there a layer whose `.weight.grad` is None?",
            "Which features a head compares is learned by the layers. What makes q of `query`?",
            "`self.w_q(query)`, `self.w_k(key)` and `self.w_v(value)`, and only then the split.",
        ],
    ),
    Mistake(
        ProjectedAfterTheSplit,
        "A layer that takes all d_model features is given those of a single head: it crashes as soon as there are two "
        "heads. Look at what comes first, the layers or the split, and the merging or `w_o`.",
        [
            "What shape has the input of the layer that crashes, and how many features does it take?",
            "Each head sees all features of the inputs, and owns a share of what comes *out* of the first three "
            "layers. `w_o` mixes what all the heads found.",
            "`parts.split_heads(self.w_q(query), self.n_heads)` at the beginning, `self.w_o(parts.merge_heads(...))` "
            "at the end.",
        ],
        also=[MixedBeforeTheMerging],
    ),
    Mistake(
        NotMerged,
        "The heads reach `w_o` one by one: they have not been put side by side. With two heads or more, they are too "
        "narrow for the layer. Look at what happens between the mixing and `w_o`.",
        [
            "What shape has the input of `w_o`, and how many features does the layer take?",
            "MultiHead = Concat(head_1 … head_h) W_O: which comes first?",
            "`self.w_o(parts.merge_heads(...))`.",
        ],
        also=[NotMergedButTurned],
    ),
    Mistake(
        ReadyMade,
        "The four layers that were given are gone. A ready-made module brings its own, under other names. Look at "
        "`__init__`.",
        [
            "Which parameters should the module have? `__init__` was right as it was given.",
            "What is asked for is what goes on inside such a module.",
            "Keep `__init__`; in `forward`, project, split, attend, merge, and mix by `self.w_o`.",
        ],
    ),
]
