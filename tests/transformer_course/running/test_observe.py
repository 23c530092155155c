"""Tests for observing a call's outputs, changed arguments, gradients, randomness and notebook variables."""

import contextlib
import time
import warnings

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from transformer_course.exercises import every_exercise
from transformer_course.running import stand_in_models
from transformer_course.running.case import Case
from transformer_course.running.observe import observation_of, observe, observe_all
from transformer_course.running.plain_data import same
from transformer_course.running.record import call_inputs, record
from transformer_course.running.stand_in_models import describe_model
from transformer_course.running.time_limit import Stopwatch, TookTooLong, time_limit

X = torch.tensor([1.0, 2.0, 3.0])
ONE = Case({"x": X}, "one input")


def differentiated(attempt, **keywords):
    return observe(attempt, Case({"x": X}, "", **keywords))


def test_output_is_plain_data():
    assert torch.equal(observe(lambda x: x.flip(0).expand(2, 3).mT, ONE)["output"], X.flip(0).expand(2, 3).mT)
    assert observe(lambda x: (1, [True, None, "a"]), ONE)["output"] == (1, [True, None, "a"])
    assert observe(lambda x: nn.Linear, ONE)["output"] == {"not_plain": "type"}


def test_detects_changed_arguments_without_affecting_later_calls():
    case = Case({"x": X.clone(), "y": X.clone()}, "", keywords={"mask": X > 1})
    assert observe(lambda x, y, mask: x + y, case)["changed"] == []
    assert observe(lambda x, y, mask: y.mul_(2), case)["changed"] == ["y"]
    assert observe(lambda x, y, mask: mask.logical_not_(), case)["changed"] == ["mask"]
    assert torch.equal(case.inputs["y"], X)


def test_detects_model_left_in_different_mode():
    case = every_exercise()["parameter_groups"].cases(0)[0]
    assert observe(lambda model, decay: model.eval() and None, case)["changed"] == ["model.training"]
    assert observe(lambda model, decay: model.eval().train() and None, case)["changed"] == []


def test_distinguishes_parameters_from_copies():
    case = every_exercise()["parameter_groups"].cases(0)[0]
    everything = observe(lambda model, decay: [{"params": list(model.parameters())}], case)
    named = observe(lambda model, decay: [{"params": list(model.named_parameters())}], case)
    copied = observe(lambda model, decay: [{"params": [p.data for p in model.parameters()]}], case)
    cloned = observe(lambda model, decay: [{"params": [p.clone() for p in model.parameters()]}], case)
    twice = observe(lambda model, decay: [{"params": [*model.parameters()] * 2}], case)
    assert everything["own_parameters"] == named["own_parameters"] == len(everything["output"][0]["params"]) > 0
    assert copied["own_parameters"] == cloned["own_parameters"] == twice["own_parameters"] == 0
    assert same(copied["output"], everything["output"]) and same(cloned["output"], everything["output"])
    assert "own_parameters" not in observe(lambda model, decay: True, case)


def test_rejects_forged_own_parameter_records():
    """The values after a gradient step prove which parameters were returned, so a job cannot claim more parameters."""
    case = every_exercise()["parameter_groups"].cases(5)[0]
    honest = record(lambda model, decay: [{"params": list(model.parameters())}], case)
    cloned = record(lambda model, decay: [{"params": [p.clone() for p in model.parameters()]}], case)
    before = [p.detach() for p in stand_in_models.build_model(case.inputs["model"]).parameters()]
    assert observation_of(honest, case)["own_parameters"] == len(before)
    for forged in ([0, 1], before, [], [True] * 9, None, cloned["trained"], [p - 1 for p in before]):
        try:
            observed = observation_of({**cloned, "own_parameters": [0, 1], "trained": forged}, case)
        except TypeError:
            continue  # a malformed record also gets no points
        assert observed["own_parameters"] == 0


def test_second_call_detects_persistent_state():
    calls = []
    assert observe(lambda x: x * 2, ONE)["repeatable"]
    assert not observe(lambda x: calls.append(1) or x * len(calls), ONE)["repeatable"]
    assert not observe(lambda x: x * torch.rand(3), ONE)["repeatable"]


def test_random_numbers_are_the_same_in_every_check():
    observed = [observe(lambda x: torch.rand(3), ONE)["output"] for _ in range(2)]
    assert torch.equal(*observed)


def test_gradients_match_autograd():
    coefficients = torch.tensor([1.0, 2.0, 3.0]).cos()
    assert_close(differentiated(lambda x: x**2)["gradients"]["x"], 2 * X * coefficients)


