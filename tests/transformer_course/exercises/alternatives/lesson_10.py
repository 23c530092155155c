"""Correct but unusual answers to the exercises of lesson 10."""

import heapq
import math

import torch
from torch.nn import functional as F


def attends_with_an_empty_cache(query, key, value, cache):
    old = (key[:, :, :0], value[:, :, :0]) if cache is None else cache
    keys, values = (torch.cat([a, b], dim=2) for a, b in zip(old, (key, value), strict=True))
    weights = torch.einsum("bhqd,bhkd->bhqk", query, keys).div(query.shape[3] ** 0.5).softmax(3)
    return torch.einsum("bhqk,bhkd->bhqd", weights, values), [keys, values]


def attends_in_a_new_table(query, key, value, cache):
    n_old = 0 if cache is None else cache[0].shape[2]
    tables = [new.new_empty(*new.shape[:2], n_old + 1, new.shape[3]) for new in (key, value)]
    for number, (table, new) in enumerate(zip(tables, (key, value), strict=True)):
        table[:, :, n_old:] = new
        if n_old:
            table[:, :, :n_old] = cache[number]
    scores = (query * tables[0]).sum(dim=-1) * query.shape[3] ** -0.5
    return (scores.softmax(-1)[..., None] * tables[1]).sum(dim=2, keepdim=True), tuple(tables)


def attends_to_itself_and_to_the_cache(query, key, value, cache):
    """Compute the score of the new token separately from the others."""
    if cache is None:
        return value.clone(), (key, value)
    scores = torch.cat([(query * key).sum(-1, keepdim=True), query @ cache[0].mT], dim=-1) / query.shape[-1] ** 0.5
    weights = scores.softmax(-1)
    output = weights[..., :1] * value + weights[..., 1:] @ cache[1]
    return output, (torch.cat([cache[0], key], 2), torch.cat([cache[1], value], 2))


def bytes_of_tensors(n_layers, n_kv_heads, d_head, length, batch, bytes_per_number):
    layer = torch.empty(2, batch, n_kv_heads, length, d_head, device="meta")
    return n_layers * layer.numel() * bytes_per_number


def accepts_with_a_draft_of_zeros_at_the_end(p, q, drafted, uniforms):
    """Append zeros to the draft's probabilities, so that the residual after the last token is p itself."""
    rows = torch.arange(len(drafted))
    rejected = (uniforms * q[rows, drafted] >= p[rows, drafted]).nonzero()
    n = rejected.min() if len(rejected) else torch.tensor(len(drafted))
    rest = F.relu(p - F.pad(q, (0, 0, 0, 1)))[n]
    return n, rest / rest.sum()


def accepts_until_the_first_rejection(p, q, drafted, uniforms):
    """Compute the residual as p minus its overlap with q."""
    n = 0
    while n < len(drafted) and uniforms[n] < min(1, p[n, drafted[n]] / q[n, drafted[n]]):
        n += 1
    if n == len(drafted):
        return [n, p[n]]
    common = torch.minimum(p[n], q[n])
    return [n, (p[n] - common) / (1 - common.sum())]


def score(text, total, length_penalty):
    return total / ((5 + len(text)) / 6) ** length_penalty


def continuations(model, sentence, bos_id, running):
    for text, total in running:
        steps = model(sentence[None], torch.tensor([[bos_id, *text]]))[0, -1].log_softmax(dim=-1)
        yield from (([*text, token], total + step) for token, step in enumerate(steps.tolist()))


def searches_with_finished_texts_put_aside(until_full, may_be_unfinished):
    """Return a search as in most libraries: finished texts leave the beam, which always has beam_size others.

    Args:
        until_full: Whether to stop when beam_size texts are finished.
        may_be_unfinished: Whether an unfinished text may win although others are finished.
    """

    def search(model, source, bos_id, eos_id, max_length, beam_size, length_penalty):
        output = []
        for sentence in source:
            running, finished = [([], 0.0)], []
            for _ in range(max_length):
                candidates = continuations(model, sentence, bos_id, running)
                best = heapq.nlargest(2 * beam_size, candidates, key=lambda found: found[1])
                finished += [found for found in best[:beam_size] if found[0][-1] == eos_id]
                running = [found for found in best if found[0][-1] != eos_id][:beam_size]
                if until_full and len(finished) >= beam_size:
                    break
            competing = finished + running if may_be_unfinished or not finished else finished
            text, _ = max(competing, key=lambda found: score(*found, length_penalty))
            output.append(text + [eos_id] * (max_length - len(text)))
        return torch.tensor(output)

    return search


