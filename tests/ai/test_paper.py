"""The reference page on prompts says what the files say."""

from tests.house.paper import ROOT
from thresher.ai.prompt import Library
from thresher.config.apps import load_apps, own_apps

PAGE = ROOT / "docs" / "reference" / "prompts.md"


def test_every_prompt_is_in_the_reference_with_its_version_tier_and_sentence():
    page, apps = PAGE.read_text("utf-8"), load_apps(own_apps(), ROOT)
    rows = [f"| `{prompt.label}` | {prompt.tier} | {prompt.sentence} |" for prompt in Library(apps=apps)]
    assert [row for row in rows if row not in page] == []
