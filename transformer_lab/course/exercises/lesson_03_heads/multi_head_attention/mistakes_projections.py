"""Mistakes in the four layers, and in what goes through which."""

from torch import nn

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_03_heads.multi_head_attention.mistake_template import InPieces


class KeysProjectedAsQueries(InPieces):
    def project(self, query, key, value):
        return self.w_q(query), self.w_q(key), self.w_v(value)


class EverythingProjectedAsQueries(InPieces):
    def project(self, query, key, value):
        return self.w_q(query), self.w_q(key), self.w_q(value)


class ValuesProjectedAsKeys(InPieces):
    def project(self, query, key, value):
        return self.w_q(query), self.w_k(key), self.w_k(value)


class KeysAndValuesSwapped(InPieces):
    def project(self, query, key, value):
        return self.w_q(query), self.w_k(value), self.w_v(key)


class EverythingFromTheQuery(InPieces):
    def project(self, query, key, value):
        return self.w_q(query), self.w_k(query), self.w_v(query)


class KeysFromTheQuery(InPieces):
    def project(self, query, key, value):
        return self.w_q(query), self.w_k(query), self.w_v(value)


class ValuesFromTheKeys(InPieces):
    def project(self, query, key, value):
        return self.w_q(query), self.w_k(key), self.w_v(key)


class NotProjected(InPieces):
    def project(self, query, key, value):
        return query, key, value


class QueriesNotProjected(InPieces):
    def project(self, query, key, value):
        return query, self.w_k(key), self.w_v(value)


class KeysNotProjected(InPieces):
    def project(self, query, key, value):
        return self.w_q(query), key, self.w_v(value)


class ValuesNotProjected(InPieces):
    def project(self, query, key, value):
        return self.w_q(query), self.w_k(key), value


class NoOutputProjection(InPieces):
    def forward(self, query, key, value, mask=None):
        q, k, v = (self.split(x) for x in self.project(query, key, value))
        return self.merge(self.weights(self.scores(q, k), mask) @ v)


class LayersOfOneHead(InPieces):
    def __init__(self, d_model, n_heads):
        super().__init__(d_model, n_heads)
        d_k = d_model // n_heads
        self.w_q, self.w_k, self.w_v = (nn.Linear(d_k, d_k) for _ in range(3))


class LayersFromAllToOneHead(InPieces):
    def __init__(self, d_model, n_heads):
        super().__init__(d_model, n_heads)
        d_k = d_model // n_heads
        self.w_q, self.w_k, self.w_v = (nn.Linear(d_model, d_k) for _ in range(3))


class ReadyMade(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(d_model, n_heads, batch_first=True)

    def forward(self, query, key, value, mask=None):
        return self.attention(query, key, value)[0]


MISTAKES = [
    Mistake(
        "keys_projected_as_queries",
        [KeysProjectedAsQueries, EverythingProjectedAsQueries],
        says=(
            "`w_k` plays no part: with the same vectors as queries and keys, how much one position likes another would "
            "always be how much the other likes it. Look at which layer the keys go through."
        ),
        hints=[
            "After `output.sum().backward()`, is there a layer whose `.weight.grad` is None?",
            "Each of the three inputs has a layer of its own.",
            "The keys go through `self.w_k`, the values through `self.w_v`.",
        ],
    ),
    Mistake(
        "values_projected_as_keys",
        [ValuesProjectedAsKeys],
        says="`w_v` plays no part: the values go through the layer of the keys. Look at which layer each input meets.",
        hints=[
            "After `output.sum().backward()`, is there a layer whose `.weight.grad` is None?",
            "Each of the three inputs has a layer of its own.",
            "The values go through `self.w_v`.",
        ],
    ),
    Mistake(
        "keys_and_values_swapped",
        [KeysAndValuesSwapped],
        says=(
            "Keys and values have changed places: the scores are made from what should be handed over. In "
            "self-attention nobody would notice. Look at the order of the arguments."
        ),
        hints=[
            "Which input goes into `w_k`, and which into `w_v`?",
            "What is compared with the queries, and what is mixed?",
            "`self.w_k(key)` and `self.w_v(value)`.",
        ],
    ),
    Mistake(
        "everything_from_the_query",
        [EverythingFromTheQuery, KeysFromTheQuery],
        says=(
            "What is asked for in `key` is never looked at: the keys are made from `query`. In self-attention, where "
            "the three are one, nobody would notice. Look at what goes into each layer."
        ),
        hints=[
            "There are three inputs. Does each of them occur in the code?",
            "In cross-attention, the queries come from one sequence, keys and values from another.",
            "`self.w_q(query)`, `self.w_k(key)`, `self.w_v(value)`.",
        ],
    ),
    Mistake(
        "values_from_the_keys",
        [ValuesFromTheKeys],
        says=(
            "What is handed over in `value` is never looked at: the values are made from `key`. In self-attention, "
            "where the two are one, nobody would notice. Look at what goes into each layer."
        ),
        hints=[
            "There are three inputs. Does each of them occur in the code?",
            "Keys are what is compared, values what is mixed. They come in two arguments.",
            "`self.w_v(value)`.",
        ],
    ),
    Mistake(
        "not_projected",
        [NotProjected],
        says=(
            "The inputs are attended to as they come: `w_q`, `w_k` and `w_v` are not used. One step is missing at the "
            "beginning."
        ),
        hints=[
            "After `output.sum().backward()`, is there a layer whose `.weight.grad` is None?",
            "Which features a head compares is learned by the layers. What makes q of `query`?",
            "`self.w_q(query)`, `self.w_k(key)` and `self.w_v(value)`, and only then the split.",
        ],
    ),
    Mistake(
        "queries_not_projected",
        [QueriesNotProjected, KeysNotProjected, ValuesNotProjected],
        says=(
            "One of the three inputs is attended to as it comes: its layer is not used. Look at what goes through "
            "`w_q`, `w_k` and `w_v`."
        ),
        hints=[
            "After `output.sum().backward()`, is there a layer whose `.weight.grad` is None?",
            "Each of the three inputs has a layer of its own.",
            "`self.w_q(query)`, `self.w_k(key)` and `self.w_v(value)`, and only then the split.",
        ],
    ),
    Mistake(
        "no_output_projection",
        [NoOutputProjection],
        says="The heads stand side by side, and nothing mixes them: `w_o` is not used. One step is missing at the end.",
        hints=[
            "After `output.sum().backward()`, is there a layer whose `.weight.grad` is None?",
            "MultiHead = Concat(head_1 … head_h) W_O. Which of these has not happened?",
            "Send the merged heads through `self.w_o`.",
        ],
    ),
    Mistake(
        "layers_of_one_head",
        [LayersOfOneHead, LayersFromAllToOneHead],
        says=(
            "The layers have other sizes than those that were given: these make the features of a single head. All the "
            "heads come out of one layer of d_model to d_model, and are cut afterwards. Look at `__init__`."
        ),
        hints=[
            "How many columns do h heads of width d_model / h need together?",
            "`__init__` was right as it was given.",
            "`nn.Linear(d_model, d_model)`, four times.",
        ],
    ),
    Mistake(
        "ready_made",
        [ReadyMade],
        says=(
            "The four layers that were given are gone. A ready-made module brings its own, under other names. Look at "
            "`__init__`."
        ),
        hints=[
            "Which parameters should the module have? `__init__` was right as it was given.",
            "What is asked for is what goes on inside such a module.",
            "Keep `__init__`; in `forward`, project, split, attend, merge, and mix by `self.w_o`.",
        ],
    ),
]
