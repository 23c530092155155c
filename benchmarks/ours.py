"""Our models, called the way the trainer and the decoders call them."""

from torch import Tensor

from benchmarks.contestant import Contestant, LanguageContestant
from benchmarks.work import BEGIN, END, LABEL_SMOOTHING, N_NEW_TOKENS, PAD, TOP_K, Batch, Work, n_kv_heads
from transformer_lab.generation.beam_search import beam_search
from transformer_lab.generation.decode import generate, greedy_decode
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig
from transformer_lab.training.loss import batch_loss


class Ours(Contestant):
    """Our Transformer."""

    name = "ours"
    tasks = ("train", "forward", "evaluate", "greedy", "beam")

    def __init__(self, work: Work) -> None:
        size = work.size
        self.model = Transformer(TransformerConfig(
            size.vocab_size, d_model=size.d_model, n_heads=size.n_heads, d_ff=size.d_ff, n_layers=size.n_layers,
            max_length=size.max_length, dropout=work.dropout,
        ))  # fmt: skip

    def logits(self, batch: Batch) -> Tensor:
        """Run the model."""
        return self.model(batch.source, batch.target)

    def loss(self, batch: Batch) -> Tensor:
        """Return the loss as the trainer computes it."""
        return batch_loss(self.model, (batch.source, batch.target), batch.labels, PAD, LABEL_SMOOTHING) / batch.n_labels

    def greedy(self, source: Tensor) -> Tensor:
        """Generate with the cache."""
        return greedy_decode(self.model, source, BEGIN, END, N_NEW_TOKENS)

    def beam(self, source: Tensor) -> Tensor:
        """Generate with the cache and 4 beams."""
        return beam_search(self.model, source, BEGIN, END, N_NEW_TOKENS, beam_size=4)


class OurLanguageModel(LanguageContestant):
    """Our language model in GPT-2's configuration."""

    name = "ours"
    tasks = (*LanguageContestant.tasks, "greedy LM", "sample LM", "prefill LM")

    def __init__(self, work: Work) -> None:
        size = work.size
        self.model = LanguageModel(LanguageModelConfig.gpt2(
            size.vocab_size, d_model=size.d_model, n_heads=size.n_heads, d_ff=size.d_ff, n_layers=size.n_layers,
            max_length=size.max_length, dropout=work.dropout,
        ))  # fmt: skip

    def logits(self, batch: Batch) -> Tensor:
        """Run the model. Padding comes last, so no mask is needed."""
        return self.model(batch.target)

    def loss(self, batch: Batch) -> Tensor:
        """Return the loss as the trainer computes it."""
        return batch_loss(self.model, (batch.target,), batch.labels, PAD) / batch.n_labels

    def greedy(self, source: Tensor) -> Tensor:
        """Generate with the cache."""
        return generate(self.model, source, N_NEW_TOKENS, temperature=0, eos_id=END)[:, source.shape[1] :]

    def sample(self, source: Tensor) -> Tensor:
        """Sample with the cache."""
        return generate(self.model, source, N_NEW_TOKENS, top_k=TOP_K)[:, source.shape[1] :]

    def prefill(self, source: Tensor) -> Tensor:
        """Read the prompt and generate one token."""
        return generate(self.model, source, 1, temperature=0, eos_id=END)[:, source.shape[1] :]


class OurLlama(OurLanguageModel):
    """Our language model in Llama's configuration."""

    tasks = ("train Llama", "greedy Llama", "greedy grouped", "prefill grouped")

    def __init__(self, work: Work) -> None:
        size = work.size
        self.model = LanguageModel(LanguageModelConfig.llama(
            size.vocab_size, d_model=size.d_model, n_heads=size.n_heads, n_kv_heads=n_kv_heads(work),
            d_ff=2 * size.d_ff // 3, n_layers=size.n_layers, max_length=size.max_length, tie_embeddings=True,
        ))  # fmt: skip
