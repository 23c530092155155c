"""Mistakes in writing token by token: caches, sampling, beams, speculation."""

from tests.mutations.mutation import Mutation

CACHE = [
    Mutation(47, "new keys over the old ones", {"start, end = self.length, self.length +": "start, end = 0, 0 +"}),
    Mutation(47, "only the new keys are given", {"self._room[:, :, :, :end]": "self._room[:, :, :, start:end]"}),
    Mutation(
        47,
        "the cache is not reordered",
        {"self._room[:, rows, :, : self.length]": "self._room[:, :, :, : self.length]"},
    ),
    Mutation(47, "the tokens are not reordered", {"self._tokens = self._tokens[rows]": "pass"}),
    Mutation(47, "sources stay when their texts have ended", {"self._kept = k[sources], v[sources]": "pass"}),
    Mutation(47, "sources are taken for rows", {"rows // (n_rows // len(k))": "rows % len(k)"}),
    Mutation(47, "nothing is forgotten", {"self.length = min(self.length, length)": "pass"}),
]

SAMPLING = [
    Mutation(50, "the token that crosses the mass is dropped", {".roll(1, dims=-1)": ""}),
    Mutation(
        50,
        "mass before the temperature",
        {
            "logits = logits / temperature\n": "cold, logits = logits, logits / temperature\n",
            "ranked.softmax": "(ranked * temperature).softmax",
        },
    ),
    Mutation(
        50,
        "top-p of what top-k dropped, too",
        {"likelier = ranked.softmax": "likelier = logits.sort(dim=-1, descending=True)[0].softmax"},
    ),
]

REORDER = "writer.reorder((first[:, None] * n_beams + beam).flatten())"
UNORDERED = "writer.reorder((first[:, None] * n_beams + torch.arange(beam.shape[1]) % n_beams).flatten())"

BEAM_SEARCH = [
    Mutation(47, "beams are not reordered", {REORDER: UNORDERED}),
    Mutation(47, "the end does not count", {"length + ~ended\n": "length + (~ended & False)\n"}),
    Mutation(
        47,
        "a text that ended goes on",
        {"masked_fill(ended[..., None], -torch.inf)": "masked_fill(ended[..., None], 0)"},
    ),
    Mutation(47, "the last beam, not the best", {".max(dim=1)": ".min(dim=1)"}),
    Mutation(47, "rows that go on take the first places", {"texts[rows, :n]": "texts[: len(rows), :n]"}),
]

DECODING = [
    Mutation(
        47,
        "the first token is not the last real one",
        {"return logits[torch.arange(len(tokens), device=tokens.device), real.argmax(dim=1)]": "return logits[:, -1]"},
    ),
    Mutation(47, "what has ended goes on", {"chosen = torch.where(ended[rows], eos_id, chosen)": "pass"}),
    Mutation(
        47, "rows that go on take the first places", {"index_copy(0, rows,": "index_copy(0, torch.arange(len(rows)),"}
    ),
    Mutation(47, "the writer keeps what was put aside", {"                writer.reorder(going)\n": ""}),
]

SPECULATIVE = [
    Mutation(50, "every guess is taken", {"q[token] >= p[token]": "q[token] < 0"}),
    Mutation(50, "what is refused is drawn anew from p", {"(p - q).clamp(min=0)": "p"}),
    Mutation(50, "the guesser's own probabilities", {"*judged, last = judge(text": "*judged, last = guess(text"}),
]

STREAMING = [
    Mutation(50, "half a character is shown", {" and not text.endswith(HALF_A_CHARACTER)": ""}),
    Mutation(
        50,
        "tokens are decoded one by one",
        {"text = decode(all_tokens)\n        if": "text += decode([token])\n        if"},
    ),
    Mutation(50, "the prompt is shown again", {"shown = len(text)\n    for": "shown = 0\n    for"}),
    Mutation(50, "what is held back at the end is lost", {"    if held:\n        yield held\n": "    return\n"}),
    Mutation(50, "a stop that straddles pieces is missed", {"n_held = max(": "n_held = 0 * max("}),
    Mutation(50, "the stop that is named first, not that is complete first", {"= min(found)": "= found[0]"}),
    Mutation(
        50,
        "the stop that begins first, not that ends first",
        {"_, start = min(found)": "start = min(start for _, start in found)"},
    ),
    Mutation(50, "the shortest beginning of a stop is held back", {"n_held = max(": "n_held = min("}),
]

TEXT_GENERATOR = [
    Mutation(50, "the token that ends a text is shown", {"token not in self.eos_ids": "True"}),
    Mutation(50, "decoded without the prompt", {"self.tokenizer.decode, tokens)": "self.tokenizer.decode)"}),
    Mutation(50, "room for one token too few", {"limit - len(tokens) + 1": "limit - len(tokens)"}),
]

TEXT_TOKENIZER = [
    Mutation(50, "a space before the first word", {"add_prefix_space=False": "add_prefix_space=True"}),
    Mutation(50, "special tokens are text", {"    tokenizer.add_special_tokens(": "    print("}),
    Mutation(50, "cut as it was for training", {"        tokenizer.no_truncation()\n": ""}),
]

TABLE = {
    "cache": CACHE,
    "sampling": SAMPLING,
    "beam_search": BEAM_SEARCH,
    "decoding": DECODING,
    "speculative": SPECULATIVE,
    "streaming": STREAMING,
    "weights/text_generator": TEXT_GENERATOR,
    "weights/text_tokenizer": TEXT_TOKENIZER,
}
