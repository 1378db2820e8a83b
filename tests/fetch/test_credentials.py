"""Secrets go to the origin they are for, and into nothing that is stored, shown or sent elsewhere."""

import logging

import pytest

from tests.fetch.desk import SHOP, at
from tests.fetch.site import moved, page
from tests.harness.databases import only_sqlite
from thresher.core import errors
from thresher.core.credentials import Credentials

__all__ = ["at"]

pytestmark = only_sqlite

SECRET = "s3cret-k&y"
SPELLED = (SECRET, "s3cret-k%26y")
KEY = Credentials(SHOP, headers={"X-Tenant": SECRET})
PARAMETER = Credentials(SHOP, query={"apikey": SECRET})


def holds_secret(text):
    return any(each in str(text) for each in SPELLED)


def stored(store):
    with store.read() as session:
        return str(session.rows("select url, headers, stored from pages", {}))


@pytest.mark.promise(17)
@pytest.mark.parametrize("name", ["X-Tenant", "Acme-Licence", "X-Whoever", "From", "If-None-Match"])
def test_no_header_of_a_callers_own_survives_a_redirect_to_another_origin(at, name):
    async def story(desk):
        await desk.fetch(headers={name: SECRET, "Accept-Language": "de"})
        sent = {asked.path: asked.headers for asked in desk.site.log}
        assert sent["/b"][name.lower()] == SECRET
        assert not any(map(holds_secret, sent["/c"].values()))
        assert sent["/c"]["accept-language"] == "de"

    at(
        {
            "shop.example/a": moved("/b"),
            "shop.example/b": moved("https://other.example/c"),
            "other.example/c": "<p>",
        },
        story,
    )


@pytest.mark.promise(17)
@pytest.mark.parametrize("credentials", [KEY, PARAMETER])
def test_credentials_reach_their_origin_and_no_other_not_even_on_the_way_back(at, credentials):
    async def story(desk):
        found = await desk.fetch(f"{SHOP}/a?page=1", credentials=credentials)
        sent = {
            asked.path.partition("?")[0]: (asked.path, asked.headers.get("x-tenant"))
            for asked in desk.site.log
        }
        assert all(holds_secret(sent[path]) for path in ("/a", "/b"))
        assert not any(holds_secret(sent[path]) for path in ("/c", "/d", "/robots.txt"))
        assert not holds_secret(found)

    at(
        {
            "shop.example/a": moved("/b"),
            "shop.example/b": moved("https://other.example/c"),
            "other.example/c": moved(f"{SHOP}/d"),
            "shop.example/d": "<p>",
        },
        story,
    )


@pytest.mark.promise(17)
def test_credentials_are_not_sent_where_another_host_is_asked_first(at):
    async def story(desk):
        await desk.fetch("https://other.example/a", credentials=KEY)
        await desk.fetch("http://shop.example/a", credentials=PARAMETER)
        assert not any(holds_secret((asked.path, asked.headers)) for asked in desk.site.log)

    at({"other.example/a": "<p>", "shop.example/a": "<p>"}, story)


@pytest.mark.promise(17)
def test_a_secret_parameter_is_in_no_stored_page_and_no_header_that_repeats_it(at, store):
    echo = {
        "content-location": f"/list?apikey={SPELLED[1]}",
        "x-echo": SECRET,
        "vary": "x-tenant",
        "cache-control": "max-age=60",
    }

    async def story(desk):
        for _ in range(2):
            found = await desk.fetch(f"{SHOP}/a?page=2&apikey={SPELLED[1]}", credentials=PARAMETER)
            assert (found.url, found.final_url) == (f"{SHOP}/a?page=2", f"{SHOP}/b?page=2")
            assert not holds_secret((found.headers, found.hops))
        assert desk.pages() == [
            f"/{path}?page=2&apikey={SPELLED[1]}" for path in "aba"
        ]  # the second /b is a copy
        assert f"{SHOP}/b?page=2" in stored(store)
        assert not holds_secret(stored(store))

    at(
        {"shop.example/a": moved(f"/b?page=2&apikey={SPELLED[1]}"), "shop.example/b": page("<p>", **echo)},
        story,
    )


@pytest.mark.promise(17)
def test_what_vary_names_is_remembered_without_being_readable(at, store):
    async def story(desk):
        for _ in range(2):
            await desk.fetch(headers={"X-Tenant": SECRET})
        assert desk.pages() == ["/a"]
        assert not holds_secret(stored(store))

    at({"shop.example/a": page("<p>", vary="X-Tenant, Accept", cache_control="max-age=60")}, story)


