"""The sheet is on only with a spreadsheet and a key, and says what is missing without showing a secret."""

import json

import pytest

from tests.apps.queries.outputs.office import ENVIRON, verify
from thresher.apps.queries.outputs.access import (
    KEY_FILE,
    KEY_JSON,
    SPREADSHEET,
    Access,
    check_access,
    read_access,
    token_request,
)
from thresher.core.errors import ConfigError
from thresher.core.extension import CheckLevel

KEY = json.loads(ENVIRON[KEY_JSON])


def test_without_variables_it_is_off_and_that_is_fine():
    check = check_access({})
    assert check.verdict is CheckLevel.OK
    assert "off" in check.found
    assert SPREADSHEET in check.advice


@pytest.mark.parametrize("name", [SPREADSHEET, KEY_JSON])
def test_half_configured_is_a_warning_that_says_what_is_missing(name):
    check = check_access({name: ENVIRON[name]})
    assert check.verdict is CheckLevel.WARN
    assert (KEY_FILE if name == SPREADSHEET else SPREADSHEET) in check.advice


def test_with_both_it_is_on_and_says_whom_to_share_the_spreadsheet_with(tmp_path):
    path = tmp_path / "key.json"
    path.write_text(ENVIRON[KEY_JSON])
    for environ in (ENVIRON, {SPREADSHEET: ENVIRON[SPREADSHEET], KEY_FILE: str(path)}):
        check = check_access(environ)
        assert check.verdict is CheckLevel.OK
        assert "thresher@practice.example" in check.found


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({SPREADSHEET: "https://docs.google.com/x"}, "between /d/ and /edit"),
        ({KEY_JSON: "{"}, "must be the JSON key of a service account"),
        ({KEY_JSON: json.dumps({**KEY, "type": "authorized_user"})}, "of type service_account"),
        ({KEY_JSON: json.dumps({**KEY, "token_uri": "https://evil.example/"})}, "whose token_uri is"),
        ({KEY_JSON: json.dumps({**KEY, "private_key": "nonsense"})}, "not an RSA key"),
        ({KEY_JSON: "", KEY_FILE: "/nowhere/key.json"}, "cannot be read"),
    ],
)
def test_a_key_that_cannot_be_used_fails_the_check_and_no_secret_is_shown(change, words):
    check = check_access(ENVIRON | change)
    assert check.verdict is CheckLevel.FAIL
    assert words in check.found
    assert "PRIVATE" not in check.found
    assert "nonsense" not in check.found


def test_the_request_for_a_token_is_signed_by_the_account():
    access = read_access(ENVIRON)
    assert isinstance(access, Access)
    assert "PRIVATE" not in repr(access)
    body = token_request(access).decode()
    assert verify(body.partition("assertion=")[2])["iss"] == access.email


def test_an_access_that_is_wrong_is_refused_before_anything_is_sent():
    with pytest.raises(ConfigError):
        read_access({**ENVIRON, SPREADSHEET: "../../token"})
