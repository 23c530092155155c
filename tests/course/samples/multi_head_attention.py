"""A module that takes a mask by name."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from tests.course.samples.said import LADDER, mistake
from transformer_lab.course.call import Case
from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises.drawing import generator, normal


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(
        self,
        query: Float[Tensor, "batch n_query d_model"],
        key: Float[Tensor, "batch n_key d_model"],
        value: Float[Tensor, "batch n_key d_model"],
        mask: Bool[Tensor, "*#batch_heads #n_query #n_key"] | None = None,
    ) -> Float[Tensor, "batch n_query d_model"]:
        q, k, v = (
            self.split(projection(x)) for projection, x in [(self.w_q, query), (self.w_k, key), (self.w_v, value)]
        )
        return self.w_o(self.merge(self.weights(q, k, mask) @ v))

    def split(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def merge(self, x):
        return x.transpose(1, 2).flatten(2)

    def weights(self, q, k, mask):
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        return torch.softmax(scores, dim=-1)


def multi_head_cases(seed):
    rng = generator(seed)

    def case(batch, n_query, n_key, d_model, n_heads, shows, masked=False):
        parameters = {}
        for name in ("w_q", "w_k", "w_v", "w_o"):
            parameters[f"{name}.weight"] = normal(rng, d_model, d_model)
            parameters[f"{name}.bias"] = normal(rng, d_model)
        lengths = {"query": n_query, "key": n_key, "value": n_key}
        inputs = {name: normal(rng, batch, n, d_model) for name, n in lengths.items()}
        mask = torch.rand(batch, 1, n_query, n_key, generator=rng) < 0.6
        mask[..., 0] = True  # no row is left without a key
        mask[..., -1] = False  # and every row misses one
        return Case(
            inputs,
            shows,
            how="module",
            arguments={"d_model": d_model, "n_heads": n_heads},
            parameters=parameters,
            keywords={"mask": mask} if masked else {},
        )

    return [
        case(1, 2, 3, 2, 1, "one head"),
        case(2, 4, 4, 6, 2, "2 heads, as many keys as queries"),
        case(2, 3, 5, 12, 3, "3 heads, 5 keys for 3 queries"),
        case(3, 5, 7, 12, 4, "with a mask", masked=True),
    ]


class KeysProjectedAsQueries(MultiHeadAttention):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.split(self.w_q(query)), self.split(self.w_q(key)), self.split(self.w_v(value))
        return self.w_o(self.merge(self.weights(q, k, mask) @ v))


class WithoutOutputProjection(MultiHeadAttention):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.split(self.w_q(query)), self.split(self.w_k(key)), self.split(self.w_v(value))
        return self.merge(self.weights(q, k, mask) @ v)


class SplitsByView(MultiHeadAttention):
    def split(self, x):
        return x.reshape(len(x), self.n_heads, x.shape[1], -1)


class MergesByView(MultiHeadAttention):
    def merge(self, x):
        return x.reshape(len(x), x.shape[2], -1)


class HeadsInterleaved(MultiHeadAttention):
    def split(self, x):
        return x.unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2)


class LengthOfTheQueries(MultiHeadAttention):
    def forward(self, query, key, value, mask=None):
        batch, n_query, d_model = query.shape
        q, k, v = (
            projection(x).view(batch, n_query, self.n_heads, d_model // self.n_heads).transpose(1, 2)
            for projection, x in [(self.w_q, query), (self.w_k, key), (self.w_v, value)]
        )
        return self.w_o(self.merge(self.weights(q, k, mask) @ v))


class ScaledByModelWidth(MultiHeadAttention):
    def weights(self, q, k, mask):
        return super().weights(q / self.n_heads**0.5, k, mask)


class MaskInverted(MultiHeadAttention):
    def weights(self, q, k, mask):
        return super().weights(q, k, None if mask is None else ~mask)


class MaskIgnored(MultiHeadAttention):
    def weights(self, q, k, mask):
        return super().weights(q, k, None)


class MaskAfterTheSoftmax(MultiHeadAttention):
    def weights(self, q, k, mask):
        weights = super().weights(q, k, None)
        return weights if mask is None else weights * mask


MULTI_HEAD_ATTENTION = Exercise(
    reference=MultiHeadAttention,
    cases=multi_head_cases,
    points=4,
    verified="Every head sees its own slice of the projections.",
    hints=LADDER,
    mistakes=[
        mistake(KeysProjectedAsQueries, "The keys go through the projection of the queries."),
        mistake(WithoutOutputProjection, "The heads are put side by side, but nothing mixes them: a layer is unused."),
        mistake(SplitsByView, "The heads are cut from the positions, not from the features."),
        mistake(MergesByView, "The heads are put together in the wrong order."),
        mistake(HeadsInterleaved, "A fair layout, but not the one asked for: neighbouring features go to other heads."),
        mistake(LengthOfTheQueries, "The keys are cut as if there were as many of them as of the queries."),
        mistake(ScaledByModelWidth, "The scores are divided by the root of the width of the model."),
        mistake(MaskInverted, "The mask is read the wrong way round."),
        mistake(MaskIgnored, "The mask is not used."),
        mistake(MaskAfterTheSoftmax, "The mask comes after the softmax, so rows no longer add up to 1."),
    ],
)
