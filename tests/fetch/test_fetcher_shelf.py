"""Copies of pages: when one serves, when it is confirmed, and whose it is."""

import pytest

from tests.fetch.desk import FRESH, SHOP, at
from tests.fetch.site import moved, page
from tests.harness.databases import only_sqlite
from thresher.core import errors
from thresher.core.clock import DAY, SECOND
from thresher.core.page import Via

__all__ = ["at"]

pytestmark = only_sqlite


@pytest.mark.promise(16)
def test_a_fresh_copy_needs_no_request_and_no_gate(at):
    async def story(desk):
        first = await desk.fetch()
        passed = list(desk.book.passed)
        desk.clock.advance(59 * SECOND)
        again = await desk.fetch()
        assert (again.body, again.via, again.fetched_at) == (first.body, Via.CACHE, first.fetched_at)
        assert desk.book.passed == passed
        desk.clock.advance(2 * SECOND)
        assert (await desk.fetch()).via is Via.HTTP

    at({"shop.example/a": page(**FRESH)}, story)


def test_a_stale_copy_is_confirmed_by_its_etag(at):
    def say(asked):
        return (
            page(status=304, etag='"1"', x_turn="2")
            if asked.headers.get("if-none-match") == '"1"'
            else page("<p>one", etag='"1"')
        )

    async def story(desk):
        first = await desk.fetch()
        again = await desk.fetch()
        assert (again.status, again.body, again.via, again.headers["x-turn"]) == (
            200,
            first.body,
            Via.CACHE,
            "2",
        )
        assert desk.pages() == ["/a", "/a"]

    at({"shop.example/a": say}, story)


def test_not_modified_about_something_else_is_asked_again_without_conditions(at):
    def say(asked):
        if "if-none-match" in asked.headers:
            return page(status=304, etag='"2"')
        return page("<p>two" if seen else "<p>one", etag='"1"')

    seen = []

    async def story(desk):
        seen.append(await desk.fetch())
        assert (await desk.fetch()).body == b"<p>two"
        assert desk.pages() == ["/a", "/a", "/a"]

    at({"shop.example/a": say}, story)


def test_not_modified_to_a_question_without_condition_is_malformed(at):
    async def story(desk):
        with pytest.raises(errors.Malformed, match="304"):
            await desk.fetch()

    at({"shop.example/a": page(status=304)}, story)


def test_who_sends_conditions_of_their_own_hears_the_answer_itself(at):
    async def story(desk):
        assert (await desk.fetch(headers={"If-None-Match": '"1"'})).status == 304

    at({"shop.example/a": page(status=304)}, story)


def test_a_redirect_with_a_lifetime_is_followed_from_the_shelf(at):
    async def story(desk):
        await desk.fetch()
        found = await desk.fetch()
        assert (found.final_url, found.via) == (f"{SHOP}/b", Via.HTTP)
        assert desk.pages() == ["/a", "/b", "/b"]

    at(
        {"shop.example/a": lambda asked: _with(moved("/b", 301), "max-age=60"), "shop.example/b": "<p>"},
        story,
    )


def _with(answer, caching):
    answer.headers["cache-control"] = caching
    return answer


def test_a_page_that_is_gone_is_not_kept_any_longer(at):
    answers = iter([page("<p>", etag='"1"'), page(status=404)])

    async def story(desk):
        await desk.fetch()
        with pytest.raises(errors.Gone):
            await desk.fetch()
        with pytest.raises(errors.Refused):
            await desk.fetch(replay=True)

    at({"shop.example/a": lambda asked: next(answers)}, story)


@pytest.mark.promise(2)
def test_two_sources_that_ask_alike_are_not_given_each_others_pages(at):
    async def story(desk):
        await desk.fetch(source="source:coins", max_age=60)
        await desk.fetch(source="source:stamps", max_age=60)
        assert desk.pages() == ["/a", "/a"]

    at({"shop.example/a": "<p>"}, story)


@pytest.mark.promise(2)
def test_two_accounts_are_not_given_each_others_pages(at):
    async def story(desk):
        mine = await desk.fetch(headers={"Authorization": "me"})
        yours = await desk.fetch(headers={"Authorization": "you"})
        assert (mine.body, yours.body) == (b"me", b"you")

    at({"shop.example/a": lambda asked: page(asked.headers["authorization"], **FRESH)}, story)


@pytest.mark.promise(2)
def test_two_posts_with_different_bodies_are_two_questions(at):
    async def story(desk):
        bodies = [
            (await desk.fetch(method="POST", body=body, max_age=60)).body for body in (b"1", b"2", b"1")
        ]
        assert bodies == [b"1", b"2", b"1"]
        assert len(desk.pages()) == 2

    at({"shop.example/a": lambda asked: page(asked.body.decode())}, story)


def test_replay_reads_what_is_kept_however_old_and_says_what_to_do_when_nothing_is(at):
    async def story(desk):
        await desk.fetch()
        desk.clock.advance(30 * DAY)
        before = len(desk.site.log)
        found = await desk.fetch(replay=True)
        assert (found.final_url, found.via) == (f"{SHOP}/b", Via.CACHE)
        with pytest.raises(errors.Refused, match="fetch it once without replay"):
            await desk.fetch(f"{SHOP}/other", replay=True)
        assert len(desk.site.log) == before

    at({"shop.example/a": moved("/b"), "shop.example/b": "<p>"}, story)


def test_a_setting_turns_everything_into_replay(at):
    async def story(desk):
        with pytest.raises(errors.Refused, match="replay"):
            await desk.fetch()
        assert desk.site.log == []

    at({"*": "<p>"}, story, fetch__replay=1)


@pytest.mark.parametrize(("settings", "requests"), [({"fetch__keep_pages": 0}, 2), ({}, 1)])
def test_nothing_is_kept_where_nothing_is_to_be_kept(at, settings, requests):
    async def story(desk):
        await desk.fetch()
        await desk.fetch()
        assert len(desk.pages()) == requests

    at({"shop.example/a": page(**FRESH)}, story, **settings)
