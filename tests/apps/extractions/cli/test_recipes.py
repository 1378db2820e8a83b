"""`thresher recipes` as a new user meets it."""

import json
import time
from pathlib import Path

import pytest

from tests.apps.extractions.scene import FOUND, PROJECT, REPORT
from tests.cli.conftest import Thresher
from thresher.apps.extractions.recipe_file import read_recipe_text
from thresher.config.project import read_project
from thresher.practice.web.serving import PracticeWeb
from thresher.runtime import opened_runtime

CATALOGUE = """url: https://courses.practice.example/catalogue
entity: course
configuration:
  page_type: DETAIL_LINKS
  link_pattern: /course/\\d+-
  pagination: {kind: page_num, url_pattern: "?page={page_num}", total_pages: 4}
  links: {page_type: DETAIL}
"""
GIVEN = "configuration: {page_type: DETAIL}"
URL = "https://a.example/courses"


def added(recipes: Thresher, name: str = "acme") -> None:
    told = recipes("recipes", "add", name, "--url", URL, "--entity", "course")
    assert told.code == 0, told.err


def detected(recipes: Thresher) -> None:
    told = recipes("run")
    assert told.code == 0, told.err


@pytest.mark.promise(20)
def test_the_question_of_a_detection_is_answered_by_a_number(recipes: Thresher):
    added(recipes)
    assert recipes("recipes", "answer", "acme", "1").code != 0, "nothing was asked yet"
    detected(recipes)
    shown = recipes("recipes", "show", "acme").out
    assert "  1. those below /courses" in shown
    assert "thresher recipes answer acme NUMBER" in shown
    told = recipes("recipes", "answer", "acme", "9")
    assert (told.code, "write a number from 1 to" in told.err) == (2, True), told
    told = recipes("recipes", "answer", "acme", "1")
    assert told.code == 0, told.err
    assert "Answer 1 is the configuration of acme" in told.out


def test_entities_are_listed_before_there_is_a_database(recipes: Thresher, folder: Path):
    told = recipes("recipes", "entities")
    assert "learning_programme" in told.out
    assert "credits_min" in told.out
    assert not (folder / "thresher.db").exists()


def test_a_recipe_lives_from_add_to_remove(recipes: Thresher, folder: Path):
    told = recipes("recipes", "add", "acme", "--url", URL, "--entity", "course", "--set", "limits.pages=50")
    assert (told.code, "detected in task 1: thresher recipes show acme" in told.out) == (0, True), told
    assert "the recipe is new" in recipes("recipes", "list").out
    detected(recipes)
    shown = recipes("recipes", "show", "acme").out
    for each in (
        "SUCCESS",
        "link_pattern: /courses/",
        "limits:",
        "about 63, between 61 and 63 (checked)",
        "$1.25: 60 pages are read by a model",
        "https://a.example/courses/1",
        "5 of 5 pages declare one Course",
        "Which are courses?",
        "those below /courses",
        "the list claims 60 pages",
    ):
        assert each in shown
    assert shown.count("MATH 101") == 3, "the preview has three items"
    assert "\x1b" not in shown
    told = recipes("recipes", "edit", "acme", "--set", "configuration.link_pattern=/c/", "--set", "limits=")
    assert "acme is version 2" in told.out
    assert "given by a person" in told.out
    told = recipes("recipes", "versions", "acme")
    assert "DETAIL_LINKS > DETAIL" in told.out
    assert "rules" in told.out
    assert "now 3" in recipes("recipes", "revert", "acme", 1).out
    assert "looked at again" in recipes("recipes", "detect", "acme").out
    assert "is retired" in recipes("recipes", "remove", "acme").out
    assert "No recipes" in recipes("recipes", "list").out
    assert "retired" in recipes("recipes", "list", "--retired").out
    again = recipes("recipes", "add", "acme", "--url", URL, "--entity", "course", "--json").json
    assert (again["recipe"]["version"], again["recipe"]["id"]) == (4, 1), "without its limits it is another"


def test_what_is_shown_as_yaml_is_what_edit_takes(recipes: Thresher, folder: Path):
    (folder / "acme.yaml").write_text(CATALOGUE)
    told = recipes("recipes", "add", "acme", "--file", "acme.yaml")
    assert "version 1, given by a person" in told.out, told
    text = recipes("recipes", "show", "acme", "--yaml").out
    assert read_recipe_text(text) == read_recipe_text(CATALOGUE)
    (folder / "again.yaml").write_text(text)
    told = recipes("recipes", "edit", "acme", "--file", "again.yaml")
    assert (told.code, told.err) == (0, "Nothing was changed.\n")
    schema = recipes("recipes", "show", "acme", "--schema").json
    assert schema["properties"]["ceu"]["type"] == ["number", "null"]


