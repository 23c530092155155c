"""Reference implementation of decoding without a cache. Every step processes the whole text again."""

import torch


def uncached_logits(model, source, target):
    """Return the next-token logits at each position of the target."""
    with torch.no_grad():
        return model(source, target)


def uncached_greedy(model, source, bos_id, eos_id, max_length):
    """Decode greedily, and return the generated tokens."""
    target = torch.full((len(source), 1), bos_id)
    ended = torch.zeros(len(source), dtype=torch.bool)
    while target.shape[1] <= max_length and not ended.all():
        token = uncached_logits(model, source, target)[:, -1].argmax(-1)
        token = torch.where(ended, eos_id, token)
        ended |= token == eos_id
        target = torch.cat([target, token[:, None]], dim=1)
    return target[:, 1:]
