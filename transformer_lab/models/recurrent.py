"""Recurrent translators, with and without attention, as used before the Transformer."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_lab.attention.additive import AdditiveAttention
from transformer_lab.checks import check_tokens
from transformer_lab.layers.embedding import look_up


class RecurrentTranslator(nn.Module):
    """An encoder that compresses the source into *one* vector, and a decoder that generates the target from it.

    ``h_t = GRU(h_{t−1}, x_t)`` and ``s_t = GRU(s_{t−1}, [y_{t−1}, c])`` with the same context c, the encoder's last
    state, at every step: Cho et al. (2014), arXiv:1406.1078. The width of c does not depend on the source's length.

    Args:
        source_vocab_size: Vocabulary size of the source.
        target_vocab_size: Vocabulary size of the target.
        d_model: Width of embeddings and states.
        pad_id: The token that pads short sources.

    Raises:
        ValueError: A size is not positive, or ``pad_id`` is not in the source's vocabulary.

    >>> model = RecurrentTranslator(source_vocab_size=11, target_vocab_size=13, d_model=8)
    >>> model(torch.tensor([[5, 6, 7, 0]]), torch.tensor([[1, 12]])).shape
    torch.Size([1, 2, 13])
    """

    def __init__(self, source_vocab_size: int, target_vocab_size: int, d_model: int, pad_id: int = 0) -> None:
        super().__init__()
        if min(source_vocab_size, target_vocab_size, d_model) < 1:
            raise ValueError(f"sizes must be positive; got {source_vocab_size=}, {target_vocab_size=}, {d_model=}")
        if not 0 <= pad_id < source_vocab_size:
            raise ValueError(
                f"pad_id must be a source token id below source_vocab_size; got {pad_id=}, {source_vocab_size=}"
            )
        self.pad_id = pad_id
        self.source_embedding = nn.Embedding(source_vocab_size, d_model)
        self.target_embedding = nn.Embedding(target_vocab_size, d_model)
        self.encoder = nn.GRU(d_model, d_model, batch_first=True)
        self.decoder = nn.GRUCell(2 * d_model, d_model)
        self.head = nn.Linear(2 * d_model, target_vocab_size)

    def forward(
        self, source: Int[Tensor, "batch n_source"], target: Int[Tensor, "batch n_target"]
    ) -> Float[Tensor, "batch n_target vocab_size"]:
        """Return the logits of the next token at every position of the target.

        Args:
            source: The sentences to translate; padding may be anywhere.
            target: The translations so far, including the token that begins a sentence.

        Raises:
            ValueError: The tokens are empty, not an integer tensor, or contain an id outside the vocabulary; or the
                numbers of sources and targets differ.
        """
        check_tokens(source)
        check_tokens(target)
        if len(source) != len(target):
            raise ValueError(
                f"the numbers of sources and targets must be equal; got {len(source)} sources, {len(target)} targets"
            )
        states, mask = self.encode(source)
        return self.decode(target, last_state(states, mask), states, mask)[0]

    def encode(
        self, source: Int[Tensor, "batch n_source"]
    ) -> tuple[Float[Tensor, "batch n_source d_model"], Bool[Tensor, "batch n_source"]]:
        """Return the state after each token of the source, and a mask that is True at real tokens.

        Real tokens are moved to the front, in order, so that no state depends on padding.
        """
        order = (source == self.pad_id).int().argsort(dim=1, stable=True)
        source = source.gather(1, order)
        states, _ = self.encoder(look_up(self.source_embedding, source))
        return states, source != self.pad_id

    def decode(
        self,
        target: Int[Tensor, "batch n_target"],
        state: Float[Tensor, "batch d_model"],
        states: Float[Tensor, "batch n_source d_model"],
        mask: Bool[Tensor, "batch n_source"],
    ) -> tuple[Float[Tensor, "batch n_target vocab_size"], Float[Tensor, "batch d_model"]]:
        """Return the logits of the next token at every position, and the decoder's state after the last position."""
        contexts, new_states = [], []
        for y in look_up(self.target_embedding, target).unbind(dim=1):
            contexts.append(self.context(state, states, mask))
            state = self.decoder(torch.cat([y, contexts[-1]], dim=-1), state)
            new_states.append(state)
        # No step depends on the logits, so compute the logits of all steps in one product.
        return self.head(torch.cat([torch.stack(new_states, dim=1), torch.stack(contexts, dim=1)], dim=-1)), state

    def context(
        self,
        state: Float[Tensor, "batch d_model"],
        states: Float[Tensor, "batch n_source d_model"],
        mask: Bool[Tensor, "batch n_source"],
    ) -> Float[Tensor, "batch d_model"]:
        """Return the context vector for this step, which is the same at every step."""
        del state
        return last_state(states, mask)


class AttentiveRecurrentTranslator(RecurrentTranslator):
    """A recurrent translator whose decoder attends to all of the encoder's states at every step.

    The query is the state *before* the step; keys and values are the encoder's states: ``c_t = Σ_i a_ti h_i`` with
    ``a_t = softmax(score(s_{t−1}, h_i))`` and additive scores: section 3.1 of Bahdanau et al. (2015), arXiv:1409.0473,
    although their encoder is bidirectional. The arguments are the same as in ``RecurrentTranslator``. The module
    ``attention`` returns the context and the weights at every step; a forward hook can collect them.

    >>> model = AttentiveRecurrentTranslator(source_vocab_size=11, target_vocab_size=13, d_model=8)
    >>> model(torch.tensor([[5, 6, 7, 0]]), torch.tensor([[1, 12]])).shape
    torch.Size([1, 2, 13])
    """

    def __init__(self, source_vocab_size: int, target_vocab_size: int, d_model: int, pad_id: int = 0) -> None:
        super().__init__(source_vocab_size, target_vocab_size, d_model, pad_id)
        self.attention = AdditiveAttention(d_q=d_model, d_k=d_model, d_h=d_model)

    def context(
        self,
        state: Float[Tensor, "batch d_model"],
        states: Float[Tensor, "batch n_source d_model"],
        mask: Bool[Tensor, "batch n_source"],
    ) -> Float[Tensor, "batch d_model"]:
        """Return the average of the encoder's states, weighted by how well each state matches the decoder's state."""
        context, _ = self.attention(state[:, None], states, states, mask[:, None])
        return context[:, 0]


def last_state(states: Float[Tensor, "batch n d"], mask: Bool[Tensor, "batch n"]) -> Float[Tensor, "batch d"]:
    """Return each sentence's state after its last real token, or zeros if it has no real token."""
    last = mask.sum(dim=1) - 1
    selected = states[torch.arange(len(states), device=states.device), last.clamp(min=0)]
    return selected.masked_fill(last[:, None] < 0, 0.0)