@pytest.mark.parametrize(
    "attempt",
    [lambda x: x.detach(), lambda x: torch.tensor(x.tolist()), lambda x: torch.from_numpy(x.numpy()), lambda x: 3],
    ids=["detach", "tolist", "numpy", "a number"],
)
def test_missing_gradient_is_none(attempt):
    observed = differentiated(attempt)
    assert observed["gradients"] == {"x": None}
    assert not observed["remarks"]["differentiable"]


def test_unused_argument_has_no_gradient():
    case = Case({"x": X, "y": X, "n": 3, "ids": torch.tensor([1])}, "")
    observed = observe(lambda x, y, n, ids: x * n, case)["gradients"]
    assert observed.keys() == {"x", "y"}
    assert observed["y"] is None


def test_tensors_in_pair_have_separate_gradients():
    case = Case({"x": X, "cache": (X, [torch.tensor([1]), 2 * X])}, "")
    observed = observe(lambda x, cache: x + cache[0] * 3 + cache[1][1].detach(), case)["gradients"]
    assert observed.keys() == {"x", "cache[0]", "cache[1][1]"}
    assert_close(observed["cache[0]"], 3 * observed["x"])
    assert observed["cache[1][1]"] is None


def test_differentiates_attempt_that_changes_its_argument():
    observed = differentiated(lambda x: x.mul_(2))
    assert_close(observed["output"], 2 * X)
    assert observed["remarks"]["differentiable"]


class Scale(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.scale = nn.Parameter(torch.zeros(d))
        self.unused = nn.Parameter(torch.zeros(1))
        self.dropout = nn.Dropout(0.5)

    def forward(self, x):
        return self.dropout(self.scale * x) + (1 if self.training else 0)


PARAMETERS = {"scale": torch.tensor([3.0, 5.0, 7.0]), "unused": torch.ones(1)}


def of_module(module, **more):
    return observe(module, Case({"x": X}, "", kind="module", arguments={"d": 3}, **{"parameters": PARAMETERS} | more))


def test_builds_loads_and_calls_module_in_both_modes():
    observed = of_module(Scale)
    assert observed["parameters"] == {"scale": [3], "unused": [1]}
    assert_close(observed["output"], PARAMETERS["scale"] * X)
    assert set((observed["output_in_training"] - 1).div(observed["output"]).tolist()) <= {0.0, 2.0}
    assert observed["repeatable"]


def test_unused_parameters_have_no_gradient():
    observed = of_module(Scale)["parameter_gradients"]
    assert observed["unused"] is None
    assert_close(observed["scale"], X * torch.tensor([1.0, 2.0, 3.0]).cos())


@pytest.mark.parametrize(
    "parameters",
    [
        {"scale": torch.ones(3)},
        {"scale": torch.ones(4), "unused": torch.ones(1)},
        {**PARAMETERS, "more": torch.ones(1)},
    ],
    ids=["missing", "wrong shape", "superfluous"],
)
def test_records_only_parameters_if_they_differ(parameters):
    assert of_module(Scale, parameters=parameters).keys() == {"parameters", "remarks"}


def test_every_call_gets_a_fresh_model():
    case = Case({"model": describe_model("next_token_table", transition=torch.eye(3)), "ids": torch.tensor([[2]])}, "")

    def overwrites(model, ids):
        model.transition.zero_()
        return model(ids)

    assert torch.equal(observe(lambda model, ids: model(ids), case)["output"], torch.tensor([[[0.0, 0, 1]]]))
    observed = observe(overwrites, case)
    assert observed["repeatable"]
    assert observed["changed"] == ["model.transition"]
    assert observe(lambda model, ids: model(ids), case)["changed"] == []


def test_detects_overwritten_output():
    table = torch.zeros(2)
    case = Case({"x": torch.ones(2)}, "")
    assert observe(lambda x: table.copy_(x.detach()), case)["overwritten"]  # although the numbers are equal
    assert "overwritten" not in observe(lambda x: table, case)
    assert "overwritten" not in observe(lambda x: x + 1, case)


ROWS = Case({"logits": torch.tensor([[0.0, 0.0], [0.0, -1e4]])}, "", kind="sampler", n_samples=1000)


def draws(logits, generator):
    return torch.multinomial(logits.softmax(-1), 1, generator=generator)[:, 0]


def test_counts_samples_for_each_row():
    observed = observe(draws, ROWS)
    assert_close(observed["frequencies"], torch.tensor([[0.5, 0.5], [1.0, 0.0]]), atol=0.08, rtol=0)
    assert observed["n_samples"] == 1000
    assert observed["repeatable"] and observed["varies_with_seed"] and not observed["used_global_generator"]


def test_sampler_gets_one_row_per_sample():
    assert call_inputs(ROWS)["logits"].shape == (2000, 2)
    assert call_inputs(ONE) == {"x": X}


def test_repeats_each_row_of_all_sampler_tensors():
    inputs = {"logits": torch.tensor([[0.0, 1.0], [2.0, 3.0]]), "top_k": torch.tensor([1, 2]), "name": "x"}
    given = call_inputs(Case(inputs, kind="sampler", n_samples=3))
    assert given["logits"].tolist() == [[0.0, 1.0]] * 3 + [[2.0, 3.0]] * 3
    assert given["top_k"].tolist() == [1, 1, 1, 2, 2, 2]
    assert given["name"] == "x"


def test_detects_global_generator_and_constant_output():
    observed = observe(lambda logits, generator: torch.multinomial(logits.softmax(-1), 1)[:, 0], ROWS)
    assert observed["used_global_generator"]
    assert not observe(lambda logits, generator: logits.argmax(-1), ROWS)["varies_with_seed"]


def test_allows_attempt_to_train_model_if_expected():
    tables = {"embedding": torch.ones(3, 2), "weight": torch.ones(4, 2), "bias": torch.ones(4)}
    case = Case({"model": describe_model("month_reader", **tables), "names": torch.tensor([[0, 2]])}, "")

    def train(model, names):
        with torch.no_grad():
            model.output.bias += 1
        names += 1
        return model.output.bias.tolist()

    observed = observe(train, case)
    assert observed["output"] == [2.0, 2.0, 2.0, 2.0]
    assert observed["changed"] == ["names"]


def test_detects_arguments_changed_by_sampler():
    def writes(logits, generator):
        logits /= 2
        return draws(logits, generator)

    assert observe(writes, ROWS)["changed"] == ["logits"]
    assert observe(draws, ROWS)["changed"] == []


@pytest.mark.parametrize(
    ("samples", "key"),
    [(lambda n: torch.zeros(n, 1).long(), "output"), (lambda n: torch.zeros(n), "output"), (lambda n: None, "output"),
     (lambda n: torch.full((n,), 2), "range"), (lambda n: torch.full((n,), -1), "range")],
    ids=["wrong shape", "wrong dtype", "None", "too large", "too small"],
)  # fmt: skip
def test_invalid_samples_have_no_frequencies(samples, key):
    observed = observe(lambda logits, generator: samples(len(logits)), ROWS)
    assert key in observed and "frequencies" not in observed


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3), GeneratorExit(), BaseException("no")], ids=repr)
def test_every_exception_becomes_an_observation(error):
    def f(x):
        raise error

    report = observe(f, ONE)["error"]
    assert (report["type"], report["message"], report["code"]) == (type(error).__name__, str(error), "raise error")


