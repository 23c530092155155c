"""The encoder and decoder of ``x-transformers``."""

from torch import Tensor, full
from x_transformers import AutoregressiveWrapper, Decoder, Encoder, TransformerWrapper

from benchmarks.contestant import Contestant, LanguageContestant
from benchmarks.work import BEGIN, NEW_TOKENS, PAD, Batch, Work

DIFFERS = "pre-norm; learned positions; attention without biases; drops hidden units, and no sublayer's output"


def stack(kind: type, work: Work, **options: object) -> object:
    """Return the layers of an encoder or a decoder."""
    size = work.size
    return kind(
        dim=size.d_model, depth=size.n_layers, heads=size.n_heads, attn_dim_head=size.d_model // size.n_heads,
        ff_mult=size.d_ff / size.d_model, ff_dropout=work.dropout, attn_flash=True, **options,
    )  # fmt: skip


class XTransformer(Contestant):
    """Its encoder and decoder, with the embeddings tied as ours are."""

    name = "x-transformers"
    tasks = ("train", "forward", "evaluate", "greedy")
    differs = DIFFERS

    def __init__(self, work: Work) -> None:
        size = work.size
        common = {"num_tokens": size.vocab_size, "max_seq_len": size.max_length, "emb_dropout": work.dropout}
        self.encoder = TransformerWrapper(**common, return_only_embed=True, attn_layers=stack(Encoder, work))
        decoder = TransformerWrapper(
            **common, tie_embedding=True, token_emb=self.encoder.token_emb,
            attn_layers=stack(Decoder, work, cross_attend=True),
        )  # fmt: skip
        self.model = AutoregressiveWrapper(decoder, pad_value=PAD)
        self.model.encoder = self.encoder

    def logits(self, batch: Batch) -> Tensor:
        """Run encoder and decoder."""
        real = batch.source != PAD
        memory = self.encoder(batch.source, mask=real, return_embeddings=True)
        return self.model.net(batch.target, context=memory, context_mask=real)

    def greedy(self, source: Tensor) -> Tensor:
        """Generate with its cache."""
        real = source != PAD
        memory = self.encoder(source, mask=real, return_embeddings=True)
        begin = full((len(source), 1), BEGIN)
        return self.model.generate(begin, NEW_TOKENS, temperature=0.0, context=memory, context_mask=real)


class XLanguageModel(LanguageContestant):
    """Its decoder alone."""

    name = "x-transformers"
    differs = DIFFERS

    def __init__(self, work: Work) -> None:
        size = work.size
        self.model = TransformerWrapper(
            num_tokens=size.vocab_size, max_seq_len=size.max_length, emb_dropout=work.dropout, tie_embedding=True,
            attn_layers=stack(Decoder, work),
        )  # fmt: skip

    def logits(self, batch: Batch) -> Tensor:
        """Run the model; padding comes last, so that no mask is needed."""
        return self.model(batch.target)
