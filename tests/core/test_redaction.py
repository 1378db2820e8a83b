"""Whatever a secret travels in, it does not come out: known values in any spelling, unknown ones by where
they stand. And what is no secret is left alone.
"""

import base64
import json
import time
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.core.decide import error_of
from thresher.core.errors import Malformed
from thresher.core.redaction import (
    HIDDEN,
    KnownSecrets,
    is_secret_name,
    redact,
    redact_end,
    redact_json,
    redact_start,
    redact_value,
    secrets_in_url,
)

pytestmark = pytest.mark.promise(17)

LETTERS = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
TOKENS = st.text(LETTERS + "-_", min_size=12, max_size=60)
# Anything that somebody may choose as a password, also what has a meaning in addresses, JSON and patterns.
ANY = st.text(
    st.characters(min_codepoint=33, max_codepoint=0x2FF, exclude_characters="*\x7f"), min_size=12, max_size=40
)


def percent(text: str, mask: int) -> str:
    """Some letters percent-encoded, in either case."""
    told = []
    for at, char in enumerate(text):
        coded = "".join(f"%{byte:02x}" for byte in char.encode())
        told.append((coded.upper() if mask >> at & 2 else coded) if mask >> at & 1 else char)
    return "".join(told)


SPELLINGS = (
    lambda secret, _: secret,
    percent,
    lambda secret, _: quote(secret, safe=""),
    lambda secret, _: quote(quote(secret, safe=""), safe=""),
    lambda secret, _: repr(secret)[1:-1],
    lambda secret, _: json.dumps(secret)[1:-1],
    lambda secret, _: json.dumps(json.dumps(secret))[3:-3],
)


@given(ANY, st.sampled_from(SPELLINGS), st.integers(0, 2**40), st.text(max_size=20), st.text(max_size=20))
def test_a_known_value_is_hidden_in_every_spelling(secret, spell, mask, before, after):
    known, spelled = KnownSecrets([secret]), spell(secret, mask)
    said = redact(f"{before} {spelled} {after}", known)
    assert spelled not in said
    assert secret not in said
    assert HIDDEN in said


WHERE = (
    "Authorization: Bearer {}",
    "authorization: Basic {}",
    "{{'Authorization': 'Bearer {}', 'Accept': '*/*'}}",
    "[('Proxy-Authorization', 'Bearer {}'), ('accept', 'x')]",
    "[(b'authorization', b'Bearer {}')]",
    "Cookie: theme=dark; session={}; x=1",
    "Set-Cookie: sid={}; HttpOnly",
    "X-API-Key: {}",
    "X-Acme-Api-Key: {}",
    "x-tenant-key={}",
    "GET https://user:{}@acme.example/jobs failed",
    "https://{}@acme.example/jobs",
    "postgresql://ann:{}@db:5432/queue",
    "redis://:{}@db",
    "host=db user=ann password={} dbname=q",
    "password='{}'",
    "https://acme.example/jobs?page=2&api_key={}&x=1",
    "https://acme.example/?key={}",
    "https://acme.example/?X-Amz-Signature={}",
    "/jobs?sig={}",
    "https://acme.example/?access%5Ftoken={}",
    "https://acme.example/?next=https%3A%2F%2Fb.example%2F%3Ftoken%3D{}",
    '{{"client_secret": "{}"}}',
    '{{\\"refresh_token\\": \\"{}\\"}}',
    "OPENAI_API_KEY={} thresher worker",
    "passwd: {}",
    "secret={}",
    "token={}",
    "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
    "webhook secret whsec_{}",
    "thr_0123456789ab_{}",
)


@given(TOKENS, st.sampled_from(WHERE))
def test_an_unknown_secret_is_hidden_where_secrets_stand(secret, where):
    said = redact(f"the call failed: {where.format(secret)}", KnownSecrets())
    assert secret not in said, said
    assert HIDDEN in said


@given(TOKENS, st.sampled_from(("authorization", "X-Acme-Api-Key", "password", "set-cookie", "clientSecret")))
def test_a_nested_value_is_hidden_by_its_name(secret, name):
    value = {"request": [{"headers": {name: [secret]}, "url": f"https://u:{secret}@h/?token={secret}"}]}
    assert secret not in json.dumps(redact_value(value))
    assert secret not in redact_json(json.dumps(value))