def searches_with_a_shrinking_beam(model, source, bos_id, eos_id, max_length, beam_size, length_penalty):
    output = []
    for sentence in source:
        running, finished = [([], 0.0)], []
        while running and len(running[0][0]) < max_length:
            candidates = continuations(model, sentence, bos_id, running)
            best = heapq.nlargest(beam_size - len(finished), candidates, key=lambda found: found[1])
            finished += [found for found in best if found[0][-1] == eos_id]
            running = [found for found in best if found[0][-1] != eos_id]
        output.append(max(finished + running, key=lambda found: score(*found, length_penalty))[0])
    longest = max(map(len, output))
    return torch.tensor([text + [eos_id] * (longest - len(text)) for text in output])


def searches_in_a_batch(by_score):
    """Return a search that stores all beams of all sentences in one tensor.

    Args:
        by_score: Whether to rank the candidates of a round by score instead of log-probability.
    """

    def search(model, source, bos_id, eos_id, max_length, beam_size, length_penalty):
        batch = len(source)
        sources = source.repeat_interleave(beam_size, dim=0)
        texts = torch.full((batch * beam_size, 1), bos_id)
        totals = torch.tensor([0.0] + [-1e9] * (beam_size - 1)).repeat(batch, 1)
        ended, lengths = torch.zeros(batch, beam_size, dtype=torch.bool), torch.zeros(batch, beam_size)
        first = torch.arange(batch)[:, None] * beam_size
        for _ in range(max_length):
            steps = model(sources, texts)[:, -1].log_softmax(-1).view(batch, beam_size, -1)
            frozen = torch.full_like(steps, -1e9)
            frozen[..., eos_id] = 0.0
            candidates = totals[..., None] + torch.where(ended[..., None], frozen, steps)
            lengths = lengths + ~ended
            ranks = candidates / ((5 + lengths[..., None]) / 6) ** length_penalty if by_score else candidates
            best = ranks.flatten(1).topk(beam_size).indices
            parents, tokens = best // steps.shape[-1], best % steps.shape[-1]
            totals = candidates.flatten(1).gather(1, best)
            lengths, ended = lengths.gather(1, parents), ended.gather(1, parents) | (tokens == eos_id)
            texts = torch.cat([texts[(first + parents).flatten()], tokens.view(-1, 1)], dim=1)
            if ended.all():
                break
        winner = (totals / ((5 + lengths) / 6) ** length_penalty).argmax(dim=1, keepdim=True)
        return texts[(first + winner).flatten(), 1:]

    return search


def merges_the_results_of_blocks(queries, keys, values, block):
    """Attend to each block separately and weight the results by the softmax of their log-sum-exps."""
    outputs, sums = [], []
    for k, v in zip(keys.split(block, dim=-2), values.split(block, dim=-2), strict=True):
        scores = queries @ k.mT / queries.shape[-1] ** 0.5
        outputs.append(scores.softmax(-1) @ v)
        sums.append(scores.logsumexp(-1, keepdim=True))
    return (torch.stack(outputs) * torch.stack(sums).softmax(0)).sum(0)


def passes_over_the_blocks_twice(queries, keys, values, block):
    """Find the largest scores in a first pass and compute the sums in a second one."""
    q = queries * queries.shape[-1] ** -0.5
    largest = torch.stack([(q @ k.mT).amax(-1, keepdim=True) for k in keys.split(block, -2)]).amax(0)
    total = mixture = 0.0
    for k, v in zip(keys.split(block, -2), values.split(block, -2), strict=True):
        exponentials = (q @ k.mT - largest).exp()
        total, mixture = total + exponentials.sum(-1, keepdim=True), mixture + exponentials @ v
    return mixture / total


def keeps_an_average(queries, keys, values, block):
    """Keep the output so far and the log-sum-exp of its scores."""
    output, so_far = torch.zeros(()), torch.full((*queries.shape[:-1], 1), -torch.inf)
    for start in range(0, keys.shape[-2], block):
        scores = queries @ keys[..., start : start + block, :].mT / math.sqrt(queries.shape[-1])
        both = torch.logaddexp(so_far, scores.logsumexp(-1, keepdim=True))
        output = output * (so_far - both).exp() + (scores - both).exp() @ values[..., start : start + block, :]
        so_far = both
    return output


