"""Stand-ins that answer from another process, so that all that can be done with them is to call them.

A model whose tables lie beside a learner's code can be read instead of called, and its tables say at once what the
answer should find out: whether it leaks, which outputs depend on which inputs. So a job has only the numbers of its
models. What a ``ServedModel`` is called with goes to whoever has the tables, a ``ModelServer``, and the output comes
back, as ``plain_data``: neither side can make the other run anything.
"""

import builtins
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from transformer_course.running import stand_in_models
from transformer_course.running.crash_report import message_of
from transformer_course.running.plain_data import pack, to_plain_data, unpack

_ask: Callable[[bytes], bytes] | None = None
"""What takes a request to the server, and brings its answer."""


def connect(ask: Callable[[bytes], bytes] | None) -> None:
    """Say how the models of this process are asked."""
    global _ask
    _ask = ask


def without_tables(cases: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], list[Any]]:
    """Return the fields of cases with a number for each model that is only called, and these models' descriptions."""
    models: list[Any] = []

    def numbered(value: Any) -> Any:
        if not (stand_in_models.is_description(value) and stand_in_models.is_only_called(value)):
            return value
        models.append(value)
        return {"served": len(models) - 1, "training": stand_in_models.build_model(value).training}

    text = []
    for case in cases:
        given = {kind: {name: numbered(value) for name, value in case[kind].items()} for kind in ("inputs", "keywords")}
        text.append({**case, **given})
    return text, models


def is_served(value: object) -> bool:
    """Return whether plain data stands for a model that is served."""
    return isinstance(value, Mapping) and value.keys() == {"served", "training"}


class ServedModel(nn.Module):
    """A model of which this process has only the number.

    Args:
        description: Its number, and whether it comes in training mode, as ``without_tables`` gives them.
    """

    def __init__(self, description: Mapping[str, Any]) -> None:
        super().__init__()
        self._number = description["served"]
        self.train(description["training"])

    def new_cache(self) -> stand_in_models.TokenCache:
        """Return an empty cache.

        Raises:
            AttributeError: The model has none.
        """
        self._answer("new_cache")
        return stand_in_models.TokenCache()

    def forward(self, *inputs: Any, **keywords: Any) -> Any:
        """Return what the model returns, with the gradients of its inputs."""
        floats = [i for i, value in enumerate(inputs) if isinstance(value, Tensor) and value.is_floating_point()]
        if len(floats) == 1:
            return _Call.apply(self, floats[0], inputs[floats[0]], *inputs)  # type: ignore[no-untyped-call]
        return self._answer("call", *inputs, **keywords)

    def _answer(self, what: str, *inputs: Any, **keywords: Any) -> Any:
        caches = [v for v in (*inputs, *keywords.values()) if isinstance(v, stand_in_models.TokenCache)]
        request = {
            "what": what,
            "model": self._number,
            "training": self.training,
            "random_state": torch.get_rng_state() if self.training else None,  # it draws as it would do here
            "inputs": [_encoded(value) for value in inputs],
            "keywords": {name: _encoded(value) for name, value in keywords.items()},
        }
        if _ask is None:
            raise RuntimeError("nobody serves the models of this process")
        answer = unpack(_ask(pack(request)))
        if answer["random_state"] is not None:
            torch.set_rng_state(answer["random_state"])
        for cache, tokens in zip(caches, answer["caches"], strict=False):
            cache.tokens = tokens
        if "error" in answer:
            kind, message = answer["error"]
            error = getattr(builtins, kind, RuntimeError)
            raise (error if isinstance(error, type) and issubclass(error, Exception) else RuntimeError)(message)
        return answer["output"]


