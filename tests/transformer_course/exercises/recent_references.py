"""Independent implementations of the exercises in lessons 11 to 14 and on architectures and evaluation."""

import copy
import itertools
import math
import statistics

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


def dpo_loss(chosen, rejected, reference_chosen, reference_rejected, beta):
    """Compute the loss of a Bradley–Terry model whose rewards are β log(π / π_reference)."""
    losses = []
    for i in range(len(chosen)):
        chosen_reward = beta * float(chosen[i] - reference_chosen[i])
        rejected_reward = beta * float(rejected[i] - reference_rejected[i])
        losses.append(math.log1p(math.exp(rejected_reward - chosen_reward)))
    return torch.tensor(losses).mean()


def answer_labels(tokens, prompt_lengths, pad_id):
    lengths = prompt_lengths.tolist()
    return torch.tensor(
        [[pad_id] * n + row[n:] for row, n in zip(tokens.tolist(), lengths, strict=True)], dtype=torch.int64
    )


def exact_reward(answers, accepted):
    rows = zip(answers.tolist(), accepted.tolist(), strict=True)
    return torch.tensor([1.0 if answer in forms else 0.0 for answer, forms in rows])


def group_advantages(rewards, eps=1e-4):
    groups = rewards.double().tolist()
    return torch.tensor(
        [
            [(reward - statistics.fmean(group)) / (statistics.pstdev(group) + eps) for reward in group]
            for group in groups
        ]
    )


def grpo_loss(log_p, log_p_before, log_p_reference, advantages, real, clip, beta):
    """Loop over tokens, and treat positive and negative advantages as separate cases."""
    terms = []
    for row, column in real.nonzero().tolist():
        now, before, reference = (float(x[row, column]) for x in (log_p, log_p_before, log_p_reference))
        ratio, advantage = math.exp(now - before), float(advantages[row])
        clipped = min(ratio, 1 + clip) if advantage > 0 else max(ratio, 1 - clip)
        terms.append(clipped * advantage - beta * (math.expm1(reference - now) - (reference - now)))
    return torch.tensor(-statistics.fmean(terms))


def pass_at_k(n, c, k):
    """Enumerate all choices of k samples. If there are too many choices, multiply the probabilities of wrong draws."""
    if math.comb(n, k) < 5_000:
        choices = [*itertools.combinations(range(n), k)]
        return sum(min(choice) < c for choice in choices) / len(choices)
    return 1 - math.prod(max(n - c - i, 0) / (n - i) for i in range(k))


def option_scores(log_p, is_option, per_token):
    """Process one option at a time, and add up its tokens' log-probabilities in Python."""
    combine = statistics.fmean if per_token else sum
    scores = []
    for rows, masks in zip(log_p.tolist(), is_option.tolist(), strict=True):
        pairs = zip(rows, masks, strict=True)
        scores.append([combine(itertools.compress(row, mask)) for row, mask in pairs])
    return torch.tensor(scores)


def paired_error_bar(first, second):
    """Compute the error bar from both variances and the covariance, in NumPy with float64."""
    a, b = first.double().numpy(), second.double().numpy()
    variances = np.cov(a, b)  # np.cov divides by n - 1
    variance = variances[0, 0] + variances[1, 1] - 2 * variances[0, 1]
    return torch.tensor(a.mean() - b.mean()).float(), torch.tensor(np.sqrt(variance / len(a))).float()


def ngram_overlap(words, others, n):
    """Search for each n-gram as text, with words separated by newlines."""
    text = "\n" + "\n".join(others) + "\n"
    starts = range(len(words) - n + 1)
    found = ["\n" + "\n".join(words[start : start + n]) + "\n" in text for start in starts]
    return found.count(True) / max(len(found), 1)


