"""Mistakes in generating token by token: caches, sampling, beams, speculation."""

from tests.mutations.mutation import Edit, Mutation

CACHE = [
    Mutation(
        47,
        "new keys over the old ones",
        Edit("KVCache._room", "_start, _end = self.length, self.length + _n", "_start, _end = 0, 0 + _n"),
    ),
    Mutation(
        47,
        "only the new keys are given",
        Edit("KVCache.append", "_keys, _values = self.kept", "_keys, _values = k, v"),
    ),
    Mutation(
        47,
        "the cache is not reordered",
        Edit("KVCache.reorder", "self._buffer.index_select(1, rows)", "self._buffer[:, : len(rows)]"),
    ),
    Mutation(47, "the tokens are not reordered", Edit("ModelCache.reorder", "self.tokens = self.tokens[rows]", "pass")),
    Mutation(
        47,
        "sources stay when their texts have ended",
        Edit("SourceKV.reorder", "self.k, self.v = self.k[_sources], self.v[_sources]", "pass"),
    ),
    Mutation(
        47, "sources are taken for rows", Edit("SourceKV.reorder", "rows // (n_rows // len(_k))", "rows % len(_k)")
    ),
    Mutation(47, "nothing is forgotten", Edit("KVCache.truncate", "self.length = min(self.length, length)", "pass")),
]

MASS_BEFORE = "_ranked.softmax(dim=-1).cumsum(dim=-1).roll(1, dims=-1)"

SAMPLING = [
    Mutation(
        50,
        "the token that crosses the mass is dropped",
        Edit("filter_logits", "_mass.roll(1, dims=-1)", "_mass"),
    ),
    Mutation(
        50,
        "mass before the temperature",
        Edit("filter_logits", MASS_BEFORE, MASS_BEFORE.replace("_ranked", "(_ranked * temperature)")),
    ),
    Mutation(
        50,
        "top-p of what top-k dropped, too",
        Edit("filter_logits", MASS_BEFORE, MASS_BEFORE.replace("_ranked", "logits.sort(dim=-1, descending=True)[0]")),
    ),
]

BEAM_SEARCH = [
    Mutation(
        47,
        "beams are not reordered",
        Edit(
            "n_best_from_state",
            "state.reorder(rows)",
            "state.reorder(torch.add(torch.arange(beam.shape[1]) % n_beams, row, alpha=n_beams).flatten())",
        ),
    ),
    Mutation(
        47, "the end does not count", Edit("n_best_from_state", "_length + ~_ended", "_length + (~_ended & False)")
    ),
    Mutation(
        47,
        "a text that ended goes on",
        Edit(
            "n_best_from_state",
            "_steps.masked_fill(_ended[..., None], -torch.inf)",
            "_steps.masked_fill(_ended[..., None], 0)",
        ),
    ),
    Mutation(
        47,
        "the last beam, not the best",
        Edit("n_best_from_state", "_ranks.topk(_, dim=1)", "_ranks.topk(1, dim=1, largest=False)"),
    ),
    Mutation(
        47,
        "rows that go on take the first places",
        Edit("n_best_from_state", "_texts[_rows, :_k, :_n] = _best", "_texts[: len(_rows), :_k, :_n] = _best"),
    ),
]

DECODING = [
    Mutation(
        47,
        "what has ended goes on",
        Edit("generate_steps", "_chosen.masked_fill(_ended, eos_id)", "_chosen"),
    ),
    Mutation(
        47,
        "rows that go on take the first places",
        Edit(
            "generate_steps",
            "_all.index_copy(0, _rows, _chosen)",
            "_all.index_copy(0, torch.arange(len(_rows)), _chosen)",
        ),
    ),
    Mutation(47, "the state keeps what has finished", Edit("generate_steps", "state.reorder(_going)", "pass")),
]

DECODING_STATE = [
    Mutation(
        47,
        "the first token is not the last real one",
        Edit("TextState.next_logits", "_hidden[torch.arange(...), _last]", "_hidden[:, -1]"),
    ),
    Mutation(
        47,
        "every token is the first",
        Edit("RecurrentState.next_logits", "_logits, self.state = _read", "_logits, _ = _read"),
    ),
    Mutation(
        47,
        "states are not reordered",
        Edit(
            "RecurrentState.reorder",
            "self.state, self.states, self.mask = _state, _states, _mask",
            "_, self.states, self.mask = _state, _states, _mask",
        ),
    ),
]

SPECULATIVE = [
    Mutation(
        50,
        "every drafted token is accepted",
        Edit("_speculate_once", "_u * _q[_token] >= _p[_token]", "_u * _q[_token] < 0"),
    ),
    Mutation(50, "what is rejected is drawn anew from p", Edit("_speculate_once", "(_p - _q).clamp(min=0)", "_p")),
    Mutation(50, "the draft's own probabilities", Edit("_speculate_once", "target(...)", "draft(...)")),
]

TABLE = {
    "attention/kv_cache": CACHE,
    "generation/sampling": SAMPLING,
    "generation/beam_search": BEAM_SEARCH,
    "generation/decode": DECODING,
    "generation/decoding_state": DECODING_STATE,
    "generation/speculative": SPECULATIVE,
}
