"""Correct but unusual answers to the exercises of lesson 09."""

import math
from fractions import Fraction

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from transformer_course.exercises import every_exercise

GPT = every_exercise()["GPT"].reference


class ByOneHotVectors(GPT):
    def forward(self, tokens):
        one_hot, places = F.one_hot(tokens, self.embedding.num_embeddings).float(), torch.arange(tokens.size(1))
        x = one_hot @ self.embedding.weight
        x += self.positions[places]
        for i in range(len(self.blocks)):
            x = self.blocks[i](mask=places <= places[:, None], x=x)
        return torch.einsum("bnd,vd->bnv", F.layer_norm(x, x.shape[2:], *self.norm.parameters()), self.embedding.weight)


class TextByText(GPT):
    def forward(self, tokens):
        n = tokens.shape[-1]
        table = torch.full((len(self.positions),) * 2, True).tril()[None, None, :n, :n]
        streams = [self.embedding(text)[None] + self.positions.narrow(0, 0, n) for text in tokens]
        for block in self.blocks.children():
            streams = [block(stream, table) for stream in streams]
        return F.linear(self.norm(torch.cat(streams)), self.embedding.weight)


def loss_text_by_text(logits, tokens, pad_id):
    """Divide the log-probability of all texts together by the number of their real tokens."""
    total, n = 0.0, 0
    for rows, text in zip(logits, tokens, strict=True):
        real = text[1:][text[1:] != pad_id]
        total = total + torch.distributions.Categorical(logits=rows[: len(real)]).log_prob(real).sum()
        n += len(real)
    return -total / n


def loss_with_moved_targets(logits, tokens, pad_id):
    """Shift the tokens to the left and pad the last position."""
    targets = tokens.roll(-1, dims=1)
    targets[:, -1] = pad_id
    return F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=pad_id)


def loss_with_one_hot_targets(logits, tokens, pad_id):
    wanted = F.one_hot(tokens[:, 1:], logits.shape[-1]) * tokens[:, 1:, None].ne(pad_id)
    log_p = logits - logits.logsumexp(-1, keepdim=True)
    return -torch.einsum("bnv,bnv->", log_p[:, :-1], wanted.float()) / wanted.sum()


