"""Calls to every public function and module with invalid and unusual inputs. Run this file as a program to print the
outcomes. Like a user's program, it does not check shape annotations, so all errors come from the library itself.
"""

import json
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

import transformer_lab as lab
from transformer_lab.data.tokenizers import character_tokenizer

LIBRARY = str(Path(lab.__file__).parent)
BATCH, N, N_KEY, D_MODEL, N_HEADS, D_FF, VOCAB = 2, 5, 7, 8, 2, 12, 13
STACK = {"d_model": D_MODEL, "n_heads": N_HEADS, "d_ff": D_FF, "n_layers": 2, "max_length": 16}
TRANSLATOR = lab.TransformerConfig(VOCAB, **STACK, dropout=0.0)
TEXT = lab.LanguageModelConfig(VOCAB, **STACK, dropout=0.0, positions="rotary")


@dataclass
class Call:
    """A public function or module with valid arguments.

    Args:
        function: The function or module to call.
        inputs: The tensor arguments by name.
        options: The remaining arguments by name.
        any_rank: Whether the inputs may have any number of dimensions.
        decodes: Whether the function returns token IDs that a model generates.
        model: The model that the function calls, or None.
    """

    function: Callable[..., Any]
    inputs: dict[str, Tensor]
    options: dict[str, Any] = field(default_factory=dict)
    any_rank: bool = False
    decodes: bool = False
    model: nn.Module | None = None

    def __call__(self, **changed: Any) -> Any:
        """Call the function with some inputs replaced, and return its first result."""
        result = self.function(**{**self.inputs, **changed}, **self.options)
        return result[0] if isinstance(result, tuple) else result


def floats(*shape: int) -> Tensor:
    return torch.randn(*shape)


def ids(*shape: int) -> Tensor:
    return torch.randint(3, VOCAB, shape)


def module(model: nn.Module, **inputs: Tensor) -> Call:
    return Call(model.eval(), inputs, any_rank=isinstance(model, lab.FeedForward), model=model)


def decoding(function: Callable[..., Any], model: nn.Module, inputs: dict[str, Tensor], **options: Any) -> Call:
    return Call(function, inputs, {"model": model.eval(), **options}, decodes=True, model=model)


def tensor_calls() -> dict[str, Call]:
    """Return a valid call to every public function and module that takes tensors."""
    torch.manual_seed(0)
    heads = BATCH, N_HEADS
    qkv = {"q": floats(*heads, N, 4), "k": floats(*heads, N_KEY, 4), "v": floats(*heads, N_KEY, 4)}
    x, memory = floats(BATCH, N, D_MODEL), floats(BATCH, N_KEY, D_MODEL)
    ends = {"bos_id": 1, "eos_id": 2, "max_length": 6}
    return {
        "attend": Call(lab.attend, qkv),
        "scaled_dot_product_attention": Call(lab.scaled_dot_product_attention, qkv),
        "AdditiveAttention": module(
            lab.AdditiveAttention(D_MODEL, D_MODEL, 6), queries=x, keys=memory, values=floats(BATCH, N_KEY, 3)
        ),
        "MultiHeadAttention": module(
            lab.MultiHeadAttention(D_MODEL, N_HEADS), query=x, key=memory, value=floats(BATCH, N_KEY, D_MODEL)
        ),
        "GroupedQueryAttention": module(lab.GroupedQueryAttention(D_MODEL, N_HEADS, 1), x=x),
        "FeedForward": module(lab.FeedForward(D_MODEL, D_FF), x=x),
        "EncoderLayer": module(lab.EncoderLayer(D_MODEL, N_HEADS, D_FF), x=x),
        "DecoderLayer": module(lab.DecoderLayer(D_MODEL, N_HEADS, D_FF), x=x, memory=memory),
        "Encoder": module(lab.Encoder(VOCAB, **STACK), tokens=ids(BATCH, N)),
        "Decoder": module(lab.Decoder(VOCAB, **STACK), tokens=ids(BATCH, N), memory=memory),
        "Transformer": module(lab.Transformer(TRANSLATOR), source=ids(BATCH, N_KEY), target=ids(BATCH, N)),
        "LanguageModel": module(lab.LanguageModel(TEXT), tokens=ids(BATCH, N)),
        "padding_mask": Call(lab.padding_mask, {"tokens": ids(BATCH, N)}, {"pad_id": 0}),
        "decoder_mask": Call(lab.decoder_mask, {"tokens": ids(BATCH, N)}, {"pad_id": 0}),
        "greedy_decode": decoding(lab.greedy_decode, lab.Transformer(TRANSLATOR), {"source": ids(BATCH, N)}, **ends),
        "beam_search": decoding(
            lab.beam_search, lab.Transformer(TRANSLATOR), {"source": ids(BATCH, N)}, **ends, beam_size=3
        ),
        "generate": decoding(
            lab.generate, lab.LanguageModel(TEXT), {"tokens": ids(BATCH, N)}, max_new_tokens=4, temperature=0.0
        ),
        "generate a translation": decoding(
            lab.generate, lab.Transformer(TRANSLATOR), {"tokens": ids(BATCH, 1), "source": ids(BATCH, N)},
            max_new_tokens=4, temperature=0.0,
        ),
    }  # fmt: skip


