"""A simple reference language model. It processes one text without padding, one head and one query at a time."""

import math

import torch
from torch import Tensor

from transformer_lab.models.language_model_config import LanguageModelConfig

Parameters = dict[str, Tensor]


def logits_of(parameters: Parameters, config: LanguageModelConfig, text: Tensor) -> Tensor:
    """Return the logits after each token of a text, in the same dtype as the parameters."""
    table = parameters["embedding.weight"]
    x = table[text]
    if config.scaled_embeddings or config.positions == "sinusoidal":
        x = x * math.sqrt(config.d_model)
    if config.positions == "learned":
        x = x + parameters["positions"][: len(text)]
    if config.positions == "sinusoidal":
        d = config.d_model
        angles = [[t / 10000 ** (2 * i / d) for i in range(d // 2)] for t in range(len(text))]
        waves = [[wave(angle) for angle in row for wave in (math.sin, math.cos)] for row in angles]
        x = x + torch.tensor(waves).to(x)
    for layer in range(config.n_layers):
        block = part(parameters, f"blocks.{layer}")
        attended = attention(part(block, "self_attention"), config, layer, norm(part(block, "norm_1"), config, x))
        x = x + norm(part(block, "post_norm_1"), config, attended)
        networks = part(block, "feed_forward")
        computed = feed_forward(networks, config, norm(part(block, "norm_2"), config, x))
        x = x + norm(part(block, "post_norm_2"), config, computed)
    head = table if config.tie_embeddings else parameters["head.weight"]
    return norm(part(parameters, "norm"), config, x) @ head.mT


def part(parameters: Parameters, name: str) -> Parameters:
    return {key.removeprefix(f"{name}."): value for key, value in parameters.items() if key.startswith(f"{name}.")}


def linear(parameters: Parameters, name: str, x: Tensor) -> Tensor:
    return x @ parameters[f"{name}.weight"].mT + parameters.get(f"{name}.bias", 0.0)


def norm(parameters: Parameters, config: LanguageModelConfig, x: Tensor) -> Tensor:
    if not parameters:  # the model does not have this norm
        return x
    if config.norm == "layer":
        x = x - x.mean(dim=-1, keepdim=True)
    return root_mean_square_norm(parameters["weight"], config, x) + parameters.get("bias", 0.0)


def root_mean_square_norm(weight: Tensor, config: LanguageModelConfig, x: Tensor) -> Tensor:
    return x / ((x**2).mean(dim=-1, keepdim=True) + config.norm_eps) ** 0.5 * weight


def feed_forward(parameters: Parameters, config: LanguageModelConfig, x: Tensor) -> Tensor:
    if config.feed_forward == "geglu":
        gate = linear(parameters, "w_gate", x)
        gate = gate / 2 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (gate + 0.044715 * gate**3)))
        return linear(parameters, "w_down", gate * linear(parameters, "w_up", x))
    if config.feed_forward == "swiglu":
        gate = linear(parameters, "w_gate", x)
        return linear(parameters, "w_down", gate / (1 + torch.exp(-gate)) * linear(parameters, "w_up", x))
    middle = linear(parameters, "w_1", x)
    if config.feed_forward == "relu":
        return linear(parameters, "w_2", middle * (middle > 0))
    if config.feed_forward == "silu":
        return linear(parameters, "w_2", middle / (1 + torch.exp(-middle)))
    if config.feed_forward == "gelu":
        return linear(parameters, "w_2", middle / 2 * (1 + torch.erf(middle / math.sqrt(2))))
    cubic = math.sqrt(2 / math.pi) * (middle + 0.044715 * middle**3)
    return linear(parameters, "w_2", middle / 2 * (1 + torch.tanh(cubic)))


def attention(parameters: Parameters, config: LanguageModelConfig, layer: int, x: Tensor) -> Tensor:
    d_k = len(parameters["w_q.weight"]) // config.n_heads
    q, k, v = (linear(parameters, name, x).split(d_k, dim=-1) for name in ("w_q", "w_k", "w_v"))
    if config.qk_norm:
        q, k = ([root_mean_square_norm(parameters[f"norm_{x}.weight"], config, head) for head in heads]
                for x, heads in (("q", q), ("k", k)))  # fmt: skip
    heads = []
    for h in range(config.n_heads):
        served_by = h * len(k) // config.n_heads
        rows = []
        for i in range(len(x)):
            slope = 2 ** (-8 * (h + 1) / config.n_heads) if config.positions == "alibi" else 0.0
            first = max(0, i + 1 - config.window.size) if config.is_local(layer) else 0
            scores = [
                turned(q[h][i], i, config, layer) @ turned(k[served_by][j], j, config, layer) / math.sqrt(d_k)
                - slope * (i - j)
                for j in range(first, i + 1)
            ]
            weights = torch.stack(scores).exp()
            rows.append(weights / weights.sum() @ v[served_by][first : i + 1])
        heads.append(torch.stack(rows))
    return linear(parameters, "w_o", torch.cat(heads, dim=-1))


def turned(x: Tensor, position: int, config: LanguageModelConfig, layer: int) -> Tensor:
    if config.positions != "rotary":
        return x
    base, slower = config.rotary_base, 1.0 if config.rotary_scaling is None else config.rotary_scaling.factor
    if config.is_local(layer) and config.window.rotary_base is not None:
        base, slower = config.window.rotary_base, 1.0
    angles = position / slower * base ** (-torch.arange(0, len(x), 2) / len(x)).to(x)
    pairs = torch.view_as_complex(x.reshape(-1, 2)) * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(pairs).flatten()
