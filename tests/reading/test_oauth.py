"""Tokens for the credentials of a client: what is sent, and what strangers answer."""

import base64
import json
from typing import Any
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.core.errors import ConfigError
from thresher.fetch.cache import may_keep
from thresher.fetch.request import Response, order
from thresher.reading.apis.definition import OAuth, oauth_of, parameters_of, request_of
from thresher.reading.apis.oauth import (
    DEFAULT_LIFE,
    MAX_LIFE,
    NoToken,
    Token,
    read_token,
    refusal,
    token_call,
)
from thresher.reading.apis.request import filled
from thresher.reading.structured.checked_yaml import Mistake

OAUTH = OAuth("https://fair.example/oauth/token", "FAIR_ID", "FAIR_SECRET", "read prices")
ENV = {"FAIR_ID": "me:and/you", "FAIR_SECRET": "s3cret&more="}


def test_the_secrets_stand_in_the_credentials_alone_and_no_copy_is_kept() -> None:
    call = token_call("fair", OAUTH, ENV)
    assert parse_qs(call.body.decode()) == {"grant_type": ["client_credentials"], "scope": ["read prices"]}
    assert not any(part in f"{call.url}{call.headers}{call.body!r}" for part in ("s3cret", "me:and"))
    assert call.credentials is not None
    assert call.credentials.origin == "https://fair.example"
    kind, _, written = call.credentials.headers["authorization"].partition(" ")
    assert (kind, base64.b64decode(written)) == ("Basic", b"me%3Aand%2Fyou:s3cret%26more%3D")
    request = order(
        call.url, method="POST", headers=call.headers, body=call.body, credentials=call.credentials
    )
    answer = Response(200, {"cache-control": "max-age=3600"}, b'{"access_token": "t"}')
    assert not may_keep(request, answer, max_age=3_600.0)
    plain = order(call.url, method="POST", body=call.body)
    assert may_keep(plain, answer, max_age=3_600.0)  # without our word it would be kept


@pytest.mark.parametrize(
    ("env", "says"),
    [
        ({}, "set the environment variables FAIR_ID and FAIR_SECRET"),
        ({"FAIR_ID": "me"}, "set the environment variable FAIR_SECRET"),
        ({"FAIR_ID": "  ", "FAIR_SECRET": "x"}, "set the environment variable FAIR_ID"),
        ({"FAIR_ID": "me", "FAIR_SECRET": "a\nb"}, "FAIR_SECRET does not hold valid credentials"),
        ({"FAIR_ID": "ich@münz", "FAIR_SECRET": "x"}, "FAIR_ID does not hold valid credentials"),
    ],
)
def test_what_is_missing_or_broken_is_named_without_its_value(env: dict[str, str], says: str) -> None:
    with pytest.raises(ConfigError) as told:
        token_call("fair", OAUTH, env)
    assert says in str(told.value)
    assert "münz" not in str(told.value)


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ({"expires_in": 7200}, 7_200),
        ({"expires_in": "7200"}, 7_200),
        ({"expires_in": 10**12}, MAX_LIFE),
        ({"expires_in": -5}, DEFAULT_LIFE),
        ({"expires_in": 0}, DEFAULT_LIFE),
        ({"expires_in": True}, DEFAULT_LIFE),
        ({"expires_in": None}, DEFAULT_LIFE),
        ({"expires_in": "soon"}, DEFAULT_LIFE),
        ({}, DEFAULT_LIFE),
        ({"token_type": "Application Access Token"}, DEFAULT_LIFE),
    ],
)
def test_a_token_holds_as_long_as_it_says_within_reason(said: dict[str, Any], seconds: int) -> None:
    found = read_token(json.dumps({"access_token": "v^1.1#abc", **said}).encode())
    assert found == Token("v^1.1#abc", seconds)
    assert "abc" not in repr(found)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b"{}",
        b'{"access_token": 7}',
        b'{"access_token": "  "}',
        b'{"access_token": "a\\nb"}',
        b'{"access_token": "m\\u00fcnz"}',
        b'{"access_token": "' + b"x" * 10_000 + b'"}',
        b'{"access_token": "x", "token_type": "mac"}',
        b"\xff\xfe",
    ],
)
def test_what_is_no_token_is_said_to_be_none(body: bytes) -> None:
    found = read_token(body)
    assert isinstance(found, NoToken)
    assert found.reason.isprintable()


def test_a_refusal_is_known_by_its_code_and_told_without_what_may_be_a_key() -> None:
    said = {
        "error": "invalid_scope",
        "error_description": "client 0815-secret-4711-abcdef may not\nhave this",
    }
    found = refusal(json.dumps(said))
    assert found.code == "invalid_scope"
    assert "0815" not in found.reason
    assert found.reason.isprintable()
    assert refusal('{"error": {"a": 1}}').code == ""


@given(st.binary(max_size=200))
def test_no_bytes_make_the_reading_raise(body: bytes) -> None:
    assert isinstance(read_token(body), Token | NoToken)
    assert isinstance(refusal(body.decode("utf-8", "replace")), NoToken)


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({"url": "/token", "client_id": "A", "client_secret": "B"}, "is not the address of a token endpoint"),
        ({"url": "https://x.example/{site}", "client_id": "A", "client_secret": "B"}, "is not the address"),
        ({"url": "https://x.example/t", "client_secret": "B"}, "write client_id: the name"),
        (
            {"url": "https://x.example/t", "client_id": "A", "client_secret": "b c"},
            "write client_secret: the name",
        ),
        (
            {"url": "https://x.example/t", "client_id": "A", "client_secret": "B", "scope": "a\nb"},
            "on one line",
        ),
        (
            {"url": "https://x.example/t", "client_id": "A", "client_secret": "B", "token": "x"},
            "not a known key",
        ),
    ],
)
def test_a_wrong_declaration_is_named(said: dict[str, Any], says: str) -> None:
    with pytest.raises(Mistake) as told:
        oauth_of(said, ("oauth",))
    assert says in told.value.advice


def test_a_header_is_filled_by_a_checked_parameter_and_left_out_without_a_value() -> None:
    data = {"url": "https://x.example/a", "headers": {"X-Site": "{site}", "accept": "application/json"}}
    request = request_of(data, ())
    parameters = parameters_of({"site": {"help": "Site.", "pattern": "[a-z]+"}}, (), ())
    assert request.header_holes == {"site"}
    assert filled(request, {"site": "de"}, parameters).headers == {
        "x-site": "de",
        "accept": "application/json",
    }
    assert filled(request, {}, parameters).headers == {"accept": "application/json"}