@pytest.mark.parametrize("error", [KeyboardInterrupt, TookTooLong])
def test_does_not_catch_time_limit_or_interrupt(error):
    def f(x):
        raise error

    with pytest.raises(error):
        observe(f, ONE)


def test_prints_output_of_first_call_only(capsys):
    def f(x):
        print("x has", len(x), "numbers")
        return x

    observe_all(f, [ONE, Case({"x": X[:2]}, "")], seconds=9)
    assert capsys.readouterr() == ("x has 3 numbers\n", "")


class Prints(Scale):
    def forward(self, x):
        print("called")
        return super().forward(x)


def draws_and_prints(logits, generator):
    print("called")
    return draws(logits, generator)


@pytest.mark.parametrize(
    ("attempt", "case"),
    [(Prints, Case({"x": X}, "", kind="module", arguments={"d": 3}, parameters=PARAMETERS)), (draws_and_prints, ROWS)],
    ids=["a module", "a sampler"],
)
def test_prints_output_of_modules_and_samplers_once(attempt, case, capsys):
    assert observe(attempt, case)["repeatable"]  # only a second call can show this
    assert capsys.readouterr().out == "called\n"


def test_collects_first_line_of_each_warning(recwarn):
    def f(x):
        warnings.warn("a line\nand more", stacklevel=1)
        return x.expand(2, 2, 3).T

    for _ in range(2):
        first, second = observe(f, ONE)["remarks"]["warned"]
        assert first == "a line"
        assert second.startswith("The use of `x.T` on tensors of dimension other than 2")
        assert "Triggered" not in second
    assert not recwarn.list


