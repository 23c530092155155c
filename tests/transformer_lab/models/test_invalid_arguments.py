"""Tests that models reject invalid arguments by name, even without shape checks."""

import os
import subprocess
import sys
from pathlib import Path

INVALID_CALLS = {
    "Transformer(small)(tokens(2, 12), tokens(2, 3))": "1 to 11 tokens (max_length); got 12",
    "Transformer(small)(tokens(2, 3), tokens(2, 12))": "1 to 11 tokens (max_length); got 12",
    "Transformer(small)(tokens(2, 0), tokens(2, 3))": "1 to 11 tokens (max_length); got 0",
    "Transformer(small)(tokens(2, 3), tokens(2, 0))": "1 to 11 tokens (max_length); got 0",
    "Transformer(small)(tokens(2, 3) + 12, tokens(2, 3))": "from 0 to vocab_size − 1 = 12; got 13",
    "Transformer(small)(tokens(2, 3), tokens(2, 3) - 2)": "from 0 to vocab_size − 1 = 12; got -1",
    "Transformer(two_vocabularies)(tokens(2, 3) + 9, tokens(2, 3) + 9)": "from 0 to vocab_size − 1 = 9; got 10",
    "Transformer(small)(tokens(2, 3).float(), tokens(2, 3))": "got torch.float32 of shape (2, 3)",
    "Transformer(small)(tokens(2, 3), tokens(2, 3).bool())": "got torch.bool of shape (2, 3)",
    "Transformer(small)(tokens(3), tokens(2, 3))": "got torch.int64 of shape (3,)",
    "Transformer(small)(tokens(2, 3), tokens(3))": "got torch.int64 of shape (3,)",
    "Transformer(small)(tokens(2, 3, 1), tokens(2, 3))": "got torch.int64 of shape (2, 3, 1)",
    "Transformer(small).encode(tokens(2, 12))": "1 to 11 tokens (max_length); got 12",
    "Transformer(small).encode(tokens(2, 3).double())": "got torch.float64 of shape (2, 3)",
    "Transformer(small).decoder(tokens(2, 3), torch.ones(2, 5, 13))": "d_model=12); got shape (2, 5, 13)",
    "Transformer(small).encoder.layers[0](torch.ones(2, 5, 13))": "d_model=12); got shape (2, 5, 13)",
    "Transformer(replace(small, pre_norm=True)).decoder.layers[0](torch.ones(2, 5, 13), torch.ones(2, 5, 12))":
        "d_model=12); got shape (2, 5, 13)",
    "Transformer(small).decoder(tokens(2, 3), torch.ones(1, 5, 12))": "the same batch size; got 1 and 2",
    "LanguageModel(text)(tokens(2, 12))": "1 to 11 tokens (max_length); got 12",
    "LanguageModel(text)(tokens(2, 3) + 12)": "from 0 to vocab_size − 1 = 12; got 13",
    "LanguageModel(text)(tokens(2, 3).float())": "got torch.float32 of shape (2, 3)",
    "LanguageModel(text)(tokens(3))": "got torch.int64 of shape (3,)",
    "LanguageModel(text).blocks[0](torch.ones(2, 5, 13), None)": "(batch, n, d_model=12); got shape (2, 5, 13)",
    "RecurrentTranslator(13, 0, 5)": "source_vocab_size=13, target_vocab_size=0, d_model=5",
    "RecurrentTranslator(13, 11, 5, pad_id=13)": "got pad_id=13, source_vocab_size=13",
    "RecurrentTranslator(13, 11, 5)(tokens(2, 3), tokens(1, 3))": "got 2 sources, 1 targets",
    "RecurrentTranslator(13, 11, 5)(tokens(2, 3), tokens(2, 0))": "at least 1 token; got 0",
    "RecurrentTranslator(13, 11, 5)(tokens(2, 3).float(), tokens(2, 3))": "got torch.float32 of shape (2, 3)",
    "RecurrentTranslator(13, 11, 5)(tokens(2, 3), tokens(2, 3) + 10)": "from 0 to vocab_size − 1 = 10; got 11",
    "MultiHeadAttention(12, 3)(*torch.ones(3, 2, 5, 13))": "(batch, n, d_model=12); got shape (2, 5, 13)",
    "MultiHeadAttention(12, 3)(torch.ones(2, 5, 12), torch.ones(2, 5, 12), torch.ones(2, 3, 12))":
        "the numbers of keys and values must be equal; got 5 keys, 3 values",
    "MultiHeadAttention(12, 3)(torch.ones(6, 5, 12), *torch.ones(2, 3, 5, 12))": "the same batch size; got 6 and 3",
    "MultiHeadAttention(12, 3).attend_heads(torch.ones(4, 3, 5, 4), *torch.ones(2, 2, 3, 5, 4), bias=zeros)":
        "queries of shape (4, 3, 5, 4), keys of shape (2, 3, 5, 4)",
    "attend(*torch.ones(3, 5, 4), is_causal=True, bias=zeros)": "got mask=False, bias=True",
    "attend(*torch.ones(3, 5, 4), mask=zeros)": "boolean (True where attention is allowed); got torch.float32",
    "scaled_dot_product_attention(*torch.ones(3, 5, 4), mask=zeros.long())": "allowed); got torch.int64",
    "AdditiveAttention(7, 7, 5)(*torch.ones(3, 2, 5, 7), mask=zeros)": "allowed); got torch.float32",
    "MultiHeadAttention(12, 3)(*torch.ones(3, 2, 5, 12), mask=zeros.int())": "allowed); got torch.int32",
    "GroupedQueryAttention(12, 3, 1)(torch.ones(2, 5, 12), mask=zeros.int())": "allowed); got torch.int32",
    "make_feed_forward('tanh', 12, 7)": "one of relu, gelu, gelu_tanh, silu, swiglu, geglu; got feed_forward='tanh'",
    "make_norm('batch', 12, 1e-5)": "one of layer, rms; got norm='batch'",
    "EncoderLayer(12, 3, 7, activation='tanh')": "silu, swiglu, geglu; got feed_forward='tanh'",
    "MultiHeadAttention(0, 1)": "d_model=0, n_heads=1",
    "GroupedQueryAttention(12, 3, 1)(torch.ones(2, 5, 13))": "(batch, n, d_model=12); got shape (2, 5, 13)",
    "FeedForward(12, 7)(torch.ones(2, 5, 13))": "the last dimension of x must be d_model=12; got shape (2, 5, 13)",
    "SwiGLU(12, 7)(torch.ones(5, 13))": "the last dimension of x must be d_model=12; got shape (5, 13)",
    "AdditiveAttention(12, 7, 5)(*torch.ones(3, 2, 5, 12))": "dimension of keys must be d_k=7; got shape (2, 5, 12)",
    "AdditiveAttention(7, 12, 5)(*torch.ones(3, 2, 5, 12))": "dimension of queries must be d_q=7; got shape (2, 5, 12)",
    "replace(small, d_ff=0)": "d_ff must be positive; got d_ff=0",
    "replace(small, source_vocab_size=0)": "n_source_tokens must be positive; got n_source_tokens=0",
    "replace(small, source_vocab_size=10, source_pad_id=10)": "from 0 to 9; got source_pad_id=10",
    "replace(small, target_pad_id=-100)": "from 0 to 12; got target_pad_id=-100",
    "replace(small, feed_forward='swish')": "one of relu, gelu, gelu_tanh, silu; got feed_forward='swish'",
    "Transformer(replace(small, n_heads=5))": "d_model=12, n_heads=5",
    "Transformer(replace(small, d_model=9))": "d=9",
    "Transformer(replace(small, dropout=1.5))": "1.5",
    "Transformer(replace(small, attention_dropout=1.5))": "between 0 and 1; got attention_dropout=1.5",
    "LanguageModel(replace(text, attention_dropout=-0.1))": "between 0 and 1; got attention_dropout=-0.1",
}  # fmt: skip
SCRIPT = f"""
from dataclasses import replace
import torch
from transformer_lab.attention.additive import AdditiveAttention
from transformer_lab.attention.dot_product import attend, scaled_dot_product_attention
from transformer_lab.layers.encoder_layer import EncoderLayer
from transformer_lab.layers.feed_forward import FeedForward, SwiGLU, make_feed_forward
from transformer_lab.layers.norms import make_norm
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig
from transformer_lab.attention.grouped_query import GroupedQueryAttention
from transformer_lab.attention.multi_head import MultiHeadAttention
from transformer_lab.models.recurrent import RecurrentTranslator
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig
small = TransformerConfig(vocab_size=13, d_model=12, n_heads=3, d_ff=17, n_layers=2, max_length=11)
text = LanguageModelConfig(vocab_size=13, d_model=12, n_heads=3, d_ff=17, n_layers=2, max_length=11)
two_vocabularies = replace(small, source_vocab_size=10)
zeros = torch.zeros(5, 5)
tokens = lambda *shape: torch.ones(shape, dtype=torch.long)
Transformer(small)(tokens(2, 3), tokens(2, 11))
for line in {list(INVALID_CALLS)}:
    try:
        eval(line)
        print("accepted")
    except ValueError as error:
        print(error)
"""


def test_error_names_the_invalid_argument():
    env = os.environ | {"TRANSFORMER_LAB_CHECK_SHAPES": "0", "PYTHONIOENCODING": "utf-8"}
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=root, env=env, capture_output=True, encoding="utf-8", check=False
    )
    assert not done.stderr
    messages = done.stdout.splitlines()
    assert len(messages) == len(INVALID_CALLS)  # one line per call
    for (line, expected), message in zip(INVALID_CALLS.items(), messages, strict=True):
        assert expected in message, line