def wrong_inputs(call: Call) -> Iterator[tuple[str, str, Tensor | list[Any], list[str]]]:
    """Yield a kind of fault, the name of an input, an invalid value for it, and texts that the error must contain."""
    for name, x in call.inputs.items():
        yield "list", name, x.tolist(), ["list"]
        other = x.long() if x.is_floating_point() else x.float()
        yield "dtype", name, other, [str(other.dtype)]
        yield "boolean", name, x > 0, ["torch.bool"]
        if not call.any_rank:
            yield "one dimension", name, x.flatten(), [str((x.numel(),))]
            yield "no dimensions", name, x.flatten()[0], ["()"]
            yield "too many dimensions", name, x[None, None, None], [str((1, 1, 1, *x.shape))]
        if x.is_floating_point():
            if name not in ("v", "values"):  # the width of values may differ from the width of queries and keys
                yield "width", name, x[..., 1:], [str((*x.shape[:-1], x.shape[-1] - 1))]
            if call.model is not None:
                yield "float64", name, x.double(), ["torch.float64", "torch.float32"]
        elif call.model is not None:
            yield "token id", name, x + VOCAB, [str(int(x.max()) + VOCAB)]
        if call.model is not None or len(call.inputs) > 1:
            yield "device", name, x.to("meta"), ["meta", "cpu"]
        if len(call.inputs) > 1:
            yield "batch size", name, x[:1], ["1", "2"]


def special_calls(public: str) -> Iterator[tuple[str, Callable[[], bool], list[str]]]:
    """Yield unusual calls to a public function or module.

    Yields:
        A description, a function that makes the call and returns whether the result is correct, and the texts that the
        error must contain. The list of texts is empty if the call must succeed.
    """
    call = tensor_calls()[public]

    @cache
    def expected() -> Tensor:  # computed on demand, because some tests need only the names of the calls
        return call()

    yield "an empty batch", lambda: len(call(**{name: x[:0] for name, x in call.inputs.items()})) == 0, []

    def compiled() -> Call:
        if call.model is None:
            return Call(torch.compile(call.function, backend="eager"), call.inputs, call.options)
        model = torch.compile(call.model, backend="eager")
        return with_model(call, model)

    yield "compiled", lambda: same(compiled()(), expected()), []
    for dtype in (torch.float16, torch.bfloat16):
        yield f"{dtype}", lambda d=dtype: close(converted(public, dtype=d)(), expected()), []
    on_meta = partial(converted, public, device="meta")
    if call.decodes:
        yield "all on the meta device", lambda: bool(on_meta()()), ["meta"]
        for value in (torch.nan, torch.inf):
            yield f"{value} among the parameters", lambda v=value: bool(broken(public, v)()), ["nan"]
    else:
        yield "all on the meta device", lambda: on_meta()().is_meta and on_meta()().shape == expected().shape, []
    for name, x in call.inputs.items():
        for value in (torch.nan, torch.inf, -torch.inf) if x.is_floating_point() else ():
            yield f"{value} in a row of {name}", lambda n=name, v=value: changes_one_row(call, n, v, expected()), []


def with_model(call: Call, model: nn.Module) -> Call:
    """Return the same call with a different model."""
    if "model" in call.options:
        return Call(call.function, call.inputs, call.options | {"model": model})
    return Call(model, call.inputs)


def converted(public: str, dtype: torch.dtype = torch.float32, device: str = "cpu") -> Call:
    """Return a call whose parameters and inputs are converted to a dtype and device."""
    call = tensor_calls()[public]
    if call.model is not None:
        call.model.to(device, dtype)
    moved = {name: x.to(device, dtype if x.is_floating_point() else x.dtype) for name, x in call.inputs.items()}
    return Call(call.function, moved, call.options)


