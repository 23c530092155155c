"""Correct but unusual answers to the exercises of lesson 00."""

import torch
from torch import nn
from torch.nn import functional as F

from transformer_course.lesson import notebook


def context_by_adding_up(weights, states):
    context = torch.zeros(states.shape[0], states.shape[2])
    for i in range(states.shape[1]):
        context += weights[:, i].unsqueeze(1) * states[:, i]
    return context


def context_by_numbers(weights, states):
    batch, n, d = states.shape
    w, h = weights.tolist(), states.tolist()
    return torch.tensor([[sum(w[b][i] * h[b][i][j] for i in range(n)) for j in range(d)] for b in range(batch)])


def luong_text_by_text(state, states, w_c):
    outputs = []
    for s, h in zip(state, states, strict=True):
        c = torch.softmax(h @ s, dim=0) @ h
        outputs.append(torch.tanh(w_c @ torch.cat([c, s])))
    return torch.stack(outputs)


def luong_by_products(state, states, w_c):
    weights = (states @ state.unsqueeze(-1)).squeeze(-1).softmax(-1)
    both = torch.hstack((notebook.parts.context_vector(weights, states), state))
    return F.linear(both, w_c).tanh()


def luong_in_halves(state, states, w_c):
    weights = torch.einsum("bd,bnd->bn", state, states).softmax(1)
    of_context, of_state = w_c.chunk(2, dim=1)
    return torch.tanh(torch.einsum("bn,bnd,od->bo", weights, states, of_context) + state @ of_state.T)


def rnn_number_by_number(state, token, w, u):
    def entry(h, x, i):
        return sum(a * b for a, b in zip(w[i], h, strict=True)) + sum(a * b for a, b in zip(u[i], x, strict=True))

    return torch.stack(
        [torch.stack([entry(h, x, i).tanh() for i in range(len(w))]) for h, x in zip(state, token, strict=True)]
    )


UNUSUAL = {
    "rnn_step": {
        "number by number": rnn_number_by_number,
        "linear": lambda state, token, w, u: F.linear(state, w).add(F.linear(token, u)).tanh(),
        "side by side": lambda state, token, w, u: (torch.cat([state, token], 1) @ torch.cat([w, u], 1).T).tanh(),
        "columns": lambda state, token, w, u: torch.tanh(w @ state.T + u @ token.T).T,
        "text by text": lambda state, token, w, u: torch.stack(
            [torch.tanh(w @ h + u @ x) for h, x in zip(state, token, strict=True)]
        ),
    },
    "context_vector": {
        "adding up": context_by_adding_up,
        "number by number": context_by_numbers,
        "einsum": lambda weights, states: torch.einsum("bn,bnd->bd", weights, states),
        "a row times a table": lambda weights, states: (weights[:, None] @ states).squeeze(1),
        "a table times a column": lambda weights, states: (states.mT @ weights[:, :, None])[:, :, 0],
        "bmm": lambda weights, states: torch.bmm(weights.unsqueeze(1), states)[:, 0, :],
        "text by text": lambda weights, states: torch.stack([w @ h for w, h in zip(weights, states, strict=True)]),
        "the diagonal of all pairs": lambda weights, states: (weights @ states).diagonal().T,
        "divided by the sum once more": lambda weights, states: (
            (weights[..., None] * states).sum(-2) / weights.sum(-1, keepdim=True)
        ),
        "a bag": lambda weights, states: nn.functional.embedding_bag(
            torch.arange(states[..., 0].numel()).view(weights.shape),
            states.flatten(0, 1),
            per_sample_weights=weights,
            mode="sum",
        ),
    },
    "luong_step": {"text by text": luong_text_by_text, "products": luong_by_products, "halves": luong_in_halves},
}
