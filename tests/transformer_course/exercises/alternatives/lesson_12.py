"""Correct but unusual answers to the exercises of lesson 12."""

import contextlib
import itertools

import torch
from torch.nn import functional as F
from torch.nn.utils import get_total_norm


@contextlib.contextmanager
def evaluation_mode(model):
    mode = model.training
    model.train(False)
    try:
        yield
    finally:
        model.train(mode)


def norms_of_flat_gradients(model):
    norms = {}
    for name, parameter in model.named_parameters():
        gradient = parameter.grad
        norms[name] = (
            sum(number * number for number in gradient.flatten().tolist()) ** 0.5 if gradient is not None else 0
        )
    return {name: float(norm) for name, norm in norms.items()}


def norms_module_by_module(model):
    norms, observed = {}, set()
    for path, module in model.named_modules():
        for name, parameter in module.named_parameters(recurse=False):
            if parameter not in observed:
                observed.add(parameter)
                gradients = [] if parameter.grad is None else [parameter.grad]
                norms[f"{path}.{name}" if path else name] = get_total_norm(gradients)
    return norms


def norms_of_zeros(model):
    def gradient(parameter):
        return torch.zeros(1) if parameter.grad is None else parameter.grad.detach().clone()

    return dict(
        sorted((name, gradient(p).ravel().dot(gradient(p).ravel()).sqrt()) for name, p in model.named_parameters())
    )


@torch.no_grad()
def cached_column_by_column(model, tokens):
    with evaluation_mode(model):
        cache, worst = model.new_cache(), 0.0
        logits = model(tokens)
        for position, column in enumerate(tokens.T):
            newest = model(column[:, None], cache).squeeze(1)
            worst = max(worst, torch.dist(newest, logits[:, position], p=float("inf")).item())
    return worst


def cached_text_by_text(model, tokens):
    """Process each text separately, with gradients, and return a tensor."""
    with evaluation_mode(model):
        worst = []
        for text in tokens.split(1):
            cache = model.new_cache()
            pieces = torch.stack([model(token, cache)[:, 0] for token in text.split(1, dim=1)], dim=1)
            worst.append(torch.maximum(pieces - model(text), model(text) - pieces).amax())
    return torch.stack(worst).max()


def cached_against_prefixes(model, tokens):
    """Compare with the last logits of every prefix, which a causal model without a cache also has at that position."""
    mode, model.training = model.training, False
    cache = model.new_cache()
    differences = [
        model(tokens[:, n - 1 : n], cache)[:, -1] - model(tokens[:, :n])[:, -1] for n in range(1, tokens.shape[1] + 1)
    ]
    model.training = mode
    return float(torch.cat(differences).norm(p=torch.inf))


def padded_by_pad(model, tokens, pad_id, n_pads):
    with evaluation_mode(model), torch.inference_mode():
        apart = model(F.pad(tokens, (n_pads, 0), value=pad_id))[:, -tokens.shape[1] :] - model(tokens)
    return float(apart.abs().amax(dim=-1)[tokens.ne(pad_id)].max())


def padded_text_by_text(model, tokens, pad_id, n_pads):
    with evaluation_mode(model):
        worst = 0.0
        for text in tokens.tolist():
            longer = model(torch.tensor([[pad_id] * n_pads + text]))[0, n_pads:]
            alone = model(torch.tensor([text]))[0]
            for one, other, token in zip(longer, alone, text, strict=True):
                if token != pad_id:
                    worst = max(worst, *(abs(a - b) for a, b in zip(one.tolist(), other.tolist(), strict=True)))
    return worst


def padded_with_pads_left_out(model, tokens, pad_id, n_pads):
    """Set the differences at padding to 0 instead of removing them."""
    mode = model.training
    model.eval()
    longer = torch.empty(len(tokens), n_pads + tokens.shape[1], dtype=tokens.dtype).fill_(pad_id)
    longer[:, n_pads:] = tokens
    apart = (model(tokens) - model(longer)[:, n_pads:]).detach().abs()
    model.train(mode)
    return apart.masked_fill((tokens == pad_id)[..., None], 0.0).max()


def inputs_by_jacobian(model, x):
    return torch.autograd.functional.jacobian(model, x).abs().amax(dim=(1, 3)) > 0


def inputs_by_backward(model, x):
    """Run one backward pass per number of the outputs."""
    x = x.clone().requires_grad_()
    outputs = model(x)
    depends = torch.zeros(len(outputs), len(x), dtype=torch.bool)
    for i, k in itertools.product(*map(range, outputs.shape)):
        (gradient,) = torch.autograd.grad(outputs[i, k], x, retain_graph=True)
        depends[i] |= gradient.ne(0).any(dim=-1)
    return depends


def inputs_by_weighted_sums(model, x):
    x = x.detach().clone().requires_grad_(True)
    outputs = model(x)
    rows = [torch.autograd.grad((out * torch.randn_like(out)).sum(), x, retain_graph=True)[0] for out in outputs]
    return torch.stack(rows).norm(dim=-1) > 1e-8


def inputs_by_allclose(model, x):
    before = model(x)
    depends = [[False] * len(x) for _ in before]
    for j in range(len(x)):
        other = torch.cat([x[:j], x[j : j + 1] + 5 * torch.rand_like(x[:1]), x[j + 1 :]])
        for i, output in enumerate(model(other)):
            depends[i][j] = not torch.allclose(output, before[i], atol=1e-6)
    return torch.tensor(depends)


UNUSUAL = {
    "gradient_norms": {
        "number by number": norms_of_flat_gradients,
        "module by module": norms_module_by_module,
        "of zeros, sorted": norms_of_zeros,
    },
    "cached_difference": {
        "column by column": cached_column_by_column,
        "text by text": cached_text_by_text,
        "against prefixes": cached_against_prefixes,
    },
    "padding_difference": {
        "by pad": padded_by_pad,
        "text by text": padded_text_by_text,
        "pads left out": padded_with_pads_left_out,
    },
    "which_inputs": {
        "by Jacobian": inputs_by_jacobian,
        "by backward": inputs_by_backward,
        "by weighted sums": inputs_by_weighted_sums,
        "by allclose": inputs_by_allclose,
    },
}