def broken(public: str, value: float) -> Call:
    """Return a call with a model whose embeddings are filled with NaN or infinity."""
    call = tensor_calls()[public]
    assert call.model is not None
    for embedding in (m for m in call.model.modules() if isinstance(m, nn.Embedding)):
        embedding.weight.fill_(value)
    return call


def changes_one_row(call: Call, name: str, value: float, expected: Tensor) -> bool:
    """Return whether writing a value to the first row of an input changes only the first row of the result."""
    x = call.inputs[name].clone()
    x[0, ..., 0] = value
    result = call(**{name: x})
    return same(result[1:], expected[1:]) and not torch.equal(result[0], expected[0])


def same(result: Tensor, expected: Tensor) -> bool:
    return result.dtype == expected.dtype and torch.allclose(result, expected, atol=1e-6)


def close(result: Tensor, expected: Tensor) -> bool:
    """Return whether a half-precision result is close to a float32 result. For token IDs, compare only the shapes."""
    if not result.is_floating_point():
        return result.shape == expected.shape
    return result.element_size() == 2 and torch.allclose(result.float(), expected, atol=0.06, rtol=0.06)


def other_calls() -> dict[str, tuple[Callable[[], Any], str]]:
    """Return calls without tensors and calls with masks, each with a text that the error must contain."""
    attention, x = lab.MultiHeadAttention(D_MODEL, N_HEADS).eval(), floats(BATCH, N, D_MODEL)
    model = lab.LanguageModel(TEXT).eval()
    compiled = torch.compile(model, backend="eager")
    broken_text = text_generator()
    nn.init.constant_(broken_text.model.head.weight, torch.nan)
    return {
        "attend: mask with a different number of keys": (lambda: attention(x, x, x, mask(N, N + 1)), "(5, 6)"),
        "attend: mask with a different batch size": (lambda: attention(x, x, x, mask(3, 1, N, N)), "(3, 1, 5, 5)"),
        "attend: mask with a different number of heads": (
            lambda: attention(x, x, x, mask(BATCH, 3, N, N)),
            "(2, 3, 5, 5)",
        ),
        "attend: mask on another device": (lambda: attention(x, x, x, mask(N, N).to("meta")), "meta"),
        "attend: mask of integers": (lambda: attention(x, x, x, mask(N, N).int()), "torch.int32"),
        "attend: bias of float64": (lambda: attention(x, x, x, mask(N, N).double()), "torch.float64"),
        "greedy_decode: language model": (lambda: lab.greedy_decode(model, ids(2, 3), 1, 2, 3), "LanguageModel"),
        "beam_search: language model": (lambda: lab.beam_search(model, ids(2, 3), 1, 2, 3, 2), "LanguageModel"),
        "causal_mask: fractional length": (lambda: lab.causal_mask(2.5), "n_query=2.5"),
        "causal_mask: text": (lambda: lab.causal_mask("3"), "n_query='3'"),
        "causal_mask: negative": (lambda: lab.causal_mask(-1), "n_query=-1"),
        "causal_mask: no positions": (lambda: lab.causal_mask(0).shape == (0, 0), ""),
        "causal_mask: on the meta device": (lambda: lab.causal_mask(3, device="meta").is_meta, ""),
        "sinusoidal_encoding: fractional length": (lambda: lab.sinusoidal_encoding(2.5, 8), "length=2.5"),
        "sinusoidal_encoding: odd width": (lambda: lab.sinusoidal_encoding(3, 7), "d=7"),
        "sinusoidal_encoding: base NaN": (lambda: lab.sinusoidal_encoding(3, 8, torch.nan), "base=nan"),
        "sinusoidal_encoding: base infinity": (lambda: lab.sinusoidal_encoding(3, 8, torch.inf), "base=inf"),
        "sinusoidal_encoding: no positions": (lambda: lab.sinusoidal_encoding(0, 8).shape == (0, 8), ""),
        "TransformerConfig: float width": (lambda: lab.TransformerConfig(13, d_model=8.0), "d_model=8.0"),
        "TransformerConfig: text": (lambda: lab.TransformerConfig("13"), "vocab_size='13'"),
        "TransformerConfig: dropout NaN": (lambda: lab.TransformerConfig(13, dropout=torch.nan), "dropout=nan"),
        "LanguageModelConfig: float number of heads": (
            lambda: lab.LanguageModelConfig(13, n_kv_heads=1.0),
            "n_kv_heads=1.0",
        ),
        "LanguageModelConfig: dropout": (lambda: lab.LanguageModelConfig(13, attention_dropout=2), "dropout=2"),
        "LanguageModelConfig: NumPy integer": (lambda: lab.LanguageModelConfig(np.int64(13)).d_ff == 3072, ""),
        "initialize: compiled": (lambda: lab.initialize(torch.compile(lab.Transformer(TRANSLATOR))) is None, ""),
        "initialize: on the meta device": (lambda: lab.initialize(lab.Transformer(TRANSLATOR).to("meta")) is None, ""),
        "initialize: float16": (lambda: lab.initialize(lab.Transformer(TRANSLATOR).half()) is None, ""),
        "record_attention: compiled": (lambda: same_weights(compiled, model), ""),
        "record_attention: on the meta device": (lambda: recorded(lab.LanguageModel(TEXT).to("meta"))[-1].is_meta, ""),
        "record_attention: float16": (lambda: recorded(lab.LanguageModel(TEXT).half())[-1].dtype == torch.float16, ""),
        "trace_shapes: compiled": (lambda: rows(compiled) == rows(model), ""),
        "trace_shapes: on the meta device": (lambda: rows(lab.LanguageModel(TEXT).to("meta")) == rows(model), ""),
        "TextGenerator: string instead of a list": (lambda: text_generator().generate("abc"), "'abc'"),
        "TextGenerator: number instead of a text": (lambda: text_generator().generate([3]), "int"),
        "TextGenerator: bytes instead of a text": (lambda: list(text_generator().stream(b"abc")), "bytes"),
        "TextGenerator: no texts": (lambda: text_generator().generate([]) == [], ""),
        "TextGenerator: empty text": (lambda: text_generator().generate([""]), "the prompt is empty"),
        "TextGenerator: NaN among the parameters": (lambda: broken_text.generate(["abc"], 3), "nan"),
        "TextGenerator: float16": (lambda: len(text_generator(torch.float16).generate(["abc"], 3)) == 1, ""),
        "TextGenerator: compiled": (lambda: continued(compile_text=True) == continued(), ""),
        "load_translator: no folder": (lambda: lab.load_translator("nowhere"), "nowhere"),
    }