class SwiGLU(nn.Module):
    """SwiGLU by the paper's formula in float64, with Swish(z) = z / (1 + e⁻ᶻ)."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w_gate, self.w_up = (nn.Linear(d_model, d_ff, bias=False) for _ in range(2))
        self.w_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        gate, up, down = (layer.weight.double() for layer in (self.w_gate, self.w_up, self.w_down))
        z = torch.einsum("...d,fd->...f", x.double(), gate)
        gated = z / (1 + (-z).exp()) * torch.einsum("...d,fd->...f", x.double(), up)
        return torch.einsum("...f,df->...d", gated, down).float()


class GroupedQueryAttention(nn.Module):
    """Attention that calls ``nn.MultiheadAttention`` with the rows of ``w_k`` and ``w_v`` repeated for each head."""

    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__()
        self.n_heads, d_kv = n_heads, d_model // n_heads * n_kv_heads
        self.shared = [head * n_kv_heads // n_heads for head in range(n_heads)]
        self.w_q, self.w_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(2))
        self.w_k, self.w_v = (nn.Linear(d_model, d_kv, bias=False) for _ in range(2))

    def forward(self, x, mask=None):
        batch, n, d_model = x.shape
        if mask is not None:  # in PyTorch, True means masked out
            mask = ~mask.expand(batch, self.n_heads, n, n).flatten(0, 1)
        k, v = (
            torch.cat([layer.weight.split(d_model // self.n_heads)[head] for head in self.shared])
            for layer in (self.w_k, self.w_v)
        )
        output, _ = F.multi_head_attention_forward(
            *[x.transpose(0, 1)] * 3,
            embed_dim_to_check=d_model,
            num_heads=self.n_heads,
            in_proj_weight=torch.cat([self.w_q.weight, k, v]),
            in_proj_bias=None,
            bias_k=None,
            bias_v=None,
            add_zero_attn=False,
            dropout_p=0.0,
            out_proj_weight=self.w_o.weight,
            out_proj_bias=None,
            attn_mask=mask,
        )
        return output.transpose(0, 1).nan_to_num()  # fully masked queries give nan


def route(logits, k):
    """Sort each token's experts, and compute the softmax over the best experts in float64."""
    best = [sorted(range(len(row)), key=row.__getitem__, reverse=True)[:k] for row in logits.tolist()]
    experts = torch.tensor(best)
    exponentials = torch.tensor(
        [[math.exp(row[i] - max(row)) for i in chosen] for row, chosen in zip(logits.tolist(), best, strict=True)]
    )
    return exponentials / exponentials.sum(dim=1, keepdim=True), experts


