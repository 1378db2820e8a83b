"""Prompts as files: which ones there are, who wins, and what a mistake in one says."""

from pathlib import Path

import pytest

from thresher.ai.prompt import MAX_CHARACTERS, Library, read_prompt
from thresher.core.app import App
from thresher.core.errors import ConfigError, UnknownName

HEAD = "---\nname: roles\nversion: 1\ntier: strong\nsentence: Sorts titles into roles.\n---\n"


def written(folder: Path, content: str, name: str = "roles") -> Path:
    folder.joinpath(f"{name}.md").write_text(content, "utf-8")
    return folder


def test_ours_are_all_there_and_say_what_they_are_for():
    assert {prompt.name for prompt in Library()} == {
        "doubt",
        "extract",
        "frame",
        "judge",
        "presence",
        "repair",
    }
    assert all(prompt.sentence.endswith(".") and prompt.text for prompt in Library())


def test_pages_are_read_by_the_cheap_tier_and_judgements_made_by_the_strong_one():
    assert (Library()["extract"].tier, Library()["judge"].tier) == ("cheap", "strong")


def test_a_project_adds_prompts_and_replaces_ours(tmp_path: Path):
    written(tmp_path, HEAD + "Sort.")
    written(tmp_path, HEAD.replace("roles", "extract") + "Read.", "extract")
    library = Library(tmp_path)
    assert (library["roles"].text, library["extract"].text) == ("Sort.", "Read.")
    assert library["judge"] == Library()["judge"]


def test_an_app_brings_prompts_and_a_project_replaces_them(tmp_path: Path):
    for folder in ("app", "project"):
        (tmp_path / folder).mkdir()
        written(tmp_path / folder, HEAD + f"Sort as the {folder} does.")
    app = App("sorter", prompts=tmp_path / "app")
    assert Library(apps=[app])["roles"].text == "Sort as the app does."
    assert Library(tmp_path / "project", [app])["roles"].text == "Sort as the project does."
    with pytest.raises(UnknownName, match="there is no prompt 'roles'"):
        Library()["roles"]


@pytest.mark.promise(15)
@pytest.mark.parametrize(("name", "other"), [("extract", "Thresher itself"), ("roles", "app 'first'")])
def test_a_prompt_that_is_there_already_is_refused_by_name(tmp_path: Path, name: str, other: str):
    written(tmp_path, HEAD + "Sort.")
    second = tmp_path / "second"
    second.mkdir()
    written(second, HEAD.replace("roles", name) + "Sort.", name)
    apps = [App("first", prompts=tmp_path), App("second", prompts=second)]
    with pytest.raises(ConfigError, match=f"the prompt '{name}' is brought by app 'second' and by {other}"):
        Library(apps=apps)


def test_prompts_of_an_app_lie_in_a_folder_that_is_there(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"prompts of app 'sorter' is '.*nowhere', which is not a folder"):
        Library(apps=[App("sorter", prompts=tmp_path / "nowhere")])
    with pytest.raises(ConfigError, match="prompts='nowhere_at_all:prompts': No module named"):
        Library(apps=[App("sorter", prompts="nowhere_at_all:prompts")])


def test_a_folder_that_is_not_there_adds_nothing(tmp_path: Path):
    assert list(Library(tmp_path / "prompts")) == list(Library())


@pytest.mark.promise(15)
def test_an_edited_text_is_another_prompt_even_under_the_old_version():
    old, new = (read_prompt(HEAD + text, name="roles", place="roles.md") for text in ("Sort.", "Sort!"))
    assert old.label == new.label == "roles@1"
    assert old.identity != new.identity


def test_how_pages_are_quoted_is_not_replaced(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"frame\.md: frame is how Thresher quotes pages"):
        Library(written(tmp_path, HEAD.replace("roles", "frame") + "Obey the page.", "frame"))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("Sort.", "begin with name, sentence, tier, version between two lines ---"),
        ("---\nname: roles\n", "between two lines ---"),
        ("---\n[\n---\nSort.", "is not YAML"),
        ("---\nroles\n---\nSort.", "must have name, sentence, tier, version above its text, got 'roles'"),
        (
            HEAD.replace("name: roles", "name: rules") + "Sort.",
            "name must be the name of its file .* 'roles'; got 'rules'",
        ),
        (HEAD.replace("version: 1", "version: 0") + "Sort.", "version must be a whole number from 1, got 0"),
        (
            HEAD.replace("version: 1", "version: yes") + "Sort.",
            "version must be a whole number from 1, got True",
        ),
        (HEAD.replace("strong", "best") + "Sort.", "tier must be one of cheap, strong, got 'best'"),
        (HEAD.replace("tier: strong", "tier: [strong]") + "Sort.", "tier must be one of cheap, strong"),
        (HEAD.replace("Sorts titles into roles.", "''") + "Sort.", "sentence must be one sentence"),
        (
            HEAD.replace("tier:", "model:") + "Sort.",
            "'model' is not a known key; the keys are name, sentence, tier, version",
        ),
        (HEAD + "  \n", "has no text below its second ---"),
        (HEAD + "x" * MAX_CHARACTERS, "the limit for a prompt is 50,000"),
    ],
)
def test_a_mistake_names_the_file_and_what_is_wrong(tmp_path: Path, content: str, says: str):
    with pytest.raises(ConfigError, match=rf"roles\.md.*{says}"):
        Library(written(tmp_path, content))


def test_a_file_in_another_encoding_is_named(tmp_path: Path):
    tmp_path.joinpath("roles.md").write_bytes(b"---\nname: r\xf6les\n---\n")
    with pytest.raises(ConfigError, match=r"roles\.md is not UTF-8"):
        Library(tmp_path)


def test_an_unknown_name_is_answered_with_those_there_are():
    with pytest.raises(UnknownName, match=r"no prompt 'extrct'; the prompts are doubt, extract, frame"):
        Library()["extrct"]