@pytest.mark.promise(2)
def test_two_accounts_by_credentials_are_not_given_each_others_pages(at):
    async def story(desk):
        for credentials in (KEY, Credentials(SHOP, headers={"x-tenant": "another"}), KEY):
            found = await desk.fetch(max_age=60, credentials=credentials)
            assert found.body.decode() == credentials.headers.get("X-Tenant", "another")
        assert len(desk.pages()) == 2

    at({"shop.example/a": lambda asked: page(asked.headers["x-tenant"])}, story)


@pytest.mark.promise(17)
@pytest.mark.parametrize(
    ("says", "error"),
    [
        (page(status=403), errors.Unauthorized),
        (page(status=500), errors.ServerError),
        (moved("ftp://x"), errors.Malformed),
        (moved(f"/a?apikey={SPELLED[1]}"), errors.Malformed),
        (moved(f"/{'x' * 9000}?apikey={SPELLED[1]}"), errors.Malformed),
    ],
)
def test_no_error_and_no_log_line_says_a_secret(at, caplog, says, error):
    async def story(desk):
        with pytest.raises(error) as caught:
            await desk.fetch(credentials=PARAMETER)
        assert not holds_secret(caught.value)
        assert caught.value.gate in ("host:shop.example", None)

    with caplog.at_level(logging.DEBUG):
        at({"shop.example/a": says}, story)
    assert not holds_secret(caplog.text)


@pytest.mark.promise(17)
def test_an_error_of_the_transport_says_no_secret(at):
    class Broken:
        async def send(self, request, bounds, before_send=None):
            raise errors.Refused(f"{request.url} cannot be requested") from ValueError(request.url)

    async def story(desk):
        await desk.fetch()  # robots.txt is known from here on
        desk.fetcher._transport, real = Broken(), desk.fetcher._transport
        try:
            with pytest.raises(errors.Refused) as caught:
                await desk.fetch(credentials=PARAMETER)
        finally:
            desk.fetcher._transport = real
        assert not holds_secret(caught.value)
        assert caught.value.__cause__ is None

    at({"shop.example/a": "<p>"}, story)


@pytest.mark.parametrize("origin", ["", "shop.example", "file:///x"])
def test_credentials_without_an_origin_are_refused(at, origin):
    async def story(desk):
        with pytest.raises(errors.UsageError, match="origin they are for"):
            await desk.fetch(credentials=Credentials(origin, headers={"x": SECRET}))

    at({}, story)


def test_a_browser_is_given_no_credentials(at):
    class Browser:
        async def render(self, url, bounds=None, *, before_send=None):
            raise AssertionError(url)

        async def close(self): ...

    async def story(desk):
        desk.fetcher._browser = Browser()
        found = await desk.fetch(credentials=KEY, render=None)
        assert found.body == b"<div id=app></div><script src=/x.js></script>"
        with pytest.raises(errors.UsageError, match="never gets credentials"):
            await desk.fetch(credentials=KEY, render=True)

    at({"shop.example/a": "<div id=app></div><script src=/x.js></script>"}, story)


@pytest.mark.promise(17)
def test_a_user_agent_that_belongs_to_a_key_goes_where_the_key_goes_and_nowhere_else(at):
    named = Credentials(SHOP, headers={"User-Agent": SECRET})

    async def story(desk):
        await desk.fetch(credentials=named)
        sent = {f"{asked.host}{asked.path}": asked.headers["user-agent"] for asked in desk.site.log}
        assert sent.pop("shop.example/a") == SECRET
        assert all("me@example.com" in agent for agent in sent.values())
        assert "other.example/c" in sent
        with pytest.raises(errors.UsageError, match="one honest name for the whole project"):
            await desk.fetch(headers={"User-Agent": "somebody else"})

    at({"shop.example/a": moved("https://other.example/c"), "other.example/c": "<p>"}, story)


def test_an_error_takes_along_what_was_answered_without_the_secret_and_cut(at):
    async def story(desk):
        with pytest.raises(errors.Unauthorized) as caught:
            await desk.fetch(credentials=KEY)
        assert caught.value.status == 401
        assert caught.value.answer.startswith("no entry with ***, ")
        assert len(caught.value.answer) == 4_096
        assert SECRET not in str(caught.value)

    at({"shop.example/a": page(f"no entry with {SECRET}, " + "x" * 9_000, status=401)}, story)