def samples_by_noise(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    """Sample with the Gumbel-max trick."""
    best, order = (logits / temperature).sort(dim=-1, descending=True)
    if top_k is not None:
        best, order = best[:, :top_k], order[:, :top_k]
    if top_p is not None:
        before = F.pad(best.softmax(-1).cumsum(-1), (1, 0))[:, :-1]
        best = torch.where(before < top_p, best, -torch.inf)
    noise = -torch.log(-torch.log(torch.rand(best.shape, generator=generator)))
    return order.gather(-1, (best + noise).argmax(-1, keepdim=True))[:, 0]


def samples_by_the_inverse_cdf(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    """Draw one uniform number per row and count the cumulative probabilities below it."""
    probabilities = (logits.double() / temperature).softmax(-1)
    if top_k is not None and top_k < logits.shape[1]:
        kth = probabilities.kthvalue(logits.shape[1] - top_k + 1, dim=-1, keepdim=True).values
        probabilities = probabilities * (probabilities >= kth)
    if top_p is not None:
        ranked, order = (probabilities / probabilities.sum(-1, keepdim=True)).sort(descending=True)
        ranked[:, 1:] *= ranked.cumsum(-1)[:, :-1] < top_p
        probabilities = torch.zeros_like(ranked).scatter(1, order, ranked)
    edges = probabilities.cumsum(-1)
    uniform = torch.rand(len(logits), 1, generator=generator, dtype=torch.float64) * edges[:, -1:]
    return (edges <= uniform).sum(-1)


def samples_as_hugging_face(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    """Drop tokens from the least likely on, as Hugging Face does."""
    logits = logits / temperature
    if top_k:
        logits = logits.masked_fill(logits < torch.topk(logits, min(top_k, logits.size(-1)))[0][..., -1, None], -1e9)
    if top_p is not None and top_p < 1.0:
        ascending, indices = torch.sort(logits, descending=False)
        remove = ascending.softmax(dim=-1).cumsum(dim=-1) <= (1 - top_p)
        remove[..., -1:] = 0
        logits = logits.masked_fill(remove.scatter(1, indices, remove), -1e9)
    return torch.multinomial(F.softmax(logits, dim=-1), num_samples=1, generator=generator).flatten()


def samples_row_by_row(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    """Keep lists of ids and draw from them with an exponential race."""
    drawn, kept_of = [], {}
    for row in logits:
        key = tuple(row.tolist())
        if key not in kept_of:
            best = sorted(range(len(row)), key=lambda i: key[i], reverse=True)[:top_k]
            p = (row[best] / temperature).softmax(0)
            mass, n = 0.0, 0
            while n < len(best) and (top_p is None or mass < top_p):
                mass, n = mass + p[n].item(), n + 1
            kept_of[key] = best[:n], p[:n].double()
        best, p = kept_of[key]
        times = torch.empty(len(best), dtype=torch.float64).exponential_(generator=generator)
        drawn.append(best[int((times / p).argmin())])
    return torch.tensor(drawn)


def generates_into_a_full_table(model, tokens, max_new_tokens, context_length, sample):
    n = tokens.shape[1]
    table = tokens.new_zeros(len(tokens), n + max_new_tokens)
    table[:, :n] = tokens
    for end in range(n, n + max_new_tokens):
        table[:, end] = sample(model(table[:, max(0, end - context_length) : end])[:, -1, :])
    return table


@torch.inference_mode()
def generates_from_a_window(model, tokens, max_new_tokens, context_length, sample):
    """Keep the window and the new columns in separate tensors."""
    window, columns = tokens[:, -context_length:], []
    while len(columns) < max_new_tokens:
        columns.append(sample(model(window).select(1, -1)).unsqueeze(1))
        window = torch.hstack([window, columns[-1]])[:, -context_length:]
    return torch.hstack([tokens, *columns])


def generates_text_by_text(model, tokens, max_new_tokens, context_length, sample):
    texts = []
    for text in tokens.tolist():
        for _ in range(max_new_tokens):
            text = [*text, int(sample(model(torch.tensor([text[-context_length:]]))[0, -1:]))]
        texts.append(text)
    return torch.tensor(texts)


def generates_recursively(model, tokens, max_new_tokens, context_length, sample):
    if not max_new_tokens:
        return tokens.clone()
    displayed = tokens if tokens.shape[1] <= context_length else tokens[:, tokens.shape[1] - context_length :]
    longer = torch.cat((tokens, sample(model(displayed)[:, -1])[:, None]), 1)
    return generates_recursively(model, longer, max_new_tokens - 1, context_length, sample)


UNUSUAL = {
    "GPT": {"one-hot vectors": ByOneHotVectors, "text by text": TextByText},
    "next_token_loss": {
        "torch's": lambda logits, tokens, pad_id: F.cross_entropy(
            logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=pad_id
        ),
        "text by text": loss_text_by_text,
        "moved targets": loss_with_moved_targets,
        "one-hot targets": loss_with_one_hot_targets,
        "torch's nll": lambda logits, tokens, pad_id: nn.NLLLoss(ignore_index=pad_id)(
            logits.log_softmax(2).mT[..., :-1], tokens[:, 1:]
        ),
    },
    "bits_per_byte": {
        "log2 of e": lambda loss, n_tokens, n_bytes: math.log2(math.e) * loss * n_tokens / n_bytes,
        "log2 of the perplexity": lambda loss, n_tokens, n_bytes: math.log2(math.exp(loss)) * (n_tokens / n_bytes),
        "numpy": lambda loss, n_tokens, n_bytes: np.float64(loss) / np.log(2.0) / (n_bytes / n_tokens),
        "a tensor": lambda loss, n_tokens, n_bytes: (
            torch.tensor(loss).double() / (n_bytes / n_tokens) / 2.0**0 / math.log(2)
        ),
        "fractions": lambda loss, n_tokens, n_bytes: float(Fraction(loss) * Fraction(n_tokens, n_bytes)) / math.log(2),
    },
    "sample_next": {
        "Gumbel noise": samples_by_noise,
        "the inverse CDF": samples_by_the_inverse_cdf,
        "as Hugging Face": samples_as_hugging_face,
        "row by row": samples_row_by_row,
    },
    "generate": {
        "a full table": generates_into_a_full_table,
        "a window": generates_from_a_window,
        "text by text": generates_text_by_text,
        "recursively": generates_recursively,
    },
    "induction_score": {
        "gathered keys": lambda weights, period: (
            weights[:, :, period:]
            .gather(-1, torch.arange(1, weights.shape[-1] - period + 1).expand(*weights.shape[:2], -1)[..., None])
            .squeeze(-1)
            .mean((0, 2))
        ),
        "two index tensors": lambda weights, period: (
            weights[..., torch.arange(period, weights.shape[-1]), torch.arange(1, weights.shape[-1] - period + 1)]
            .flatten(2)
            .transpose(0, 1)
            .flatten(1)
            .mean(1)
        ),
        "a mask": lambda weights, period: (
            weights.masked_fill(torch.ones(weights.shape[2:]).tril(1 - period).triu(1 - period) == 0, 0.0)[
                :, :, period:
            ]
            .sum((0, 2, 3))
            .div(len(weights) * (weights.shape[-1] - period))
        ),
        "a loop over the queries": lambda weights, period: (
            sum(weights[:, :, i, i + 1 - period] for i in range(period, weights.shape[-1])).mean(0)
            / (weights.shape[-1] - period)
        ),
    },
}
