"""Stand-in models that run in another process, so that an attempt can only call them.

If a model's tables were in the same process, a learner's code could read the solution from them: whether the model
leaks, or which outputs depend on which inputs. A job therefore has only an ID for each model. A ``ServedModel`` sends
its inputs to a ``ModelServer``, which has the tables and returns the output. Both directions use ``plain_data``, so
neither side can make the other run code.
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
"""The function that sends a request to the server and returns its answer."""


def connect(ask: Callable[[bytes], bytes] | None) -> None:
    """Set the function that sends requests for the models of this process."""
    global _ask
    _ask = ask


def without_tables(cases: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], list[Any]]:
    """Return the fields of cases with IDs instead of models that are only called, and these models' descriptions."""
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
    """Return whether plain data stands for a served model."""
    return isinstance(value, Mapping) and value.keys() == {"served", "training"}


class ServedModel(nn.Module):
    """A model of which this process has only the ID.

    Args:
        description: Its ID and whether it starts in training mode, as returned by ``without_tables``.
    """

    def __init__(self, description: Mapping[str, Any]) -> None:
        super().__init__()
        self._number = description["served"]
        self.train(description["training"])

    def new_cache(self) -> stand_in_models.TokenCache:
        """Return an empty cache.

        Raises:
            AttributeError: The model has no cache.
        """
        self._answer("new_cache")
        return stand_in_models.TokenCache()

    def forward(self, *inputs: Any, **keywords: Any) -> Any:
        """Return the model's output, differentiable with respect to its inputs."""
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
            # use the random state that a local model would use
            "random_state": torch.get_rng_state() if self.training else None,
            "inputs": [_encoded(value) for value in inputs],
            "keywords": {name: _encoded(value) for name, value in keywords.items()},
        }
        if _ask is None:
            raise RuntimeError("no server is connected for the models of this process; call connect first")
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
    """The models, which answer requests.

    Args:
        models: Descriptions of the models, by ID.
    """

    def __init__(self, models: Sequence[Any]) -> None:
        self._models = [stand_in_models.build_model(description) for description in models]

    def answer(self, request: bytes) -> bytes:
        """Answer an untrusted request. Errors are returned as answers, too."""
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
    """Return the gradient at an input for a given gradient at the output."""
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
    """A differentiable call with one float input, compatible with ``torch.func`` and ``vmap``."""

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
    """The gradient of a call. Its own gradient is None because it depends only on the incoming gradient."""

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
