"""Marian, GPT-2 and Llama from Hugging Face's ``transformers``, built from configurations."""

from typing import Any

import torch
import transformers
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, MarianConfig, MarianMTModel

from benchmarks.contestant import Contestant, LanguageContestant
from benchmarks.work import BEGIN, N_NEW_TOKENS, PAD, TOP_K, Batch, Work, n_kv_heads

transformers.logging.set_verbosity_error()


class Marian(Contestant):
    """The Transformer of the paper, with cached decoding."""

    name = "HF Marian"
    tasks = ("train", "forward", "evaluate", "greedy", "beam")

    def __init__(self, work: Work) -> None:
        size, sides = work.size, ("encoder", "decoder")
        config = MarianConfig(
            vocab_size=size.vocab_size, d_model=size.d_model, max_position_embeddings=size.max_length,
            **{f"{side}_{option}": n for side in sides for option, n in (
                ("layers", size.n_layers), ("attention_heads", size.n_heads), ("ffn_dim", size.d_ff))},
            dropout=work.dropout, attention_dropout=0.0, activation_dropout=0.0, activation_function="relu",
            scale_embedding=True, pad_token_id=PAD, decoder_start_token_id=BEGIN, eos_token_id=None,
            forced_eos_token_id=None,
        )  # fmt: skip
        self.model = MarianMTModel(config)

    def logits(self, batch: Batch) -> Tensor:
        """Run the model."""
        return self.model(
            input_ids=batch.source, attention_mask=(batch.source != PAD).long(), decoder_input_ids=batch.target,
            use_cache=False,
        ).logits  # fmt: skip

    def generate(self, source: Tensor, beams: int) -> Tensor:
        """Generate exactly ``N_NEW_TOKENS`` tokens for each source."""
        return self.model.generate(
            source, attention_mask=(source != PAD).long(), num_beams=beams, do_sample=False,
            max_new_tokens=N_NEW_TOKENS,
        )  # fmt: skip

    def greedy(self, source: Tensor) -> Tensor:
        """Generate with 1 beam."""
        return self.generate(source, 1)

    def beam(self, source: Tensor) -> Tensor:
        """Generate with 4 beams."""
        return self.generate(source, 4)


class GPT2(LanguageContestant):
    """GPT-2, with the same architecture as ``OurLanguageModel``."""

    name = "HF GPT-2"
    tasks = (*LanguageContestant.tasks, "greedy LM", "sample LM", "prefill LM")

    def __init__(self, work: Work) -> None:
        size = work.size
        self.model = GPT2LMHeadModel(GPT2Config(
            vocab_size=size.vocab_size, n_positions=size.max_length, n_embd=size.d_model, n_layer=size.n_layers,
            n_head=size.n_heads, n_inner=size.d_ff, resid_pdrop=work.dropout, embd_pdrop=work.dropout, attn_pdrop=0.0,
            eos_token_id=None,
        ))  # fmt: skip

    def logits(self, batch: Batch) -> Tensor:
        """Run the model. Padding comes last, so no mask is needed."""
        return self.model(input_ids=batch.target, use_cache=False).logits

    def greedy(self, source: Tensor) -> Tensor:
        """Generate exactly ``N_NEW_TOKENS`` tokens with the cache."""
        return generate(self.model, source)

    def sample(self, source: Tensor) -> Tensor:
        """Sample exactly ``N_NEW_TOKENS`` tokens with the cache."""
        return generate(self.model, source, do_sample=True, top_k=TOP_K)

    def prefill(self, source: Tensor) -> Tensor:
        """Read the prompt and generate one token."""
        return generate(self.model, source, 1)


class Llama(LanguageContestant):
    """Llama with roughly GPT-2's number of parameters: rotary positions, RMSNorm, and SwiGLU at 2/3 of the width."""

    name = "HF Llama"
    known_difference = "no dropout, no biases, rotary positions, three matrices of 2/3 the width"

    def __init__(self, work: Work) -> None:
        size = work.size
        self.model = LlamaForCausalLM(LlamaConfig(
            vocab_size=size.vocab_size, max_position_embeddings=size.max_length, hidden_size=size.d_model,
            num_hidden_layers=size.n_layers, num_attention_heads=size.n_heads, num_key_value_heads=n_kv_heads(work),
            intermediate_size=2 * size.d_ff // 3, tie_word_embeddings=True, attention_dropout=0.0, eos_token_id=None,
        ))  # fmt: skip

    def logits(self, batch: Batch) -> Tensor:
        """Run the model. Padding comes last, so no mask is needed."""
        return self.model(input_ids=batch.target, use_cache=False).logits


class GeneratingLlama(Llama):
    """Llama with the same architecture as ``OurLlama``, in the tasks that ``OurLlama`` runs."""

    tasks = ("train Llama", "greedy Llama", "greedy grouped", "prefill grouped")
    known_difference = ""

    greedy, prefill = GPT2.greedy, GPT2.prefill


def generate(model: Any, prompts: Tensor, n_new: int = N_NEW_TOKENS, do_sample: bool = False, **options: int) -> Tensor:
    """Return the ``n_new`` tokens that continue each prompt."""
    texts = model.generate(
        prompts, attention_mask=torch.ones_like(prompts), do_sample=do_sample, max_new_tokens=n_new, pad_token_id=PAD,
        **options,
    )  # fmt: skip
    return texts[:, prompts.shape[1] :]