def pads_the_last_block(queries, keys, values, block):
    """Pad the last block with masked keys, so that all blocks have the same length, and sum products by hand."""
    n_key = keys.shape[-2]
    added = -n_key % block
    k, v = F.pad(keys, (0, 0, 0, added)) / queries.shape[-1] ** 0.5, F.pad(values, (0, 0, 0, added))
    is_key = torch.arange(n_key + added) < n_key
    largest, total, mixture = torch.full((*queries.shape[:-1], 1), -1e30), 0.0, 0.0
    for start in range(0, n_key, block):
        part = slice(start, start + block)
        scores = (queries[..., :, None, :] * k[..., None, part, :]).sum(-1).masked_fill(~is_key[part], -1e30)
        new = scores.amax(-1, keepdim=True).maximum(largest)
        exponentials, correction = (scores - new).exp() * is_key[part], (largest - new).exp()
        total = total * correction + exponentials.sum(-1, keepdim=True)
        mixture = mixture * correction + (exponentials[..., None] * v[..., None, part, :]).sum(-2)
        largest = new
    return mixture / total


def quantizes_with_equal_groups_set_apart(weight, group):
    blocks = weight.reshape(weight.shape[0], -1, group)
    lows, ranges = blocks.min(dim=2).values, blocks.max(dim=2).values - blocks.min(dim=2).values
    scales = ranges.div(15).masked_fill(ranges == 0, 1.0)
    codes = torch.round((blocks - lows.unsqueeze(2)) / scales.unsqueeze(2)).clamp(0, 15)
    return codes.reshape(weight.shape).int(), scales, lows


def quantizes_group_by_group(weight, group):
    codes, scales, lows = torch.empty_like(weight, dtype=torch.int64), [], []
    for start in range(0, weight.shape[1], group):
        part = weight[:, start : start + group]
        low, high = part.aminmax(dim=1, keepdim=True)
        scale = torch.where(high == low, torch.ones_like(low), (high - low) / 15)
        codes[:, start : start + group] = ((part - low) / scale).add(0.5).floor()
        scales.append(scale)
        lows.append(low)
    return codes, torch.cat(scales, dim=1), torch.cat(lows, dim=1)


def quantizes_every_group_as_a_row(weight, group):
    rows = weight.reshape(-1, group)
    low, high = rows.amin(1, keepdim=True), rows.amax(1, keepdim=True)
    scale = (high - low) / 15
    scale[scale == 0] = 1.0
    nearest = (rows[..., None] - (low + scale * torch.arange(16))[:, None]).abs().argmin(dim=-1)
    return nearest.view_as(weight), scale.view(len(weight), -1), low.view(len(weight), -1)


UNUSUAL = {
    "attend_with_cache": {
        "an empty cache": attends_with_an_empty_cache,
        "a new table": attends_in_a_new_table,
        "in two parts": attends_to_itself_and_to_the_cache,
    },
    "cache_bytes": {
        "of tensors": bytes_of_tensors,
        "a product": lambda *sizes: 2 * math.prod(sizes),
        "layer by layer": lambda n_layers, n_kv_heads, d_head, length, batch, bytes_per_number: sum(
            batch * length * n_kv_heads * d_head * bytes_per_number for _ in range(n_layers) for _ in "kv"
        ),
    },
    "accept": {
        "a draft of zeros at the end": accepts_with_a_draft_of_zeros_at_the_end,
        "until the first rejection": accepts_until_the_first_rejection,
    },
    "repeat_kv": {
        "expand": lambda x, n_repeats: x[:, :, None].expand(-1, -1, n_repeats, -1, -1).flatten(1, 2),
        "index": lambda x, n_repeats: x[:, torch.arange(x.shape[1] * n_repeats) // n_repeats],
        "one by one": lambda x, n_repeats: torch.cat([h for h in x.split(1, dim=1) for _ in range(n_repeats)], dim=1),
        "a matrix": lambda x, n_repeats: torch.einsum(
            "bhnd,gh->bgnd", x, torch.eye(x.shape[1]).repeat_interleave(n_repeats, dim=0)
        ),
    },
    "quantize_groups": {
        "equal groups set apart": quantizes_with_equal_groups_set_apart,
        "group by group": quantizes_group_by_group,
        "the nearest of 16 levels": quantizes_every_group_as_a_row,
    },
    "beam_search": {
        "finished texts put aside": searches_with_finished_texts_put_aside(False, True),
        "until the beam is full of finished texts": searches_with_finished_texts_put_aside(True, True),
        "finished texts first": searches_with_finished_texts_put_aside(True, False),
        "a shrinking beam": searches_with_a_shrinking_beam,
        "in a batch": searches_in_a_batch(by_score=False),
        "in a batch, ranked by score": searches_in_a_batch(by_score=True),
    },
    "blockwise_attention": {
        "blocks merged": merges_the_results_of_blocks,
        "two passes": passes_over_the_blocks_twice,
        "an average": keeps_an_average,
        "padded": pads_the_last_block,
    },
}
