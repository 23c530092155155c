"""Test models with torch's transformations: vmap, grad, jvp, export, compile, checkpointing and parallelism."""

import os
import pickle
import subprocess
import sys
from copy import deepcopy

import pytest
import torch
from torch import Tensor, nn
from torch.distributed import destroy_process_group, init_process_group
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.func import functional_call, grad, jvp, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel
from torch.testing import assert_close
from torch.utils.checkpoint import checkpoint

from tests.helpers.small_models import CONFIGS, build, inputs
from transformer_lab.models.transformer import Transformer
from transformer_lab.training.data_parallel import run_processes

Parameters = dict[str, Tensor]


@pytest.fixture(params=CONFIGS)
def model(request) -> nn.Module:
    return build(CONFIGS[request.param])


def parameters(model: nn.Module) -> Parameters:
    return {name: parameter.detach() for name, parameter in model.named_parameters()}


def loss(model: nn.Module, values: Parameters, *tokens: Tensor) -> Tensor:
    logits = functional_call(model, values, tokens)
    return cross_entropy(logits[:, :-1].transpose(1, 2), tokens[-1][:, 1:])


def test_functional_call_uses_given_parameters(model):
    tokens = inputs(model, 2, 5)
    before, doubled = model(*tokens), {name: 2 * value for name, value in parameters(model).items()}
    twice = deepcopy(model)
    with torch.no_grad():
        for parameter in twice.parameters():
            parameter *= 2
    assert_close(functional_call(model, doubled, tokens), twice(*tokens))
    assert torch.equal(model(*tokens), before)


def test_vmap_returns_per_sentence_gradients(model):
    tokens, values = inputs(model, 3, 5), parameters(model)
    with sdpa_kernel(SDPBackend.MATH):
        per_sentence = vmap(grad(lambda p, *row: loss(model, p, *(x[None] for x in row))), (None, *[0] * len(tokens)))
        gradients = per_sentence(values, *tokens)
    for i in range(3):
        alone = torch.autograd.grad(loss(model, dict(model.named_parameters()), *(x[i, None] for x in tokens)),
                                    list(model.parameters()), allow_unused=True)  # fmt: skip
        for gradient, (name, value) in zip(alone, values.items(), strict=True):
            assert_close(gradients[name][i], torch.zeros_like(value) if gradient is None else gradient)


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")
def test_jvp_matches_the_directional_derivative(model):
    tokens, at = inputs(model, 2, 5), parameters(model)
    rng = torch.Generator().manual_seed(1)
    along = {name: torch.randn(x.shape, generator=rng, dtype=x.dtype) for name, x in at.items()}

    def logits(step: Tensor) -> Tensor:
        return functional_call(model, {name: at[name] + step * along[name] for name in at}, tokens)

    with sdpa_kernel(SDPBackend.MATH):  # the fused kernels have no forward-mode derivative
        _, slope = jvp(logits, (torch.zeros((), dtype=torch.float64),), (torch.ones((), dtype=torch.float64),))
    step = torch.tensor(1e-6, dtype=torch.float64)
    assert_close(slope, (logits(step) - logits(-step)) / (2 * step), rtol=1e-5, atol=1e-5)


@pytest.mark.slow
@pytest.mark.thorough
def test_export_and_compile_capture_one_dynamic_graph():
    names = [*CONFIGS]
    environment = {name: value for name, value in os.environ.items() if name != "TRANSFORMER_LAB_CHECK_SHAPES"}
    command = [sys.executable, "-m", "tests.transformer_lab.models.capture_graphs", *names]
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [f"{action} {name}" for name in names for action in ("exported", "compiled")]


@pytest.mark.parametrize("assign", [False, True], ids=["copied", "assigned"])
def test_meta_model_loads_parameters_from_another_model(model, assign):
    with torch.device("meta"):
        empty = type(model)(model.config).eval()
    empty.to(torch.float64).to_empty(device="cpu")
    empty.load_state_dict(model.state_dict(), assign=assign)
    tokens = inputs(model, 2, 5)
    assert torch.equal(empty(*tokens), model(*tokens))
    if not assign:  # with assign=True, torch assigns a separate tensor to each name, which unties shared parameters
        assert len(list(empty.parameters())) == len(list(model.parameters()))


@pytest.mark.parametrize(
    "copy", [deepcopy, lambda model: pickle.loads(pickle.dumps(model))], ids=["deepcopy", "pickle"]
)
def test_copy_is_equal_tied_and_independent(model, copy):
    tokens, twin = inputs(model, 2, 5), copy(model)
    before = model(*tokens)
    assert torch.equal(twin(*tokens), before)
    assert len(list(twin.parameters())) == len(list(model.parameters()))
    with torch.no_grad():
        for parameter in twin.parameters():
            parameter.zero_()
    assert torch.equal(model(*tokens), before)


@pytest.mark.filterwarnings("ignore:Mismatch dtype between input and weight:UserWarning")
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_matches_float64_approximately(model, dtype):
    tokens = inputs(model, 2, 5)
    with torch.autocast("cpu", dtype):
        mixed = model.float()(*tokens)
    half = model.to(dtype)(*tokens)
    exact = model.double()(*tokens)
    assert half.dtype == dtype
    for approximate in (mixed, half):
        assert_close(approximate.double(), exact, rtol=0.05, atol=0.05)


def test_checkpointing_gives_the_same_gradients(model):
    tokens = inputs(model, 2, 5)
    layers = model.decoder.layers if isinstance(model, Transformer) else model.blocks
    model(*tokens).square().mean().backward()
    expected = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    model.zero_grad()
    for layer in layers:
        layer.forward = lambda *args, forward=layer.forward: checkpoint(forward, *args, use_reentrant=False)
    model(*tokens).square().mean().backward()
    assert_close({name: p.grad for name, p in model.named_parameters() if p.grad is not None}, expected)


def test_fsdp_gives_the_same_loss_and_gradients(model, tmp_path):
    tokens, twin = inputs(model, 2, 5), deepcopy(model)
    init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        fully_shard(twin, mesh=init_device_mesh("cpu", (1,)))
        for each in (model, twin):
            each(*tokens).square().mean().backward()
        for ours, theirs in zip(model.parameters(), twin.parameters(), strict=True):
            assert (ours.grad is None) == (theirs.grad is None)
            if ours.grad is not None:
                assert_close(theirs.grad.full_tensor(), ours.grad)
    finally:
        destroy_process_group()


def gradients(model: nn.Module, tokens: tuple[Tensor, ...]) -> list[Tensor | None]:
    model(*tokens).square().mean().backward()
    return [parameter.grad for parameter in model.parameters()]


def gradients_of_half(world, config) -> list[Tensor | None]:
    """Compute the gradients in one of two processes. Each process takes every other sentence, and torch averages."""
    model = build(config)
    wrapped = DistributedDataParallel(model, find_unused_parameters=True)  # needed if an expert receives no token
    return gradients(wrapped, tuple(x[world.rank :: world.size] for x in inputs(model, 4, 5)))


def gradients_of_halves(world) -> dict[str, list[Tensor | None]]:
    return {name: gradients_of_half(world, config) for name, config in CONFIGS.items()}


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="on Windows, gloo needs an explicit network device")
def test_two_processes_match_gradients_from_one_process():
    reports = run_processes(gradients_of_halves, seconds=600)
    for name, config in CONFIGS.items():
        model = build(config)
        alone = gradients(model, inputs(model, 4, 5))
        for report in reports:
            assert_close(report[name], alone)