def mask(*shape: int) -> Tensor:
    return torch.ones(shape, dtype=torch.bool)


def recorded(model: nn.Module) -> list[Tensor]:
    """Return the attention weights of each layer for a fixed text."""
    with lab.record_attention(model) as weights:
        model.eval()(torch.arange(N, device=next(model.parameters()).device)[None])
    return [weights[f"blocks.{i}.self_attention"] for i in range(STACK["n_layers"])]


def same_weights(first: nn.Module, second: nn.Module) -> bool:
    return all(map(same, recorded(first), recorded(second)))


def rows(model: nn.Module) -> list[list[Any]]:
    tokens = torch.arange(N, device=next(model.parameters()).device)[None]
    return lab.trace_shapes(model, tokens).to_numpy().tolist()


def text_generator(dtype: torch.dtype = torch.float32) -> lab.TextGenerator:
    torch.manual_seed(0)
    tokenizer = character_tokenizer(["abcdefgh"])
    config = replace(TEXT, vocab_size=tokenizer.get_vocab_size())
    return lab.TextGenerator(lab.LanguageModel(config).to(dtype), tokenizer)


def continued(compile_text: bool = False) -> list[str]:
    generator = text_generator()
    if compile_text:
        generator.model = torch.compile(generator.model, backend="eager")
    return generator.generate(["abc", "h"], 5, temperature=0.0)


def outcome(call: Callable[[], Any]) -> list[str]:
    """Return a call's error type and message and whether the library raised the error, or describe its result."""
    try:
        result = call()
    except Exception as error:  # the test checks the type
        [*_, last] = traceback.extract_tb(error.__traceback__)
        return [type(error).__name__, str(error), "ours" if last.filename.startswith(LIBRARY) else last.filename]
    return ["correct" if result is True else "returned", str(getattr(result, "shape", result)), ""]


def calls() -> Iterator[tuple[str, Callable[[], Any], list[str]]]:
    """Yield the name of each call, the call, and the texts that its error must contain, or [] if it must succeed."""
    for public, call in tensor_calls().items():
        for kind, name, x, expected in wrong_inputs(call):
            yield f"{public}: {kind} of {name}", partial(call, **{name: x}), expected
        for kind, special, expected in special_calls(public):
            yield f"{public}: {kind}", special, expected
    for name, (other, expected_text) in other_calls().items():
        yield name, other, [expected_text] if expected_text else []


def names() -> list[str]:
    """Return the names of all calls."""
    return [name for name, _, _ in calls()]


if __name__ == "__main__":
    with torch.no_grad():
        json.dump({name: [*outcome(call), expected] for name, call, expected in calls()}, sys.stdout)