class ModelServer:
    """Has the models, and answers for them.

    Args:
        models: Their descriptions, by number.
    """

    def __init__(self, models: Sequence[Any]) -> None:
        self._models = [stand_in_models.build_model(description) for description in models]

    def answer(self, request: bytes) -> bytes:
        """Answer a request, which is untrusted; whatever goes wrong is an answer, too."""
        caches: list[stand_in_models.TokenCache] = []
        try:
            asked = unpack(request)
            model = self._models[asked["model"]].train(asked["training"])
            inputs = [_decoded(value, caches) for value in asked["inputs"]]
            keywords = {name: _decoded(value, caches) for name, value in asked["keywords"].items()}
            with torch.random.fork_rng(devices=[]), torch.set_grad_enabled(asked["what"] == "gradient"):
                if asked["random_state"] is not None:
                    torch.set_rng_state(asked["random_state"])
                output = _OPERATIONS[asked["what"]](model, *inputs, **keywords)
                state = None if asked["random_state"] is None else torch.get_rng_state()
            text = {"output": output, "random_state": state}
        except Exception as error:
            text = {"error": [type(error).__name__, message_of(error)], "random_state": None}
        return pack({**text, "caches": [cache.tokens for cache in caches]})


def _call(model: nn.Module, *inputs: Any, **keywords: Any) -> Any:
    return model(*inputs, **keywords)


def _new_cache(model: Any) -> None:
    model.new_cache()


def _gradient(model: nn.Module, place: int, arrives: Tensor, *inputs: Any) -> Tensor:
    """Return the gradient at an input, for one that arrives at the output."""
    given = [*inputs]
    given[place] = given[place].detach().requires_grad_()
    return torch.autograd.grad(model(*given), given[place], arrives)[0]


_OPERATIONS: dict[str, Callable[..., Any]] = {"call": _call, "new_cache": _new_cache, "gradient": _gradient}


def _encoded(value: Any) -> Any:
    if isinstance(value, stand_in_models.TokenCache):
        return {"token_cache": value.tokens}
    return to_plain_data(value)


def _decoded(value: Any, caches: list[stand_in_models.TokenCache]) -> Any:
    if isinstance(value, dict) and value.keys() == {"token_cache"}:
        caches.append(cache := stand_in_models.TokenCache())
        cache.tokens = value["token_cache"]
        return cache
    return value


class _Call(torch.autograd.Function):
    """A call with one input of floats, through which gradients pass; ``torch.func`` and ``vmap`` take it as well."""

    @staticmethod
    def forward(model: ServedModel, place: int, x: Tensor, *inputs: Any) -> Any:
        return model._answer("call", *inputs[:place], x, *inputs[place + 1 :])

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.model, ctx.place, _, *ctx.others = inputs
        ctx.save_for_backward(inputs[2])

    @staticmethod
    def backward(ctx: Any, arrives: Tensor) -> Any:
        [x] = ctx.saved_tensors
        found = _Gradient.apply(ctx.model, ctx.place, arrives, x, *ctx.others)  # type: ignore[no-untyped-call]
        return None, None, found, *[None] * len(ctx.others)

    @staticmethod
    def vmap(info: Any, in_dims: Any, model: ServedModel, place: int, x: Tensor, *inputs: Any) -> Any:
        rows = [_Call.apply(model, place, row, *inputs) for row in x.unbind(in_dims[2])]  # type: ignore[no-untyped-call]
        return torch.stack(rows), 0


class _Gradient(torch.autograd.Function):
    """The gradient of a call. None passes through it: of these models, it depends on nothing but what arrives."""

    @staticmethod
    def forward(model: ServedModel, place: int, arrives: Tensor, x: Tensor, *inputs: Any) -> Any:
        return model._answer("gradient", place, arrives, *inputs[:place], x, *inputs[place + 1 :])

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None: ...

    @staticmethod
    def vmap(info: Any, in_dims: Any, model: ServedModel, place: int, arrives: Tensor, x: Tensor, *inputs: Any) -> Any:
        def rows(value: Tensor, dim: int | None) -> Sequence[Tensor]:
            return [value] * info.batch_size if dim is None else value.unbind(dim)

        pairs = zip(rows(arrives, in_dims[2]), rows(x, in_dims[3]), strict=True)
        found = [_Gradient.apply(model, place, *pair, *inputs) for pair in pairs]  # type: ignore[no-untyped-call]
        return torch.stack(found), 0
