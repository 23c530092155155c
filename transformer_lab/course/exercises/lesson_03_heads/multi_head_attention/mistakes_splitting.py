"""Mistakes in making heads: splitting and merging."""

import torch

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_03_heads.multi_head_attention.mistake_template import InPieces


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


class OneBigHeadWithMasksAsTheyCome(InPieces):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.project(query, key, value)
        return self.w_o(self.weights(self.scores(q, k), mask) @ v)


class OneBigHeadWithoutMasks(InPieces):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.project(query, key, value)
        return self.w_o(torch.softmax(self.scores(q, k), dim=-1) @ v)


class HeadsAddedUp(InPieces):
    def merge(self, x):
        return x.sum(dim=1)


class HeadsAveraged(InPieces):
    def merge(self, x):
        return x.mean(dim=1)


class ProjectedAfterTheSplit(InPieces):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.project(self.split(query), self.split(key), self.split(value))
        return self.w_o(self.merge(self.weights(self.scores(q, k), mask) @ v))


class MixedBeforeTheMerging(InPieces):
    def forward(self, query, key, value, mask=None):
        q, k, v = (self.split(x) for x in self.project(query, key, value))
        return self.merge(self.w_o(self.weights(self.scores(q, k), mask) @ v))


class NotMerged(InPieces):
    def merge(self, x):
        return x


class NotMergedButTurned(InPieces):
    def merge(self, x):
        return x.transpose(1, 2)


MISTAKES = [
    Mistake(
        "split_by_view",
        [SplitByView],
        says=(
            "The heads got positions instead of features, as if the projections had been reshaped without a "
            "transposition. Look at how they are split."
        ),
        hints=[
            "`parts.split_heads` does it right. What does it do that is missing here?",
            "`view` never changes the order of the numbers, and in x they lie position by position.",
            "Cut to (batch, n, n_heads, d_k) first, then swap axes 1 and 2.",
        ],
    ),
    Mistake(
        "merged_by_view",
        [MergedByView],
        says=(
            "The heads are put together without a transposition, so that positions get mixed up with one another. Look "
            "at how they are merged."
        ),
        hints=[
            "`parts.merge_heads` does it right. What does it do that is missing here?",
            "After the attention the axes are (batch, n_heads, n_query, d_k). Which two should be neighbours before "
            "they are merged?",
            "Swap axes 1 and 2 first.",
        ],
    ),
    Mistake(
        "transposed_then_viewed",
        [TransposedThenViewed],
        says=(
            "The merging is right, but `view` refuses: after a transposition the numbers no longer lie in memory in "
            "the order in which `view` would read them."
        ),
        hints=[
            "What does the error message advise?",
            "`parts.merge_heads` gets along with it.",
            "`.contiguous()` before the `.view`, or `.reshape` instead of it.",
        ],
    ),
    Mistake(
        "heads_interleaved",
        [HeadsInterleaved],
        says=(
            "A fair way to cut, but not the one asked for: the features are dealt out to the heads in turn. Head i "
            "should own neighbours. A model that was trained with one layout cannot be used with the other."
        ),
        hints=[
            "With 4 features and 2 heads, which features does head 0 own? They should be 0 and 1.",
            "Cutting d_model into (a, b) makes a pieces of b neighbours each.",
            "`parts.split_heads`, or cut into (n_heads, d_k), in this order.",
        ],
    ),
    Mistake(
        "keys_as_long_as_queries",
        [KeysAsLongAsQueries, KeysAsLongAsQueriesOfAnyWidth],
        says=(
            "The keys are reshaped as if there were as many of them as queries. In self-attention that is so; in "
            "cross-attention it crashes. Look at where the lengths come from."
        ),
        hints=[
            "With 3 queries and 5 keys, which of the three reshapings fails?",
            "Each of the three has a length of its own. Which one is used?",
            "Take the length of the keys from `key.shape[1]`, or use `parts.split_heads`.",
        ],
    ),
    Mistake(
        "heads_meet_heads",
        [HeadsMeetHeads, HeadsMeetHeadsAndAreTurned],
        says=(
            "The heads were never brought in front of the positions, so within each position heads are compared with "
            "heads, and no position looks at any other. Look at the shape of the scores."
        ),
        hints=[
            "The scores should have the shape (batch, n_heads, n_query, n_key). Which have they?",
            "A product works on the last two axes. Which two are these?",
            "Swap axes 1 and 2 after the cut, and back before the merging.",
        ],
    ),
    Mistake(
        "one_big_head",
        [OneBigHead],
        says=(
            "This is one head as wide as the model. MultiHead(…) is not one attention of the projections: each head "
            "has weights of its own. Look at where `n_heads` is used."
        ),
        hints=[
            "How many tables of weights should there be for each sentence?",
            "Between the projections and the attention a step is missing.",
            "Split q, k and v into heads, and merge the heads afterwards.",
        ],
    ),
    Mistake(
        "one_big_head_with_masks_as_they_come",
        [OneBigHeadWithMasksAsTheyCome, OneBigHeadWithoutMasks],
        says=(
            "The projections are never split: this is one head as wide as the model, and a mask with an axis for the "
            "heads does not fit, or is not used. Look at where `n_heads` comes in."
        ),
        hints=[
            "How many tables of weights should there be for each sentence?",
            "Between the projections and the attention a step is missing.",
            "Split q, k and v into heads, and merge the heads afterwards.",
        ],
    ),
    Mistake(
        "heads_added_up",
        [HeadsAddedUp, HeadsAveraged],
        says=(
            "The heads are made into one by adding or averaging, and the result is too narrow for `w_o`. They should "
            "be put side by side."
        ),
        hints=[
            "How wide are h heads of width d_model / h side by side?",
            "Concat, not sum.",
            "`parts.merge_heads`.",
        ],
    ),
    Mistake(
        "projected_after_the_split",
        [ProjectedAfterTheSplit, MixedBeforeTheMerging],
        says=(
            "A layer that takes all d_model features is given those of a single head: it crashes as soon as there are "
            "two heads. Look at what comes first, the layers or the split, and the merging or `w_o`."
        ),
        hints=[
            "What shape has the input of the layer that crashes, and how many features does it take?",
            "Each head sees all features of the inputs, and owns a share of what comes *out* of the first three "
            "layers. `w_o` mixes what all the heads found.",
            "`parts.split_heads(self.w_q(query), self.n_heads)` at the beginning, `self.w_o(parts.merge_heads(...))` "
            "at the end.",
        ],
    ),
    Mistake(
        "not_merged",
        [NotMerged, NotMergedButTurned],
        says=(
            "The heads reach `w_o` one by one: they have not been put side by side. With two heads or more, they are "
            "too narrow for the layer. Look at what happens between the mixing and `w_o`."
        ),
        hints=[
            "What shape has the input of `w_o`, and how many features does the layer take?",
            "MultiHead = Concat(head_1 … head_h) W_O: which comes first?",
            "`self.w_o(parts.merge_heads(...))`.",
        ],
    ),
]