def editor(folder: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    """An editor that is a real program, and types what it was told to."""
    script = folder / "editor.sh"
    script.write_text(f"#!/bin/sh\n{line}\n")
    script.chmod(0o700)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"{script} --wait")


def test_a_recipe_is_edited_in_the_persons_own_editor(recipes, folder, monkeypatch):
    (folder / "acme.yaml").write_text(CATALOGUE)
    recipes("recipes", "add", "acme", "--file", "acme.yaml")
    editor(folder, monkeypatch, "sed -i 's/total_pages: 4/total_pages: 9/' \"$2\"")
    assert "acme is version 2" in recipes("recipes", "edit", "acme").out
    assert "total_pages: 9" in recipes("recipes", "show", "acme", "--yaml").out
    editor(folder, monkeypatch, "true")
    assert recipes("recipes", "edit", "acme").err == "Nothing was changed.\n"


def test_what_a_person_typed_wrongly_is_kept_for_correction(recipes, folder, monkeypatch):
    (folder / "acme.yaml").write_text(CATALOGUE)
    recipes("recipes", "add", "acme", "--file", "acme.yaml")
    editor(folder, monkeypatch, "sed -i 's/page_type: DETAIL_LINKS/page_type: LIST/' \"$2\"")
    told = recipes("recipes", "edit", "acme")
    assert told.code == 3
    assert "acme, line 4: configuration.page_type" in told.err
    assert "--file recipe-acme.yaml" in told.err
    assert "page_type: LIST" in (folder / "recipe-acme.yaml").read_text()
    assert [each["version"] for each in recipes("recipes", "list", "--json").json] == [1]


def test_an_editor_that_is_missing_or_fails_changes_nothing(recipes, folder, monkeypatch):
    (folder / "acme.yaml").write_text(CATALOGUE)
    recipes("recipes", "add", "acme", "--file", "acme.yaml")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    assert "EDITOR is not set" in recipes("recipes", "edit", "acme").err
    monkeypatch.setenv("EDITOR", "no-such-editor")
    assert "cannot be started" in recipes("recipes", "edit", "acme").err
    editor(folder, monkeypatch, "exit 3")
    assert "ended with 3; nothing was changed" in recipes("recipes", "edit", "acme").err


def test_mistakes_are_named_with_what_to_do(recipes: Thresher, folder: Path):
    added(recipes)
    (folder / "bad.yaml").write_text(
        f"url: {URL}\nentity: course\nconfiguration:\n  page_type: DETAIL\n  link_pattern: (\n"
    )
    (folder / "other.yaml").write_text("[]")
    for words, says in (
        (("add", "x"), "has no url"),
        (("add", "x", "--url", URL), "has no entity"),
        (("add", "x", "--url", URL, "--entity", "lamp"), "write one of course"),
        (("add", "X Y", "--url", URL, "--entity", "course"), "is not a name for a recipe"),
        (("add", "acme", "--url", URL, "--entity", "course"), "thresher recipes edit acme"),
        (("add", "x", "--url", "http://127.0.0.1/", "--entity", "course"), "can never be fetched"),
        (("add", "x", "--file", "bad.yaml"), "bad.yaml, line 5: configuration.link_pattern"),
        (("add", "x", "--file", "other.yaml", "--set", "a=1"), "is not a recipe"),
        (("add", "x", "--file", "none.yaml"), "cannot be read"),
        (("edit", "acme", "--set", "limits"), "write --set limits.pages=500"),
        (("edit", "acme", "--set", "url.x=3"), "url is no mapping"),
        (("edit", "acme", "--set", "limits.pages=many"), "write a whole number"),
        (("show", "nobody"), "recipes list --retired"),
        (("detect", "nobody"), "recipes list --retired"),
        (("remove", "nobody"), "recipes list --retired"),
        (("versions", "nobody"), "recipes list --retired"),
        (("revert", "acme", "7"), "has no version 7"),
        (("test", "acme"), "has no configuration yet"),
    ):
        told = recipes("recipes", *words)
        assert told.code not in (0, 70), (words, told)
        assert says in told.err, (words, told.err)
    assert [each["name"] for each in recipes("recipes", "list", "--json").json] == ["acme"]


def test_a_schema_beside_the_recipe_is_read_with_it(recipes: Thresher, folder: Path):
    (folder / "own").mkdir()
    (folder / "own" / "lamp.json").write_text(json.dumps({"properties": {"watts": {"type": "number"}}}))
    (folder / "own" / "lamp.yaml").write_text(f"url: {URL}\nentity: {{name: lamp, schema: lamp.json}}\n")
    assert recipes("recipes", "add", "lamps", "--file", "own/lamp.yaml").code == 0
    assert "watts" in recipes("recipes", "show", "lamps", "--yaml").out


