"""The encoder and decoder of Joey NMT."""

from joeynmt.decoders import TransformerDecoder
from joeynmt.embeddings import Embeddings
from joeynmt.encoders import TransformerEncoder
from torch import Tensor, nn

from benchmarks.contestant import Contestant
from benchmarks.work import PAD, Batch, Work


class JoeyNMT(Contestant):
    """Its layers, with the embeddings tied as ours are."""

    name = "Joey NMT"
    tasks = ("train", "forward", "evaluate")
    differs = "drops attention weights and hidden units as well"

    def __init__(self, work: Work) -> None:
        size = work.size
        options = {
            "hidden_size": size.d_model, "ff_size": size.d_ff, "num_layers": size.n_layers, "num_heads": size.n_heads,
            "dropout": work.dropout, "emb_dropout": work.dropout, "layer_norm": "post",
        }  # fmt: skip
        self.embedding = Embeddings(size.d_model, scale=True, vocab_size=size.vocab_size, padding_idx=PAD)
        self.encoder = TransformerEncoder(**options)
        self.decoder = TransformerDecoder(**options, vocab_size=size.vocab_size)
        self.decoder.output_layer.weight = self.embedding.lut.weight
        self.model = nn.ModuleList([self.embedding, self.encoder, self.decoder])

    def logits(self, batch: Batch) -> Tensor:
        """Run encoder and decoder."""
        source, target = ((side != PAD)[:, None] for side in (batch.source, batch.target))
        memory, _ = self.encoder(self.embedding(batch.source), None, source)
        return self.decoder(self.embedding(batch.target), memory, None, source, None, None, target)[0]