@given(TOKENS, st.integers(0, 300), st.integers(0, 300))
def test_a_limit_never_leaves_a_part_of_a_secret(secret, ahead, limit):
    text = f"{'x' * ahead}{secret}{'y' * 5_000}"
    known = KnownSecrets([secret])
    for said in (
        redact_start(text, limit, known),
        redact_end(text[::-1], limit, KnownSecrets([secret[::-1]])),
    ):
        assert not any(secret[at : at + 6] in said or secret[::-1][at : at + 6] in said for at in (0, 2))


@pytest.mark.parametrize(
    "text",
    [
        "https://acme.example/jobs/12?page=2&sort=date answered 503",
        "http://acme.example:8080/@bob",
        "https://medium.example/@user/post",
        "input_tokens=5, max_tokens: 7",
        'www-authenticate: Bearer realm="thresher"',
        "the page has no title; 3 of 5 fields were found",
        "key greenhouse:acme/1 of kind posting",
        "mail to bob@acme.example",
        '{"id": 1, "sort_key": "a"}',
    ],
)
def test_what_is_no_secret_is_left_alone(text):
    assert redact(text, KnownSecrets(["another-value"])) == text


def test_a_few_letters_are_no_secret_that_could_be_found():
    assert redact("the a of abc", KnownSecrets(["abc", "", " ", "postgres"])) == "the a of abc"


def test_a_secret_of_many_lines_is_found_by_its_lines():
    key = "\n".join(base64.b64encode(bytes([number]) * 30).decode() for number in range(3))
    said = redact(f"cannot read {key.splitlines()[1]}", KnownSecrets([key]))
    assert said == f"cannot read {HIDDEN}"


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("postgresql://ann:a/hunter2@127.0.0.1:1/queue", ["a/hunter2"]),
        ("postgresql://ann:a@hunter2@h/q", ["a@hunter2"]),
        ("postgresql://h/q?user=ann&password=hunter2", ["hunter2"]),
        ("https://ghp_token@acme.example/x", ["ghp_token"]),
        ("http://127.0.0.1:3128", []),
        ("https://medium.example/@user", []),
        ("sqlite:///thresher.db", []),
        ("no address", []),
    ],
)
def test_the_passwords_of_an_address(url, found):
    assert secrets_in_url(url) == found


def test_names_of_secrets():
    for name in (
        "Authorization",
        "Proxy-Authorization",
        "X-Acme-API-Key",
        "api_key",
        "accessToken",
        "PGPASSWORD",
    ):
        assert is_secret_name(name), name
    for name in ("key", "sort_key", "tokens", "author", "path", "primary"):
        assert not is_secret_name(name), name


@pytest.mark.parametrize(
    "text",
    [
        "password",
        "'password':",
        "?a",
        "&a=%25",
        "a://",
        "://a:",
        "cookie: ",
        "bearer ",
        "token=\\",
        '\\"token\\"',
        "%25",
    ],
)
def test_a_hostile_text_takes_no_time(text):
    began = time.process_time()
    redact_start(text * 100_000, 16_000, KnownSecrets(["%2525252525", "passwordpassword-x"]))
    assert time.process_time() - began < 0.5


def test_an_error_is_stored_without_secrets():
    said = error_of(Malformed("https://u:hunter2xyz@h/?token=abcdefgh is no page")).message
    assert said == "https://u:***@h/?token=*** is no page"
    assert "hunter2" not in error_of(ValueError("password=hunter2xyz")).message


def test_a_sentence_about_credentials_keeps_its_words():
    said = "eBay needs credentials: set the environment variables EBAY_CLIENT_ID and EBAY_CLIENT_SECRET"
    assert redact(said) == said
    assert "abc123DEF" not in redact("credentials: abc123DEF")


def test_the_number_of_a_session_of_work_is_told_and_that_of_a_login_in_an_address_is_not():
    told = '{"session_id":"f3a9c2d17b","role":"welder"}'
    assert redact_json(told) == told
    assert "f3a9c2d17b" not in redact("https://acme.example/?sessionid=f3a9c2d17b")
