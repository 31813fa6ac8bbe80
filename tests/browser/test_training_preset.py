"""A lead starts from the preset of a paper without a version, and makes a version of the trained model."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_generation import narrow_too
from tests.generation.tiny_models import build
from tests.processes.site import Site


@pytest.mark.long
def test_a_lead_trains_from_a_preset_and_uses_the_model(site: Site, visit: Callable[..., Visit]) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("accelerate")
    build("bart", site.folder / "models" / "bart-large")
    site.manage("split", "--project", "sample", "--level", "review", "--parts", "train=60,dev=20,test=20")
    lead = visit("lead")
    page = lead.page
    lead.go("/projects/sample/trainings/new")
    page.get_by_label("Start from").select_option(label="BART on Cochrane")
    # The sample has clusters only, and a folder is named like the base of the paper.
    expect(page.get_by_label("Level")).to_have_value("proposition")
    expect(page.get_by_label("Base model")).to_have_value("bart-large")
    expect(page.get_by_text("No published figure is known.").first).to_be_visible()
    narrow_too(lead)
    page.get_by_label("Start from").select_option(label="BART, without the question")
    expect(page.get_by_label("Name")).to_have_value("BART, without the question")
    expect(page.get_by_text("finetune_bart_bioasq.sh, LR)")).to_be_visible()
    page.get_by_label("Target", exact=True).fill("")
    page.get_by_label("Maximum updates").fill("2")
    page.get_by_label("Updates between evaluations").fill("1")
    page.get_by_role("button", name="Start training").click()
    page.get_by_role("button", name="Use as version").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Level")).to_have_value("proposition")
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("button", name="Run BART, without the question v1")).to_be_visible()
