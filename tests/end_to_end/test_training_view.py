"""Test that the training view in JupyterLab follows a run, stops it on request, and does not grow."""

import pytest
from playwright.sync_api import expect

from tests.end_to_end.open_view import Lab, OpenView, open_view

CELLS = (
    "import time, torch\n"
    "from transformer_course import views\n"
    "model = torch.nn.Linear(3, 1)\n"
    "view = views.TrainingView(100_000)\n"
    "def train(n):\n"
    "    for step in view.steps(n):\n"
    "        model.weight.data += 1\n"
    "        time.sleep(0.005)\n"
    "        model.bias.data += 1  # within a step, weight and bias differ\n"
    "        view.loss(1 / step)\n"
    "        if step % 20 == 0:\n"
    "            scores = {'teacher-forced': 1 - 1 / step, 'free-running': 1 - 9 / step}\n"
    "            view.score({**scores, 'held-out loss': 2 / step})\n"
    "            view.show_sample('3 mars', '03-03', torch.eye(5, 6), wanted='03-03')\n"
    "with torch.no_grad():\n"
    "    model.weight.zero_(), model.bias.zero_()",
    "view",
)
COUNT = "section => section.querySelectorAll('*').length"


def begin(view: OpenView, code: str) -> None:
    """Start code in the kernel without waiting for it to finish."""
    view.page.evaluate(
        "code => void window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.requestExecute({code})", code
    )


@pytest.mark.slow
@pytest.mark.thorough
def test_view_follows_run_and_button_stops_it_cleanly(lab: Lab) -> None:
    with open_view(lab, *CELLS) as training:
        training.expect_description("Training is ready: step 0 of 100000.")
        stop = training.root.get_by_role("button", name="Stop")
        expect(stop).to_be_disabled()
        begin(training, "train(100_000)")
        training.expect_description("free-running")
        expect(training.root.locator("caption")).to_have_text("3 mars → 03-03 ✓")
        expect(training.root.locator(".tl-control span").first).to_contain_text("min left")
        charts = training.root.locator(".tl-progress-chart")
        expect(charts.first.locator("polyline[points]:not([points=''])")).to_have_count(2)  # two loss curves
        expect(charts.last.locator("polyline[points]:not([points=''])")).to_have_count(2)
        early = training.root.evaluate(COUNT)
        drawn = training.root.locator("polyline.tl-curve").first.get_attribute("points")
        training.root.evaluate(
            "section => { section.isTheSame = true; section.querySelector('svg').isTheSame = true; }"
        )
        training.change_theme("JupyterLab Dark")
        assert training.contrast(training.root.locator(".tl-control span").first) > 7
        expect(training.root.locator("polyline.tl-curve").first).not_to_have_attribute("points", drawn or "")
        assert training.root.evaluate("section => section.isTheSame && section.querySelector('svg').isTheSame")
        assert training.root.evaluate(COUNT) == early, "a growing view would slow down a long run"

        stop.focus()
        training.press("Enter")
        training.expect_description("The model keeps the parameters of this step.")
        training.expect_value("view.state", "stopped")
        training.expect_value("0 < view.step < 100_000", True)
        training.expect_value("[model.bias.item() == view.step, *(model.weight[0] == view.step).tolist()]", [True] * 4)
        expect(stop).to_be_disabled()
        training.execute("view.n_steps = view.step + 2; train(2)")
        training.expect_description("Training is finished")
        training.expect_value("model.bias.item() == view.step == view.n_steps", True)
        expect(stop).to_be_hidden()
