"""Small exercises of every kind the course will have: modules, functions that take a model, and samplers.

Their signatures are the contract's; their lessons come later.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_lab.course.call import Case
from transformer_lab.course.exercise import Exercise, Mistake
from transformer_lab.course.exercises.drawing import generator, normal
from transformer_lab.course.stand_ins import describe

LADDER = ["Look at the shapes.", "Look at the order of the steps.", "Compare it with the formula."]


def mistake(attempt, says, also=()):
    return Mistake(attempt, says, LADDER, also)


# A module.


class FeedForward(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w_1 = nn.Linear(d_model, d_ff)
        self.w_2 = nn.Linear(d_ff, d_model)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        return self.w_2(torch.relu(self.w_1(x)))


def feed_forward_cases(seed):
    rng = generator(seed)

    def case(d_model, d_ff, leading, shows):
        parameters = {
            "w_1.weight": normal(rng, d_ff, d_model),
            "w_1.bias": normal(rng, d_ff),
            "w_2.weight": normal(rng, d_model, d_ff),
            "w_2.bias": normal(rng, d_model),
        }
        inputs = {"x": normal(rng, *leading, d_model)}
        sizes = {"d_model": d_model, "d_ff": d_ff}
        return Case(inputs, shows, how="module", arguments=sizes, parameters=parameters, gradients=True)

    return [
        case(2, 3, (1,), "one position"),
        case(3, 5, (2,), "2 positions"),
        case(5, 11, (7, 3), "a batch of 7"),
    ]


class WithoutRelu(FeedForward):
    def forward(self, x):
        return self.w_2(self.w_1(x))


class ReluAtTheEnd(FeedForward):
    def forward(self, x):
        return torch.relu(self.w_2(self.w_1(x)))


class GeluInstead(FeedForward):
    def forward(self, x):
        return self.w_2(F.gelu(self.w_1(x)))


class SecondBiasForgotten(FeedForward):
    def forward(self, x):
        return F.linear(torch.relu(self.w_1(x)), self.w_2.weight)


class AddsTheInput(FeedForward):
    def forward(self, x):
        return x + self.w_2(torch.relu(self.w_1(x)))


class DropoutInEval(FeedForward):
    def forward(self, x):
        return self.w_2(F.dropout(torch.relu(self.w_1(x)), 0.5))


class DropoutInTraining(FeedForward):
    def forward(self, x):
        return self.w_2(F.dropout(torch.relu(self.w_1(x)), 0.5, self.training))


class CutsTheGradient(FeedForward):
    def forward(self, x):
        return self.w_2(torch.relu(self.w_1(x)).detach())


class LayersWithoutBias(FeedForward):
    def __init__(self, d_model, d_ff):
        super().__init__(d_model, d_ff)
        self.w_1 = nn.Linear(d_model, d_ff, bias=False)
        self.w_2 = nn.Linear(d_ff, d_model, bias=False)


class UnusedLayer(FeedForward):
    def __init__(self, d_model, d_ff):
        super().__init__(d_model, d_ff)
        self.w_3 = nn.Linear(d_model, d_model)


class OtherNames(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.linear2(torch.relu(self.linear1(x)))


class SizesSwapped(FeedForward):
    def __init__(self, d_model, d_ff):
        super().__init__(d_ff, d_model)


FEED_FORWARD = Exercise(
    reference=FeedForward,
    cases=feed_forward_cases,
    points=2,
    verified="Two layers with a ReLU between them.",
    hints=LADDER,
    mistakes=[
        mistake(WithoutRelu, "Nothing stands between the two layers, so together they are one linear layer."),
        mistake(ReluAtTheEnd, "The ReLU comes too late: no output can be negative."),
        mistake(GeluInstead, "This is a GELU; the paper of 2017 has a ReLU."),
        mistake(SecondBiasForgotten, "The bias of the second layer is not used."),
        mistake(AddsTheInput, "The residual connection belongs to the layer around it."),
        mistake(DropoutInEval, "Something is dropped at random even in eval mode."),
        mistake(DropoutInTraining, "Something is dropped at random in train mode; there is no dropout here."),
        mistake(CutsTheGradient, "No gradient reaches the first layer: something cuts it off."),
        mistake(LayersWithoutBias, "The layers have no biases."),
        mistake(UnusedLayer, "There is a layer that takes no part."),
        mistake(OtherNames, "The layers have other names than those asked for."),
        mistake(SizesSwapped, "The two sizes have changed places."),
    ],
)


# A module that takes a mask by name.


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


# A function that takes a model.


def leaks_future(model, tokens: Int[Tensor, "batch n"]) -> bool:
    n = tokens.shape[1]
    before = model(tokens)
    for position in range(1, n):
        changed = tokens.clone()
        changed[:, position] = (changed[:, position] + 1) % 7
        if not torch.allclose(model(changed)[:, :position], before[:, :position]):
            return True
    return False


def leaks_future_cases(seed):
    rng = generator(seed)

    def case(n, offdiagonal, shows):
        mixing = normal(rng, n, n).tril()
        for row, column in offdiagonal:
            mixing[row, column] = 1.0
        model = describe("token_mixer", embedding=normal(rng, 7, 3), mixing=mixing)
        return Case({"model": model, "tokens": torch.randint(7, (2, n), generator=rng)}, shows)

    return [
        case(2, [], "a causal model, 2 tokens"),
        case(2, [(0, 1)], "a model that sees the next token"),
        case(5, [(0, 4)], "a model whose first position sees the last"),
        case(5, [(2, 3)], "a model that leaks in the middle only"),
        case(11, [], "a causal model, 11 tokens"),
    ]


def says_no(model, tokens):
    return False


def says_yes(model, tokens):
    return True


def wrong_way_round(model, tokens):
    return not leaks_future(model, tokens)


def _last_token_moves(model, tokens, upto):
    changed = tokens.clone()
    changed[:, -1] = (changed[:, -1] + 1) % 7
    return not torch.allclose(model(changed)[:, :upto], model(tokens)[:, :upto])


def last_token_only(model, tokens):
    return _last_token_moves(model, tokens, tokens.shape[1] - 1)


def compares_the_changed_position_too(model, tokens):
    return _last_token_moves(model, tokens, tokens.shape[1])


LEAKS_FUTURE = Exercise(
    reference=leaks_future,
    cases=leaks_future_cases,
    points=2,
    verified="Every position is perturbed, and nothing before it may move.",
    hints=LADDER,
    mistakes=[
        mistake(says_no, "It never finds a leak."),
        mistake(wrong_way_round, "It says the opposite of what it should."),
        mistake(last_token_only, "Only the last token is changed, so a leak in the middle goes unseen."),
        mistake(
            compares_the_changed_position_too,
            "The position that was changed may well move: even causal models are accused.",
            also=[says_yes],
        ),
    ],
)


# A function that takes a model and decodes, with outputs of several right forms.


def greedy_decode(
    model, source: Int[Tensor, "batch n"], bos_id: int, eos_id: int, max_length: int
) -> Int[Tensor, "batch n_decoded"]:
    target = torch.full((len(source), 1), bos_id)
    ended = torch.zeros(len(source), dtype=torch.bool)
    for _ in range(max_length):
        best = model(source, target)[:, -1].argmax(dim=-1).masked_fill(ended, eos_id)
        target = torch.cat([target, best[:, None]], dim=1)
        ended |= best == eos_id
        if ended.all():
            break
    return target[:, 1:]


def padded(output, case):
    missing = case.inputs["max_length"] - output.shape[1] if output.dim() == 2 else 0
    return F.pad(output, (0, missing), value=case.inputs["eos_id"]) if missing > 0 else output


def greedy_decode_cases(seed):
    rng = generator(seed)

    def case(ends, max_length, shows):
        """Walk from token to token; a sentence whose source says so ends where the walk is weak, at its third token.

        What would follow the end is a token that is never seen.
        """
        vocab_size = 13
        bos, eos, *walk = torch.randperm(vocab_size, generator=rng).tolist()
        transition = normal(rng, vocab_size, vocab_size)
        for step, (here, there) in enumerate(zip([bos, *walk], walk, strict=False)):
            transition[here, there] += 10 if step == 2 else 30
        transition[eos, walk[0]] += 60
        reading = torch.zeros(vocab_size, vocab_size)
        reading[walk[0], eos] = 10.0  # a source has 2 tokens, so twice as much
        model = describe("table_translator", transition=transition, reading=reading)
        source = torch.tensor([[walk[0] if end else walk[1]] * 2 for end in ends])
        return Case({"model": model, "source": source, "bos_id": bos, "eos_id": eos, "max_length": max_length}, shows)

    return [
        case([False], 1, "one token"),
        case([False], 4, "4 tokens without an end"),
        case([True], 5, "a sentence that ends early"),
        case([True, False, True], 7, "3 sentences, two of which end early"),
    ]


def keeps_the_bos(model, source, bos_id, eos_id, max_length):
    rest = greedy_decode(model, source, bos_id, eos_id, max_length)
    return torch.cat([torch.full((len(source), 1), bos_id), rest], dim=1)


def goes_on_after_the_end(model, source, bos_id, eos_id, max_length):
    return greedy_decode(model, source, bos_id, -1, max_length)


def waits_for_nobody(model, source, bos_id, eos_id, max_length):
    target = torch.full((len(source), 1), bos_id)
    for _ in range(max_length):
        best = model(source, target)[:, -1].argmax(dim=-1)
        target = torch.cat([target, best[:, None]], dim=1)
        if (best == eos_id).any():
            break
    return target[:, 1:]


def one_step_short(model, source, bos_id, eos_id, max_length):
    return greedy_decode(model, source, bos_id, eos_id, max_length - 1)


def least_likely(model, source, bos_id, eos_id, max_length):
    return greedy_decode(lambda *inputs: -model(*inputs), source, bos_id, eos_id, max_length)


GREEDY_DECODE = Exercise(
    reference=greedy_decode,
    cases=greedy_decode_cases,
    points=3,
    verified="Each sentence ends by itself.",
    hints=LADDER,
    normalise=padded,
    mistakes=[
        mistake(keeps_the_bos, "The token that starts every sentence is no part of the output."),
        mistake(goes_on_after_the_end, "A sentence goes on after its end."),
        mistake(waits_for_nobody, "All sentences stop when the first one ends."),
        mistake(one_step_short, "It stops one token too early."),
        mistake(least_likely, "It takes the least likely token."),
    ],
)


# A sampler.


def sample_next(
    logits: Float[Tensor, "batch vocab_size"], temperature=1.0, top_k=None, top_p=None, generator=None
) -> Int[Tensor, " batch"]:
    logits = logits / temperature
    if top_k is not None:
        logits = logits.masked_fill(logits < logits.topk(top_k).values[:, -1:], -torch.inf)
    if top_p is not None:
        largest, order = logits.softmax(dim=-1).sort(dim=-1, descending=True)
        superfluous = largest.cumsum(dim=-1) - largest >= top_p  # the mass before it reaches p already
        logits = logits.masked_fill(torch.zeros_like(logits).scatter(-1, order, superfluous.float()).bool(), -torch.inf)
    return torch.multinomial(logits.softmax(dim=-1), 1, generator=generator)[:, 0]


def sample_next_cases(seed):
    rng = generator(seed)

    def case(shows, **keywords):
        """Shuffle probabilities that are far from 0, and whose sums are far from p."""
        rows = [[0.4, 0.3, 0.2, 0.1, 0.0], [0.1, 0.25, 0.05, 0.45, 0.15]]
        order = torch.randperm(5, generator=rng)
        logits = torch.tensor(rows)[:, order].log().clamp(min=-1e4)
        return Case({"logits": logits}, shows, how="sampler", keywords=keywords, draws=4000)

    return [
        case("two rows of 5 logits"),
        case("temperature 3", temperature=3.0),
        case("the best 2 only", top_k=2),
        case("the smallest set with 65 % of the mass", top_p=0.65),
        case("temperature 2, then the best 3", temperature=2.0, top_k=3),
    ]


def takes_the_best(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    return logits.argmax(dim=-1)


def ignores_the_temperature(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    return sample_next(logits, 1.0, top_k, top_p, generator)


def multiplies_by_the_temperature(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    return sample_next(logits, 1 / temperature, top_k, top_p, generator)


def ignores_top_k(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    return sample_next(logits, temperature, None, top_p, generator)


def top_p_stops_short(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if top_p is not None:
        largest, order = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True)
        superfluous = largest.cumsum(dim=-1) > top_p
        logits = logits.masked_fill(torch.zeros_like(logits).scatter(-1, order, superfluous.float()).bool(), -torch.inf)
    return sample_next(logits, temperature, top_k, None, generator)


def ignores_the_generator(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    return sample_next(logits, temperature, top_k, top_p)


SAMPLE_NEXT = Exercise(
    reference=sample_next,
    cases=sample_next_cases,
    points=3,
    verified="Every token comes as often as it should.",
    hints=LADDER,
    mistakes=[
        mistake(takes_the_best, "It takes the best token every time: nothing is drawn."),
        mistake(ignores_the_temperature, "The temperature is not used."),
        mistake(multiplies_by_the_temperature, "A high temperature should blur, and here it sharpens."),
        mistake(ignores_top_k, "Tokens beyond the best k are drawn."),
        mistake(top_p_stops_short, "The set stops short of the mass p."),
        mistake(ignores_the_generator, "It draws from the random numbers of torch, not from those it is given."),
    ],
)

SAMPLES = {
    sample.name: sample for sample in (FEED_FORWARD, MULTI_HEAD_ATTENTION, LEAKS_FUTURE, GREEDY_DECODE, SAMPLE_NEXT)
}