def test_lists_notebook_variables_with_and_without_crash():
    lesson = {"__name__": "__main__", "d_k": 3}
    exec("def g(x): ...\ndef f(x): return x / d_k\ndef h(x): return g(x) + d_k", lesson)
    assert observe(lesson["f"], ONE)["remarks"]["reads"] == ["d_k"]
    observed = observe(lesson["h"], ONE)
    assert observed["error"]["type"] == "TypeError"
    assert (observed["remarks"]["reads"], observed["remarks"]["unfinished"]) == (["d_k"], ["g"])


def test_case_that_exceeds_time_limit_is_the_last():
    def f(x):
        while len(x) == 2:
            pass
        return x

    cases = [ONE, Case({"x": X[:2]}, ""), ONE]
    quick, stopped = observe_all(f, cases, seconds=0.2)
    assert torch.equal(quick["output"], X)
    message = "no answer within 0.2 s for all cases together"
    assert stopped == {"error": {"type": "TookTooLong", "message": message}}


def test_wall_clock_timeout_reports_cpu_time():
    def waits(x):
        while True:
            time.sleep(0.001)

    [observed] = observe_all(waits, [ONE], seconds=0.2, clock=0.3)
    assert observed["error"]["message"] == "no answer within 0.3 s for all cases together"
    assert 0 <= observed["error"]["computed"] < 0.2


def test_stops_idle_code_and_reports_reason():
    def waits(x):
        while True:
            time.sleep(0.1)

    [observed] = observe_all(waits, [ONE], seconds=60, clock=60, max_idle=0.5)
    assert observed["error"]["message"] == "it computed next to nothing for 0.5 s"


def test_late_timeout_preserves_result_of_last_case(monkeypatch):
    @contextlib.contextmanager
    def late_time_limit(*_):
        watch = Stopwatch()  # started later than the stopwatch under test
        yield
        while watch.clock < 0.01:
            pass
        raise TookTooLong

    monkeypatch.setattr("transformer_course.running.record.time_limit", late_time_limit)
    [observed] = observe_all(torch.clone, [ONE], seconds=0.01)
    assert torch.equal(observed["output"], X)


def test_propagates_timeout_from_outer_limit():
    def endless(x):
        while True:
            pass

    with pytest.raises(TookTooLong), time_limit(0.1):
        observe_all(endless, [ONE], seconds=60)


def linear_layer(*, bias=False):
    tables = {"weight": torch.tensor([[1.0, 2.0, 3.0]])} | ({"bias": torch.tensor([7.0])} if bias else {})
    return describe_model("linear_layer", **tables)


class Wrapped(nn.Module):
    def __init__(self, linear):
        super().__init__()
        self.linear, self.factor = linear, nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return self.factor * self.linear(x)


def wrapped(**keywords):
    parameters = {"factor": torch.tensor([2.0]), "linear.weight": torch.tensor([[9.0, 9.0, 9.0]])}
    return Case({"x": X}, "", "module", arguments={"linear": linear_layer()}, parameters=parameters, **keywords)


def test_wrapped_module_keeps_its_parameters():
    assert observe(Wrapped, wrapped())["output"].tolist() == [28.0]


def test_ignores_gradients_if_a_parameter_is_not_loaded():
    observed = observe(Wrapped, wrapped(not_loaded=["factor"]))
    assert observed["output"].tolist() == [0.0]
    assert observed["gradients"] == observed["parameter_gradients"] == {}


def test_lists_frozen_parameters_and_gradients_of_trainable_parameters():
    frozen = observe(lambda linear: Wrapped(linear.requires_grad_(False)), wrapped())
    assert "frozen" not in observe(Wrapped, wrapped())
    assert frozen["frozen"] == ["linear.weight"]
    assert frozen["parameter_gradients"]["linear.weight"] is None
    assert_close(frozen["parameter_gradients"]["factor"], 14 * torch.ones(1).cos())
    assert "backward" not in frozen["remarks"]


def test_gradients_of_indexed_values_ignore_order():
    case = Case({"x": torch.tensor([[3.0, 1.0, 2.0], [5.0, 4.0, 6.0]])}, "")
    descending = observe(lambda x: x.sort(descending=True), case)["gradients"]["x"]
    ascending = observe(lambda x: x.sort(descending=False), case)["gradients"]["x"]
    assert torch.equal(descending, ascending)
    assert descending.unique().numel() == 6
    assert not torch.equal(observe(lambda x: x.sort()[0], case)["gradients"]["x"], ascending)


def test_stops_after_case_that_runs_out_of_memory():
    def fills(x):
        raise MemoryError

    [observed] = observe_all(fills, [ONE, ONE], seconds=9)
    assert observed["error"]["type"] == "MemoryError"
