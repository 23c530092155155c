"""The first entry: the library's language model with rotary positions and BPE tokens, trained with AdamW."""

import time

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_lab import LanguageModel, LanguageModelConfig
from transformer_lab.data.tokenizers import BOS_ID, bpe_tokenizer

VOCAB_SIZE, CONTEXT_LENGTH, BATCH_SIZE, LR = 1024, 64, 16, 6e-3
RESERVE_S = 5.0


class Trained:
    """A model and its tokenizer."""

    start, vocab_size, context_length = BOS_ID, VOCAB_SIZE, CONTEXT_LENGTH

    def __init__(self, texts: list[str]) -> None:
        self.tokenizer = bpe_tokenizer(texts, VOCAB_SIZE)
        self.model = LanguageModel(
            LanguageModelConfig(
                vocab_size=VOCAB_SIZE, d_model=96, n_heads=4, n_layers=2, d_ff=384, positions="rotary",
                tie_embeddings=True,
                max_length=CONTEXT_LENGTH, dropout=0.0,
            )
        )  # fmt: skip

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text."""
        return self.tokenizer.encode(text).ids

    def decode(self, tokens: list[int]) -> str:
        """Return the text of tokens."""
        return self.tokenizer.decode(tokens)

    def logits(self, tokens: Tensor) -> Tensor:
        """Return the logits of the next token at every position."""
        return self.model.eval()(tokens)


def train(texts: list[str], seconds: float) -> Trained:
    """Train until shortly before the time limit; the learning rate warms up and then decays to 0 with elapsed time."""
    begin = time.process_time()
    _ = torch.manual_seed(0)
    trained = Trained(texts)
    ids = torch.tensor([token for text in texts for token in [BOS_ID, *trained.encode(text)]])
    model = trained.model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=LR, betas=(0.9, 0.98), weight_decay=0.01, fused=True)
    while (used := (time.process_time() - begin) / (seconds - RESERVE_S)) < 1:
        starts = torch.randint(len(ids) - CONTEXT_LENGTH - 1, (BATCH_SIZE,))
        batch = ids[starts[:, None] + torch.arange(CONTEXT_LENGTH + 1)]
        loss = F.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = LR * min(1, 20 * used + 0.01) * (1 - used)
        optimizer.step()
    return trained
