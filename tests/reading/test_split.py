"""Long pages in parts: nothing lost, nothing twice, and no thing cut in two."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.core.errors import UsageError
from thresher.reading.text.split import MIN_PART, TextPart, repeats, split, trail


def texts(markdown: str, most: int) -> list[str]:
    return [markdown[part.start : part.end] for part in split(markdown, most)]


def _story(at: int) -> str:
    return f"Story {at} goes on for a while, as stories do, and it says nothing that the one before it did not say already."


@given(text=st.text(st.sampled_from("ab .\n#-*|1。\t"), max_size=1_500), most=st.integers(MIN_PART, 700))
def test_parts_leave_out_nothing_but_white_space_and_keep_their_order_and_size(text: str, most: int):
    at = 0
    for part in split(text, most):
        assert not text[at : part.start].strip()
        assert 0 < part.end - part.start <= most
        assert text[part.start : part.end].strip() == text[part.start : part.end]
        at = part.end
    assert not text[at:].strip()


def test_a_page_that_fits_is_one_part():
    assert split("\n# Title\n\ntext\n", 1_000) == [TextPart(1, 14)]
    assert split(" \n ", 1_000) == []


def test_parts_too_small_to_mean_anything_are_refused():
    with pytest.raises(UsageError, match="at least 200"):
        split("text", 10)


def test_sections_stay_whole():
    page = "# Shop\n\nWelcome.\n\n" + "\n\n".join(
        f"## Thing {at}\n\n{_story(at)}\n\n${at}.00" for at in range(30)
    )
    for part in texts(page, 600)[1:]:
        assert part.startswith("## Thing")
        assert re.search(r"\$\d+\.00$", part)


def test_repeated_blocks_without_headings_stay_whole():
    page = "Our things:\n\n" + "\n\n".join(
        f"Thing {'x' * at}\n\n{_story(at)}\n\n${at}.00" for at in range(30)
    )
    for part in texts(page, 600)[1:]:
        assert part.startswith("Thing")
        assert re.search(r"\$\d+\.00$", part)


def test_blocks_led_by_a_link_stay_whole():
    page = "\n\n".join(
        f"[Thing {at}](https://a.example/{at})\n\n{_story(at)}" + ("\n\nsold" if at % 3 else "")
        for at in range(30)
    )
    assert all(part.startswith("[Thing") for part in texts(page, 600))


def test_list_items_stay_whole_with_what_is_indented_under_them():
    page = "\n".join(f"- Thing {at}\n  - {_story(at)}\n  - ${at}.00" for at in range(30))
    for part in texts(page, 500):
        assert part.startswith("- Thing")
        assert part.endswith(".00")


def test_table_rows_stay_whole():
    page = "| a | b |\n| --- | --- |\n" + "\n".join(f"| Thing {at} | {_story(at)} |" for at in range(30))
    assert all(part.startswith("|") and part.endswith("|") for part in texts(page, 400))


def test_a_long_paragraph_is_cut_at_sentences():
    parts = texts(" ".join(_story(at) for at in range(30)), 400)
    assert all(part.startswith("Story") and part.endswith("already.") for part in parts)


def test_a_word_without_end_is_cut_anywhere():
    assert [len(part) for part in texts("x" * 950, 300)] == [300, 300, 300, 50]


def test_a_part_knows_the_headings_above_it():
    page = f"# Jobs\n\n## Berlin\n\n### Cook\n\n{_story(1)}\n\n### Baker\n\n{_story(2)}\n\n## Paris\n\n### Nurse\n\n{_story(3)}"
    above = {page[part.start : part.end].partition("\n")[0]: trail(page, part) for part in split(page, 200)}
    assert above == {"# Jobs": (), "### Baker": ("Jobs", "Berlin"), "## Paris": ("Jobs",)}
    assert trail(page, TextPart(page.index("Story 3"), len(page))) == ("Jobs", "Paris", "Nurse")


def test_a_heading_in_code_is_no_heading():
    page = "# Title\n\n```\n# not one\n```\n\ntext"
    assert trail(page, TextPart(page.index("text"), len(page))) == ("Title",)


def test_what_repeats_itself_is_told_from_each_of_its_blocks_on():
    page = "\n\n".join(f"Name\n\n{at}\n\n{_story(at)}" for at in range(4))
    tellings = repeats(page)
    assert len(tellings) == 3
    assert all(page.startswith("Name", at) for at in tellings[0])
    assert repeats("one\n\ntwo\n\nthree") == []


@pytest.mark.parametrize(
    "unit",
    ["a", "\n", "# a\n", "- a\n", "a. ", "a\n\n", "a\n", "|a|b|\n", "*", "[a", "#", "  - a\n", "a\n\n1\n\n"],
)
def test_a_hostile_page_is_split_all_the_same(unit: str):
    page = unit * (200_000 // len(unit))
    assert sum(part.end - part.start for part in split(page, 5_000)) <= len(page)