def test_what_the_project_file_declares_is_changed_there(recipes: Thresher, folder: Path):
    declared = f"extractions:\n  recipes:\n    acme: {{url: '{URL}', entity: course, {GIVEN}}}\n"
    (folder / "thresher.yaml").write_text(PROJECT + declared)
    added(recipes, "mine")
    listed = {each["name"]: each["declared_in"] for each in recipes("recipes", "list", "--json").json}
    assert listed == {"acme": "file", "mine": "person"}
    told = recipes("recipes", "edit", "acme", "--set", "limits.pages=3")
    assert "change it there: extractions.recipes.acme" in told.err
    assert "remove it there" in recipes("recipes", "remove", "acme").err


# Trying a page of the practice web


@pytest.fixture
def catalogue(recipes: Thresher, folder: Path, web: PracticeWeb) -> Thresher:
    (folder / "thresher.yaml").write_text(f'{PROJECT}fetch:\n  resolve: {{"*": "{web.url}"}}\n')
    (folder / "acme.yaml").write_text(CATALOGUE)
    assert recipes("recipes", "add", "acme", "--file", "acme.yaml").code == 0
    return recipes


def test_a_page_is_tried_without_storing_anything(catalogue: Thresher, folder: Path):
    before = tables(folder)
    told = catalogue("recipes", "test", "acme")
    assert told.code == 0, told.err
    assert "1 of 2: DETAIL_LINKS" in told.out
    assert "follows https://courses.practice.example/course/" in told.out
    assert "goes on at https://courses.practice.example/catalogue?page=2" in told.out
    found = catalogue("recipes", "test", "acme", "--json").json
    assert found["page"]["links_found"] == 12
    assert found["page"]["next_pages"][-1] == "https://courses.practice.example/catalogue?page=4"
    detail = catalogue("recipes", "test", "acme", found["page"]["links"][0], "--json").json
    assert (detail["level"], detail["page_type"]) == (2, "DETAIL")
    assert [each["name"] for each in detail["items"]] == [
        detail["page"]["title"].partition(" –")[0]
    ] or detail["doubts"]
    assert detail["items_found"] == 1
    assert tables(folder) == before


def tables(folder: Path) -> list[tuple[object, ...]]:
    with opened_runtime(f"sqlite:///{folder / 'thresher.db'}", read_project(folder)) as runtime:
        with runtime.store.read() as session:
            return [
                *session.rows("select * from recipes"),
                *session.rows("select * from recipe_versions"),
                *session.rows("select count(*) from tasks"),
                *session.rows("select count(*) from pages"),
            ]


def test_a_trial_says_what_would_stop_an_extraction(catalogue: Thresher, folder: Path):
    (folder / "other.yaml").write_text(CATALOGUE.replace("/course/\\d+-", "/nothing/"))
    told = catalogue("recipes", "test", "acme", "--file", "other.yaml")
    assert "no link of the page matches link_pattern" in told.out
    (folder / "cut.yaml").write_text(
        CATALOGUE.replace(
            "links: {page_type: DETAIL}", "content_selector: .none\n  links: {page_type: DETAIL}"
        )
    )
    cut = catalogue("recipes", "test", "acme", "--file", "cut.yaml")
    assert "content_selector '.none' matches nothing" in cut.out
    assert "level 3 is not there" in catalogue("recipes", "test", "acme", "--level", 3).err
    gone = catalogue("recipes", "test", "acme", "https://courses.practice.example/account/x")
    assert gone.code != 0
    assert "robots.txt forbids" in gone.err


@pytest.mark.promise(18)
def test_a_pattern_that_never_ends_is_killed(catalogue: Thresher, folder: Path):
    """Its text looks harmless; on an address of this page it would take longer than anybody lives."""
    (folder / "thresher.yaml").write_text(
        (folder / "thresher.yaml").read_text().replace("settings:\n", "settings:\n  isolation.seconds: 2\n")
    )
    (folder / "slow.yaml").write_text(CATALOGUE.replace("/course/\\d+-", "(([a-z0-9-])+.?)+[A-Z]{9}!"))
    started = time.monotonic()
    told = catalogue("recipes", "test", "acme", "--file", "slow.yaml")
    assert told.code not in (0, 70)
    assert "took longer than 2 seconds and was stopped" in told.err
    assert time.monotonic() - started < 30
    assert catalogue("recipes", "test", "acme").code == 0


def test_a_report_is_kept_as_it_was_told(recipes: Thresher, folder: Path):
    added(recipes)
    detected(recipes)
    shown = recipes("recipes", "show", "acme", "--json").json
    assert shown["said"]["configuration"]["links"] == {"page_type": FOUND.levels[1].page_type}
    assert shown["report"]["notes"] == REPORT["notes"]
