"""Every client by its name: those that come with the app, and a project's own, which replace them."""

import os
import pickle
import re
from pathlib import Path

import pytest
import yaml

from tests.apps.queries.clients.answers import BASE
from tests.house.paper import ROOT
from thresher.apps.queries.clients import definition
from thresher.apps.queries.clients.api import ApiClient, api_client
from thresher.apps.queries.clients.catalogue import catalogue
from thresher.core.errors import ConfigError

SHIPPED = {
    "adzuna",
    "arbeitnow",
    "board",
    "csv",
    "csv-folder",
    "feed",
    "himalayas",
    "infojobs",
    "jobicy",
    "remoteok",
    "remotive",
    "usajobs",
}


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / "clients" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_a_project_without_clients_of_its_own_has_those_that_come_with_the_app(tmp_path):
    assert set(catalogue(None)) == set(catalogue(tmp_path)) == SHIPPED
    assert catalogue(None) is catalogue(None)


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_a_shipped_client_can_be_sent_to_a_process_and_explains_itself(name):
    made = catalogue(None)[name]
    assert pickle.loads(pickle.dumps(made)) == made
    assert made.name == name
    assert all(sentence.endswith(".") for sentence in made.parameters.values())
    assert set(made.defaults) <= set(made.parameters)
    assert not isinstance(made, ApiClient) or made.terms.endswith(".")
    assert made.reach.whole == (name == "board")
    assert made.local == (name == "csv-folder")
    assert len(made.fingerprint({})) == 12


def test_a_projects_own_client_is_added_and_one_of_a_known_name_replaces_it(tmp_path):
    write(tmp_path, "acme.yaml", BASE)
    write(tmp_path, "adzuna.yaml", BASE.replace("name: acme", "name: adzuna"))
    found = catalogue(tmp_path)
    assert set(found) == SHIPPED | {"acme"}
    assert found["adzuna"].title == "Acme Offers"
    assert catalogue(None)["adzuna"].title == "Adzuna"


def test_a_changed_file_is_read_again_and_an_unchanged_one_is_not(tmp_path):
    path = write(tmp_path, "acme.yaml", BASE)
    before = catalogue(tmp_path)
    assert catalogue(tmp_path) is before
    path.write_text(BASE.replace("Acme Offers", "Acme Openings"), "utf-8")
    os.utime(path, ns=(1, 1))
    assert catalogue(tmp_path)["acme"].title == "Acme Openings"
    path.unlink()
    assert set(catalogue(tmp_path)) == SHIPPED


def test_a_mistake_is_named_with_its_file_and_line(tmp_path):
    write(tmp_path, "acme.yaml", BASE.replace("rows: offers", "rosw: offers"))
    with pytest.raises(
        ConfigError, match=r"^clients/acme\.yaml, line 8: answer\.rosw: rosw is not a known key"
    ):
        catalogue(tmp_path)


def test_two_files_of_one_name_and_a_file_that_is_no_text_are_refused(tmp_path):
    write(tmp_path, "a.yaml", BASE)
    path = write(tmp_path, "b.yaml", BASE)
    with pytest.raises(ConfigError, match=r"clients/b\.yaml: another file defines the client acme"):
        catalogue(tmp_path)
    path.write_bytes(b"\xff\xfe\x00name")
    with pytest.raises(ConfigError, match=r"clients/b\.yaml: not UTF-8 text"):
        catalogue(tmp_path)


PAGE = ROOT / "docs" / "reference" / "search-clients.md"


def test_the_reference_lists_every_client_with_the_variables_it_needs():
    rows = dict(re.findall(r"^\| `([\w-]+)` \| (.*)$", PAGE.read_text("utf-8"), re.MULTILINE))
    shipped = catalogue(None)
    assert set(shipped) <= set(rows)
    for name, made in shipped.items():
        assert set(re.findall(r"`([A-Z_]+)`", rows[name])) == set(made.env)


def test_the_file_in_the_reference_is_a_definition_that_uses_every_key():
    (text,) = re.findall(r"```yaml\n(name: acme .*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    made = api_client(text, "acme.yaml")
    assert set(made.api.written) == set(definition._KEYS)
    assert set(made.api.answers[0].fields) == set(definition.FIELDS) - {"salary"}


def test_the_guides_first_file_is_a_definition():
    guide = (ROOT / "docs" / "how-to" / "describe-a-search-api.md").read_text("utf-8")
    first, *others = re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL)
    head = yaml.safe_load(first)
    assert api_client(first, "acme.yaml").takes_text
    for other in others:
        more = yaml.safe_load(other)
        assert api_client(yaml.safe_dump({**head, **more}), "acme.yaml").name == "acme"