def pairs_from_halves(weight, d_k):
    """Move the first half of each head's rows to the even rows, and the second half to the odd rows."""
    heads = weight.clone().view(-1, d_k, weight.shape[1])
    for head, sorted_head in zip(weight.split(d_k), heads, strict=True):
        sorted_head[::2], sorted_head[1::2] = head[: d_k // 2], head[d_k // 2 :]
    return heads.reshape(weight.shape)


class LoRALinear(nn.Module):
    """A single float64 linear layer with the merged weight W + (alpha / rank) B A."""

    def __init__(self, linear, rank, alpha):
        super().__init__()
        self.linear, self.factor = linear.requires_grad_(False), alpha / rank
        self.a = nn.Parameter(torch.rand(rank, linear.in_features))
        self.b = nn.Parameter(torch.zeros(linear.out_features, rank))

    def forward(self, x):
        weight = self.linear.weight.double() + self.factor * torch.einsum("or,ri->oi", self.b.double(), self.a.double())
        bias = 0 if self.linear.bias is None else self.linear.bias.double()
        return ((weight @ x.double().unsqueeze(-1)).squeeze(-1) + bias).float()


def gradient_norms(model):
    norms = {}
    for name, p in model.named_parameters():
        gradient = np.zeros(1) if p.grad is None else p.grad.numpy()
        norms[name] = math.sqrt(math.fsum(gradient.flatten().astype(float) ** 2))
    return norms


def cached_difference(model, tokens):
    """Compute the difference from the model's tables."""
    n = tokens.shape[1]
    change = model.cached_mixing[:n, :n].numpy() - model.mixing[:n, :n].numpy()
    return float(max(np.abs(change @ model.embedding[text].numpy()).max() for text in tokens))


def padding_difference(model, tokens, pad_id, n_pads):
    """Process each text separately, one token at a time."""
    model = copy.deepcopy(model).eval()
    found = []
    for text in tokens.tolist():
        alone, padded = (model(torch.tensor([begin + text]))[0].numpy() for begin in ([], n_pads * [pad_id]))
        found += [np.abs(padded[n_pads + t] - alone[t]).max() for t, token in enumerate(text) if token != pad_id]
    return float(max(found))


def which_inputs(model, x):
    return torch.autograd.functional.jacobian(model, x).any(dim=3).any(dim=1)


def accumulate(losses, n_tokens):
    """Assign the mean loss of a micro-batch to each of its tokens, and average over all tokens."""
    return (losses / n_tokens).repeat_interleave(n_tokens).mean()


def memory_bill(n_parameters, n_layers, d_model, n_kept, n_tokens, n_workers, checkpointing):
    """Count the numbers per parameter (the value, a gradient and two means) and each layer's activations."""
    per_parameter = {"parameters": 1, "gradients": 1, "optimizer": 2}
    layers = [d_model] * n_layers + [n_kept] if checkpointing else [n_kept] * n_layers
    numbers = {line: n * n_parameters / n_workers for line, n in per_parameter.items()}
    numbers["activations"] = sum(layers) * n_tokens
    return {line: n * np.dtype(np.float32).itemsize for line, n in numbers.items()}


def all_reduce_gradients(gradients, n_tokens):
    """Average gradients over tokens. Each token contributes the gradient of its worker."""
    parameters = torch.zeros(gradients.shape[1], requires_grad=True)
    losses = (gradients @ parameters).repeat_interleave(n_tokens)
    losses.mean().backward()
    return torch.stack([parameters.grad] * len(gradients))


def training_flops(n_parameters, n_tokens):
    """Count three matrix products per parameter and token, for the output and for the gradients of both factors."""
    operations_of_a_product, products = 2, 3
    return n_tokens * n_parameters * operations_of_a_product * products


def latent_attention(q, latent, w_k, w_v):
    """Apply the matrices to the queries and the averages instead of computing keys and values."""
    into_latent = torch.einsum("bhqd,hrd->bhqr", q.double(), w_k.double())
    weights = F.softmax(torch.einsum("bhqr,bkr->bhqk", into_latent, latent.double()) / math.sqrt(q.shape[-1]), dim=-1)
    return torch.einsum("bhqk,bkr,hrd->bhqd", weights, latent.double(), w_v.double()).float()


def gated_delta_rule(q, k, v, decay, beta):
    """Compute entry by entry in float64. Each write adds β k (v − r), where r is the value recalled for the key."""
    state, outputs = [[0.0] * v.shape[1] for _ in range(k.shape[1])], []
    for t in range(len(k)):
        state = [[decay[t].double() * entry for entry in row] for row in state]
        recalled = [sum(k[t, i].double() * state[i][j] for i in range(k.shape[1])) for j in range(v.shape[1])]
        for i in range(k.shape[1]):
            for j in range(v.shape[1]):
                state[i][j] = state[i][j] + beta[t].double() * k[t, i].double() * (v[t, j].double() - recalled[j])
        read = [sum(q[t, i].double() * state[i][j] for i in range(k.shape[1])) for j in range(v.shape[1])]
        outputs.append(torch.stack(read))
    return torch.stack(outputs).float()


def sparse_attention(q, k, v, index_scores, n_kept):
    """For each query, sort the past tokens by score, and average the values of the best tokens."""
    rows = []
    for t in range(len(q)):
        kept = sorted(range(t + 1), key=lambda s: -index_scores[t, s].item())[:n_kept]
        exponentials = [torch.exp((q[t].double() @ k[s].double()) / math.sqrt(q.shape[1])) for s in kept]
        rows.append(sum(e * v[s].double() for e, s in zip(exponentials, kept, strict=True)) / sum(exponentials))
    return torch.stack(rows).float()


def column_parallel(x, matrix, n_devices):
    """Compute one output feature at a time, and assign the features to the devices in order."""
    features = [sum(x[:, i] * column[i] for i in range(len(column))) for column in matrix.T]
    size = len(features) // n_devices
    return torch.stack([torch.stack(features[i * size :][:size], dim=1) for i in range(n_devices)])


def row_parallel(x_shards, matrix, bias):
    return F.linear(torch.cat(tuple(x_shards), dim=-1), matrix.T, bias)


def zero_step(parameters, gradients, means, mean_squares, step, rate):
    """Run torch's Adam on all parameters, with the combined state of all workers."""
    full, n = torch.nn.Parameter(parameters.clone()), len(parameters)
    adam = torch.optim.Adam([full], lr=rate)
    state = {"step": torch.tensor(step - 1.0), "exp_avg": means, "exp_avg_sq": mean_squares}
    adam.state[full] = {name: value.clone().flatten()[:n] if value.dim() else value for name, value in state.items()}
    full.grad = gradients.mean(dim=0)
    adam.step()
    kept = (adam.state[full][name] for name in ("exp_avg", "exp_avg_sq"))
    shards = [torch.cat([mean, torch.zeros(means.numel() - n)]).split(means.shape[1]) for mean in kept]
    return full.detach(), torch.stack(shards[0]), torch.stack(shards[1])


def pipeline_schedule(n_stages, n_microbatches):
    """Compute the time of each pass with a formula. In the steady state, a stage takes two ticks per micro-batch."""
    schedule = torch.zeros(n_stages, 2 * (n_stages + n_microbatches - 1), dtype=torch.int64)
    for stage, i in itertools.product(range(n_stages), range(n_microbatches)):
        schedule[stage, stage + (i if i < n_stages - stage else 2 * i)] = i + 1
        schedule[stage, 2 * n_stages - 1 - stage + 2 * i] = -(i + 1)
    return schedule


def compute_optimal_size(n_parameters, losses):
    centered = np.log(n_parameters) - np.log(n_parameters).mean()
    [minimum] = np.polynomial.Polynomial.fit(centered, losses, 2).deriv().roots()
    return math.exp(minimum + np.log(n_parameters).mean())


INDEPENDENT = {
    "rms_norm": lambda x, weight, eps=1e-6: F.rms_norm(x.double(), x.shape[-1:], weight.double(), eps).to(x.dtype),
    "SwiGLU": SwiGLU,
    "GroupedQueryAttention": GroupedQueryAttention,
    "route": route,
    "pairs_from_halves": pairs_from_halves,
    "LoRALinear": LoRALinear,
    "gradient_norms": gradient_norms,
    "cached_difference": cached_difference,
    "padding_difference": padding_difference,
    "which_inputs": which_inputs,
    "memory_bill": memory_bill,
    "accumulate": accumulate,
    "all_reduce_gradients": all_reduce_gradients,
    "training_flops": training_flops,
    "latent_attention": latent_attention,
    "gated_delta_rule": gated_delta_rule,
    "sparse_attention": sparse_attention,
    "column_parallel": column_parallel,
    "row_parallel": row_parallel,
    "zero_step": zero_step,
    "pipeline_schedule": pipeline_schedule,
    "compute_optimal_size": compute_optimal_size,
    "answer_labels": answer_labels,
    "dpo_loss": dpo_loss,
    "exact_reward": exact_reward,
    "group_advantages": group_advantages,
    "grpo_loss": grpo_loss,
    "pass_at_k": pass_at_k,
    "option_scores": option_scores,
    "paired_error_bar": paired_error_bar,
    "ngram_overlap": ngram_overlap,
}
