"""Correct but unusual answers to the exercises of lesson 08."""

import torch
from torch import nn
from torch.nn import functional as F


def decodes_sentence_by_sentence(model, source, bos_id, eos_id, max_length):
    decoded = []
    for sentence in source:
        target = [bos_id]
        while (len(target) <= max_length and target[-1] != eos_id) or len(target) == 1:
            target.append(int(model(sentence[None], torch.tensor([target]))[0, -1].argmax()))
        decoded.append(target[1:] + [eos_id] * (max_length + 1 - len(target)))
    return torch.tensor(decoded)


@torch.no_grad()
def decodes_all_and_cuts_afterwards(model, source, bos_id, eos_id, max_length):
    target = source.new_full((len(source), 1), bos_id)
    for _ in range(max_length):
        target = torch.cat([target, model(source, target).log_softmax(-1)[:, -1:].argmax(-1)], dim=-1)
    after = (target[:, 1:] == eos_id).cumsum(1).roll(1, dims=1)
    after[:, 0] = 0
    return target[:, 1:].masked_fill(after > 0, eos_id)


def writes_into_a_full_table(model, source, bos_id, eos_id, max_length):
    table = torch.full((len(source), max_length + 1), eos_id)
    table[:, 0] = bos_id
    for t in range(max_length):
        open_rows = (table[:, t] != eos_id).nonzero().squeeze(1)
        if not len(open_rows):
            break
        table[open_rows, t + 1] = model(source[open_rows], table[open_rows, : t + 1])[:, t].topk(1).indices.squeeze(1)
    return table[:, 1:]


def rewrites_what_was_written(model, source, bos_id, eos_id, max_length):
    """Rewrite earlier positions, for which a causal model repeats its previous tokens."""
    first = torch.full((len(source), 1), bos_id)
    target = first
    for _ in range(max_length):
        written = model(source, target).argmax(-1)
        ended = (written == eos_id).cumsum(1) > 0
        target = torch.cat([first, written.masked_fill(ended, eos_id)], dim=1)
    return target[:, 1:]


def loss_token_by_token(logits, targets, pad_id, smoothing):
    total, n = 0.0, 0
    for rows, sentence in zip(logits, targets.tolist(), strict=True):
        for row, token in zip(rows, sentence, strict=True):
            if token != pad_id:
                wanted = [smoothing / len(row) + (1 - smoothing) * (i == token) for i in range(len(row))]
                total = total - (torch.tensor(wanted) * row.log_softmax(0)).sum()
                n += 1
    return total / n


def loss_with_one_hot_targets(logits, targets, pad_id, smoothing):
    n_tokens = logits.shape[-1]
    wanted = (1 - smoothing) * F.one_hot(targets, n_tokens) + smoothing / n_tokens
    losses = -(wanted * (logits - logits.logsumexp(-1, keepdim=True))).sum(-1)
    real = targets.ne(pad_id)
    return (losses * real).sum() / real.sum()


def batches_from_nested_sequences(pairs, batch_size, pad_id):
    """Use torch's own padding and pop pairs from a list."""
    waiting = sorted(pairs, key=lambda pair: len(pair[0]), reverse=False)
    batches = []
    while waiting:
        group = [waiting.pop(0) for _ in range(min(batch_size, len(waiting)))]
        sides = [[torch.tensor(pair[i]) for pair in group] for i in (0, 1)]
        source, target = (nn.utils.rnn.pad_sequence(side, batch_first=True, padding_value=pad_id) for side in sides)
        batches.append([source, target, source.ne(pad_id).view(len(group), 1, 1, -1)])
    return batches


def batches_in_full_tables(pairs, batch_size, pad_id):
    order = torch.tensor([len(source) for source, _ in pairs]).argsort(stable=True)
    batches = []
    for rows in order.split(batch_size):
        group = [pairs[i] for i in rows.tolist()]
        tables = [torch.full((len(group), max(len(pair[i]) for pair in group)), pad_id) for i in (0, 1)]
        mask = torch.zeros(len(group), 1, 1, tables[0].shape[1], dtype=torch.bool)
        for row, (source, target) in enumerate(group):
            tables[0][row, : len(source)] = torch.tensor(source)
            tables[1][row, : len(target)] = torch.tensor(target)
            mask[row, ..., : len(source)] = True
        batches.append((*tables, mask))
    return tuple(batches)


def rate_by_cases(step, d_model, warmup):
    return 1 / (d_model * step) ** 0.5 if step > warmup else step / (d_model**0.5 * warmup**1.5)


def groups_module_by_module(model, weight_decay):
    observed, vectors, others = set(), [], []
    for module in model.modules():
        for p in module.parameters(recurse=False):
            if id(p) not in observed:
                observed.add(id(p))
                (others if len(p.shape) > 1 else vectors).append(p)
    return [{"params": vectors, "weight_decay": 0}, {"weight_decay": weight_decay, "params": tuple(others)}]


def groups_with_names(model, weight_decay):
    """Return pairs of a name and a parameter, which AdamW also accepts."""
    sides = {True: [], False: []}
    for name, p in model.named_parameters():
        sides[p.ndim > 1].append((name, p))
    return ({"params": sides[True], "weight_decay": weight_decay}, {"params": sides[False], "weight_decay": 0.0})


UNUSUAL = {
    "make_batches": {"torch's padding": batches_from_nested_sequences, "full tables": batches_in_full_tables},
    "noam_rate": {
        "by cases": rate_by_cases,
        "a tensor": lambda step, d_model, warmup: (
            torch.tensor(float(d_model)).rsqrt() * torch.tensor([step**-0.5, step / warmup**1.5]).amin()
        ),
    },
    "smoothed_cross_entropy": {
        "torch's": lambda logits, targets, pad_id, smoothing: F.cross_entropy(
            logits.mT, targets, ignore_index=pad_id, label_smoothing=smoothing
        ),
        "torch's module": lambda logits, targets, pad_id, smoothing: nn.CrossEntropyLoss(
            ignore_index=pad_id, label_smoothing=smoothing
        )(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1)),
        "one-hot targets": loss_with_one_hot_targets,
        "token by token": loss_token_by_token,
    },
    "parameter_groups": {"module by module": groups_module_by_module, "names": groups_with_names},
    "greedy_decode": {
        "sentence by sentence": decodes_sentence_by_sentence,
        "cut afterwards": decodes_all_and_cuts_afterwards,
        "a full table": writes_into_a_full_table,
        "everything anew": rewrites_what_was_written,
    },
    "sequence_log_probability": {
        "torch's loss": lambda logits, targets, pad_id: (
            -F.cross_entropy(logits.mT, targets, ignore_index=pad_id, reduction="none").sum(1)
        ),
        "a distribution": lambda logits, targets, pad_id: (
            torch.distributions.Categorical(logits=logits).log_prob(targets) * (targets != pad_id)
        ).sum(1),
    },
}
