"""Mistakes in making heads: projections, splitting and merging."""

from torch import nn

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.heads.mistakes.in_pieces import InPieces


class KeysProjectedAsQueries(InPieces):
    def project(self, query, key, value):
        return self.w_q(query), self.w_q(key), self.w_v(value)


class EverythingProjectedAsQueries(InPieces):
    def project(self, query, key, value):
        return self.w_q(query), self.w_q(key), self.w_q(value)


class KeysAndValuesSwapped(InPieces):
    def project(self, query, key, value):
        return self.w_q(query), self.w_k(value), self.w_v(key)


class EverythingFromTheQuery(InPieces):
    def project(self, query, key, value):
        return self.w_q(query), self.w_k(query), self.w_v(query)


class KeysFromTheQuery(InPieces):
    def project(self, query, key, value):
        return self.w_q(query), self.w_k(query), self.w_v(value)


class NoOutputProjection(InPieces):
    def forward(self, query, key, value, mask=None):
        q, k, v = (self.split(x) for x in self.project(query, key, value))
        return self.merge(self.weights(self.scores(q, k), mask) @ v)


class SplitByView(InPieces):
    def split(self, x):
        batch, n, d_model = x.shape
        return x.reshape(batch, self.n_heads, n, d_model // self.n_heads)


class MergedByView(InPieces):
    def merge(self, x):
        batch, n_heads, n, d_k = x.shape
        return x.reshape(batch, n, n_heads * d_k)


class TransposedThenViewed(InPieces):
    def merge(self, x):
        batch, n_heads, n, d_k = x.shape
        return x.transpose(1, 2).view(batch, n, n_heads * d_k)


class HeadsInterleaved(InPieces):
    def split(self, x):
        return x.unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2)


class KeysAsLongAsQueries(InPieces):
    def project(self, query, key, value):
        self.shape = *query.shape[:2], self.n_heads, query.shape[-1] // self.n_heads
        return super().project(query, key, value)

    def split(self, x):
        return x.view(self.shape).transpose(1, 2)


class KeysAsLongAsQueriesOfAnyWidth(KeysAsLongAsQueries):
    def split(self, x):
        return x.view(*self.shape[:3], -1).transpose(1, 2)


class HeadsMeetHeads(InPieces):
    def split(self, x):
        return x.unflatten(-1, (self.n_heads, -1))

    def merge(self, x):
        return x.flatten(2)


class HeadsMeetHeadsAndAreTurned(InPieces):
    def split(self, x):
        return x.unflatten(-1, (self.n_heads, -1))


class OneBigHead(InPieces):
    def forward(self, query, key, value, mask=None):
        q, k, v = (x.unsqueeze(1) for x in self.project(query, key, value))
        return self.w_o((self.weights(self.scores(q, k), mask) @ v).squeeze(1))


class HeadsAddedUp(InPieces):
    def merge(self, x):
        return x.sum(dim=1)


class HeadsAveraged(InPieces):
    def merge(self, x):
        return x.mean(dim=1)


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


