"""Print how far our logits are from those of ``transformers``, small models and some of published sizes.

    python -m tests.transformer_lab.pretrained

All numbers in the models are drawn. Greedy texts are compared token for token; what we save is read by both again.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import torch
from transformers import AutoModelForCausalLM

from tests.transformer_lab.pretrained.small_checkpoints import (
    EOS,
    PAD,
    VARIANTS,
    Published,
    difference,
    drawn,
    gemma3,
    gpt2,
    greedy,
    llama,
    loaded,
    logits,
    marian,
    mistral,
    qwen2,
    qwen3,
    their_greedy,
)  # fmt: skip
from transformer_lab.models.transformer import Transformer
from transformer_lab.pretrained.load import save_pretrained

FULL_SIZE = {
    "GPT-2, 124 million": gpt2(vocab_size=50257, n_embd=768, n_head=12, n_inner=None, n_layer=12, n_positions=1024),
    "Llama, as TinyLlama but 4 layers": llama(
        vocab_size=32000, hidden_size=2048, intermediate_size=5632, num_attention_heads=32, num_key_value_heads=4,
        num_hidden_layers=4, max_position_embeddings=2048, rms_norm_eps=1e-5,
    ),
    "Mistral, as 7B but half as wide, 2 layers": mistral(
        vocab_size=32000, hidden_size=2048, intermediate_size=7168, num_attention_heads=16, num_key_value_heads=4,
        num_hidden_layers=2, max_position_embeddings=32768, sliding_window=4, rms_norm_eps=1e-5,
    ),
    "Qwen 2.5, as 0.5B but 4 layers": qwen2(
        vocab_size=151936, hidden_size=896, intermediate_size=4864, num_attention_heads=14, num_key_value_heads=2,
        num_hidden_layers=4, max_position_embeddings=32768, rms_norm_eps=1e-6, tie_word_embeddings=True,
        rope_parameters={"rope_type": "default", "rope_theta": 1e6},
    ),
    "Qwen 3, as 0.6B but 4 layers": qwen3(
        vocab_size=151936, hidden_size=1024, intermediate_size=3072, num_attention_heads=16, num_key_value_heads=8,
        head_dim=128, num_hidden_layers=4, max_position_embeddings=40960, rms_norm_eps=1e-6, tie_word_embeddings=True,
        rope_parameters={"rope_type": "default", "rope_theta": 1e6},
    ),
    "Gemma 3, as 270M but 6 layers": gemma3(
        vocab_size=262144, hidden_size=640, intermediate_size=2048, num_attention_heads=4, num_key_value_heads=1,
        head_dim=256, query_pre_attn_scalar=256, num_hidden_layers=6, sliding_window_pattern=6,
        max_position_embeddings=32768, sliding_window=4, rms_norm_eps=1e-6,
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
        again = (published.model if isinstance(ours, Transformer) else AutoModelForCausalLM).from_pretrained(saved)
    print(name, file=sys.stderr)
    return {
        "model": name,
        "layers": ours.config.n_layers,
        "parameters": f"{sum(parameter.numel() for parameter in ours.parameters()):,}",
        "logits, std": f"{logits(ours).std():.2f}",
        "max difference": f"{difference(ours, theirs):.1e}",
        "saved and read by them": f"{difference(again.eval(), theirs):.1e}",
        f"{N_TOKENS} greedy tokens": "equal" if greedy(ours, N_TOKENS) == their_greedy(theirs, N_TOKENS) else "DIFFER",
    }


if __name__ == "__main__":
    table = pd.DataFrame([compared(name, published) for name, published in (VARIANTS | FULL_SIZE).items()])
    print(table.to_string(index=False))
