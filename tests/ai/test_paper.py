"""The reference page on prompts says what the files say."""

from tests.house.paper import ROOT
from thresher.ai.prompt import Library

PAGE = ROOT / "docs" / "reference" / "prompts.md"


def test_every_prompt_is_in_the_reference_with_its_version_tier_and_sentence():
    page = PAGE.read_text("utf-8")
    rows = [f"| `{prompt.label}` | {prompt.tier} | {prompt.sentence} |" for prompt in Library()]
    assert [row for row in rows if row not in page] == []