MISTAKES = [
    Mistake(
        KeysProjectedAsQueries,
        "`w_k` plays no part: with the same vectors as queries and keys, how much one position likes another would "
        "always be how much the other likes it. Look at which layer the keys go through.",
        [
            "After `output.sum().backward()`, is there a layer whose `.weight.grad` is None?",
            "Each of the three inputs has a layer of its own.",
            "The keys go through `self.w_k`, the values through `self.w_v`.",
        ],
        also=[EverythingProjectedAsQueries],
    ),
    Mistake(
        KeysAndValuesSwapped,
        "Keys and values have changed places: the scores are made from what should be handed over. In "
        "self-attention nobody would notice. Look at the order of the arguments.",
        [
            "Which input goes into `w_k`, and which into `w_v`?",
            "What is compared with the queries, and what is mixed?",
            "`self.w_k(key)` and `self.w_v(value)`.",
        ],
    ),
    Mistake(
        EverythingFromTheQuery,
        "What is asked for in `key` is never looked at: the keys are made from `query`. In self-attention, where "
        "the three are one, nobody would notice. Look at what goes into each layer.",
        [
            "There are three inputs. Does each of them occur in the code?",
            "In cross-attention, the queries come from one sequence, keys and values from another.",
            "`self.w_q(query)`, `self.w_k(key)`, `self.w_v(value)`.",
        ],
        also=[KeysFromTheQuery],
    ),
    Mistake(
        NoOutputProjection,
        "The heads stand side by side, and nothing mixes them: `w_o` is not used. One step is missing at the end.",
        [
            "After `output.sum().backward()`, is there a layer whose `.weight.grad` is None?",
            "MultiHead = Concat(head_1 … head_h) W_O. Which of these has not happened?",
            "Send the merged heads through `self.w_o`.",
        ],
    ),
    Mistake(
        SplitByView,
        "The heads got positions instead of features, as if the projections had been reshaped without a "
        "transposition. Look at how they are split.",
        [
            "`parts.split_heads` does it right. What does it do that is missing here?",
            "`view` never changes the order of the numbers, and in x they lie position by position.",
            "Cut to (batch, n, n_heads, d_k) first, then swap axes 1 and 2.",
        ],
    ),
    Mistake(
        MergedByView,
        "The heads are put together without a transposition, so that positions get mixed up with one another. Look "
        "at how they are merged.",
        [
            "`parts.merge_heads` does it right. What does it do that is missing here?",
            "After the attention the axes are (batch, n_heads, n_query, d_k). Which two should be neighbours before "
            "they are merged?",
            "Swap axes 1 and 2 first.",
        ],
    ),
    Mistake(
        TransposedThenViewed,
        "The merging is right, but `view` refuses: after a transposition the numbers no longer lie in memory in "
        "the order in which `view` would read them.",
        [
            "What does the error message advise?",
            "`parts.merge_heads` gets along with it.",
            "`.contiguous()` before the `.view`, or `.reshape` instead of it.",
        ],
    ),
    Mistake(
        HeadsInterleaved,
        "A fair way to cut, but not the one asked for: the features are dealt out to the heads in turn. Head i "
        "should own neighbours. A model that was trained with one layout cannot be used with the other.",
        [
            "With 4 features and 2 heads, which features does head 0 own? They should be 0 and 1.",
            "Cutting d_model into (a, b) makes a pieces of b neighbours each.",
            "`parts.split_heads`, or cut into (n_heads, d_k), in this order.",
        ],
    ),
    Mistake(
        KeysAsLongAsQueries,
        "The keys are reshaped as if there were as many of them as queries. In self-attention that is so; in "
        "cross-attention it crashes. Look at where the lengths come from.",
        [
            "With 3 queries and 5 keys, which of the three reshapings fails?",
            "Each of the three has a length of its own. Which one is used?",
            "Take the length of the keys from `key.shape[1]`, or use `parts.split_heads`.",
        ],
        also=[KeysAsLongAsQueriesOfAnyWidth],
    ),
    Mistake(
        HeadsMeetHeads,
        "The heads were never brought in front of the positions, so within each position heads are compared with "
        "heads, and no position looks at any other. Look at the shape of the scores.",
        [
            "The scores should have the shape (batch, n_heads, n_query, n_key). Which have they?",
            "A product works on the last two axes. Which two are these?",
            "Swap axes 1 and 2 after the cut, and back before the merging.",
        ],
        also=[HeadsMeetHeadsAndAreTurned],
    ),
    Mistake(
        OneBigHead,
        "This is one head as wide as the model. MultiHead(…) is not one attention of the projections: each head "
        "has weights of its own. Look at where `n_heads` is used.",
        [
            "How many tables of weights should there be for each sentence?",
            "Between the projections and the attention a step is missing.",
            "Split q, k and v into heads, and merge the heads afterwards.",
        ],
    ),
    Mistake(
        HeadsAddedUp,
        "The heads are made into one by adding or averaging, and the result is too narrow for `w_o`. They should "
        "be put side by side.",
        [
            "How wide are h heads of width d_model / h side by side?",
            "Concat, not sum.",
            "`parts.merge_heads`.",
        ],
        also=[HeadsAveraged],
    ),
    Mistake(
        LayersOfOneHead,
        "The layers have other sizes than those that were given: these make the features of a single head. All the "
        "heads come out of one layer of d_model to d_model, and are cut afterwards. Look at `__init__`.",
        [
            "How many columns do h heads of width d_model / h need together?",
            "`__init__` was right as it was given.",
            "`nn.Linear(d_model, d_model)`, four times.",
        ],
        also=[LayersFromAllToOneHead],
    ),
]
