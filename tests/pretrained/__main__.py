"""Print how far our logits are from those of ``transformers``, small models and some of published sizes.

    python -m tests.pretrained

All numbers in the models are drawn. Greedy texts are compared token for token; what we save is read by both again.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import torch

from tests.pretrained.small_checkpoints import (
    EOS,
    PAD,
    VARIANTS,
    Published,
    difference,
    drawn,
    gpt2,
    greedy,
    llama,
    loaded,
    logits,
    marian,
    their_greedy,
)  # fmt: skip
from transformer_lab.pretrained.load import save_pretrained

FULL_SIZE = {
    "GPT-2, 124 million": gpt2(vocab_size=50257, n_embd=768, n_head=12, n_inner=None, n_layer=12, n_positions=1024),
    "Llama, as TinyLlama but 4 layers": llama(
        vocab_size=32000, hidden_size=2048, intermediate_size=5632, num_attention_heads=32, num_key_value_heads=4,
        num_hidden_layers=4, max_position_embeddings=2048, rms_norm_eps=1e-5,
    ),
    "Marian, as opus-mt-en-de": marian(
        vocab_size=58101, d_model=512, max_position_embeddings=512, encoder_layers=6, decoder_layers=6,
        encoder_attention_heads=8, decoder_attention_heads=8, encoder_ffn_dim=2048, decoder_ffn_dim=2048,
    ),
}  # fmt: skip
N_TOKENS = 15


@torch.no_grad()
def compared(name: str, published: Published) -> dict[str, object]:
    """Return the row of the table for one model."""
    theirs = drawn(published)
    with TemporaryDirectory() as folder, TemporaryDirectory() as saved:
        theirs.save_pretrained(folder)
        ours = loaded(Path(folder))
        save_pretrained(ours, Path(saved), bos_id=PAD, eos_id=EOS)
        again = published.model.from_pretrained(saved).eval()
    print(name, file=sys.stderr)
    return {
        "model": name,
        "layers": ours.config.n_layers,
        "parameters": f"{sum(parameter.numel() for parameter in ours.parameters()):,}",
        "logits, std": f"{logits(ours).std():.2f}",
        "max difference": f"{difference(ours, theirs):.1e}",
        "saved and read by them": f"{difference(again, theirs):.1e}",
        f"{N_TOKENS} greedy tokens": "equal" if greedy(ours, N_TOKENS) == their_greedy(theirs, N_TOKENS) else "DIFFER",
    }


if __name__ == "__main__":
    table = pd.DataFrame([compared(name, published) for name, published in (VARIANTS | FULL_SIZE).items()])
    print(table.to_string(index=False))
