"""detectConfiguration from end to end, on both stores: what is written, who is told, what a crash repeats."""

from typing import Any

import orjson
import pytest

from tests.apps.extractions.shop import HOST, LIST, PRODUCT, Shop, extract, items, skus
from tests.apps.extractions.shop import world as in_memory
from tests.harness.databases import file_and_server
from thresher.apps.extractions.detect import DETECT
from thresher.apps.extractions.model import (
    Configuration,
    Level,
    Limits,
    Origin,
    PageType,
    PagingKind,
    Recipe,
    RecipeStatus,
)
from thresher.apps.extractions.recipe_file import RecipeSpec
from thresher.apps.extractions.store.recipes import (
    ask_detection,
    find_recipe,
    give_configuration,
    retire_recipe,
    save_recipe,
)
from thresher.core.stored import read
from thresher.core.task import NewTask
from thresher.testing.web import Reply
from thresher.testing.world import World

pytest_generate_tests = file_and_server


def ask(made: World, *, name: str = "shop", url: str = LIST, given: Any = None) -> int:
    """Make a recipe, or take the one that is there, and ask for its configuration."""
    with made.store.write() as session:
        now = made.store.backend.now(session)
        recipe = save_recipe(
            session, name, RecipeSpec(url, PRODUCT, None, Limits()), Origin.PERSON, "a person", now
        )
        number = ask_detection(session, recipe.id, "a test asks", now)
    payload = {"recipe": recipe.id, "detection": number, "name": name} | ({"given": given} if given else {})
    made.enqueue(NewTask(DETECT, payload, url=url, key=f"{DETECT}.{recipe.id}.{number}"))
    return number


def recipe_in(made: World, name: str = "shop") -> Recipe:
    with made.store.read() as session:
        found = find_recipe(session, name)
    assert found is not None
    return found


def detect(made: World, **how: Any) -> Recipe:
    ask(made, **how)
    made.run_until_idle(within=120)
    return recipe_in(made, how.get("name", "shop"))


def test_a_configuration_is_detected_proved_and_told(world):
    shop = Shop(25)
    with world(shop) as made:
        found = detect(made)
        assert found.status is RecipeStatus.SUCCESS, found.reason
        assert found.version == 1
        lists, details = found.configuration.levels
        assert (lists.page_type, details.page_type) == (PageType.DETAIL_LINKS, PageType.DETAIL)
        assert lists.pagination.kind is PagingKind.PAGE_NUM
        assert lists.link_pattern == r"^https://shop\.example/thing/\d+$"
        report = found.report
        assert report["items"]["likely"] == 25
        assert report["pages"]["likely"] == 28
        assert len(report["preview"]) == 3
        assert report["preview"][0]["data"]["name"].startswith("Thing number")
        assert report["preview"][0]["evidence"]["places"]["name"]["quote"].startswith("Thing number")
        assert report["cost"]["dollars"] == 0.0
        ((title, body),) = made.messages
        assert title == "Recipe shop: configuration detected"
        assert "25 items" in body


def test_what_was_detected_can_be_walked(world):
    with world(Shop(25)) as made:
        detect(made)
        view = extract(made)
        assert view.status == "COMPLETE", view.reason
        assert skus(items(made, view)) == sorted(f"T-{each}" for each in range(25))


def test_no_page_is_requested_twice_for_one_detection(world):
    shop = Shop(25)
    with world(shop) as made:
        detect(made)
        assert len(shop.asked) == len(set(shop.asked))
        assert len(shop.asked) <= 10


@pytest.mark.parametrize(
    ("status", "says"),
    [(404, "does not exist"), (403, "not open to everybody"), (401, "not open to everybody")],
)
def test_a_root_that_cannot_be_had_is_an_error_in_plain_words(world, status: int, says: str):
    with world(Shop(3)) as made:
        made.web.add({LIST: Reply("no", status)})
        found = detect(made)
        assert found.status is RecipeStatus.ERROR
        assert says in (found.reason or "")
        assert found.configuration is None
        ((title, body),) = made.messages
        assert title == "Recipe shop: no configuration"
        assert says in body


@pytest.mark.promise(1)
def test_a_root_that_robots_txt_disallows_is_refused_and_not_requested(world):
    shop = Shop(3)
    with world(shop) as made:
        made.web.add({f"{HOST}/robots.txt": "User-agent: *\nDisallow: /things\n"})
        found = detect(made)
        assert found.status is RecipeStatus.ERROR
        assert "robots.txt" in (found.reason or "")
        assert LIST not in shop.asked


def test_an_error_that_passes_is_retried_in_silence(world):
    shop = Shop(25)
    shop.down.add(LIST)
    answer = shop.pages()[LIST]

    def first_down(request: Any) -> Any:
        found = answer(request)
        shop.down.discard(LIST)
        return found

    with world(shop) as made:
        made.web.add({LIST: first_down})
        found = detect(made)
        assert found.status is RecipeStatus.SUCCESS, found.reason
        assert [title for title, _ in made.messages] == ["Recipe shop: configuration detected"]


def test_a_failure_is_told_once_and_only_after_the_last_retry(world):
    shop = Shop(25)
    shop.down.add(LIST)
    with world(shop) as made:
        ask(made)
        made.run_until_idle(within=0.5)
        assert made.messages == []
        assert recipe_in(made).status is RecipeStatus.IN_PROGRESS
        made.run_until_idle(within=200)
        found = recipe_in(made)
        assert found.status is RecipeStatus.ERROR
        assert "503" in (found.reason or "")
        assert len(made.messages) == 1
        assert shop.asked.count(LIST) == 3


def test_a_sample_that_stays_down_does_not_stop_the_detection(world):
    shop = Shop(25)
    shop.down.add(f"{HOST}/thing/0")
    with world(shop) as made:
        ask(made)
        made.run_until_idle(within=200)
        found = recipe_in(made)
        assert found.status is RecipeStatus.SUCCESS, found.reason
        troubles = [
            each for level in found.report["levels"] for each in level["samples"] if each.get("trouble")
        ]
        assert [each["url"] for each in troubles] == [f"{HOST}/thing/0"]


def test_an_older_detection_is_skipped_and_changes_nothing(world):
    shop = Shop(25)
    with world(shop) as made:
        ask(made)
        ask(made)
        made.run_until_idle(within=120)
        assert [task["state"] for task in made.tasks(DETECT)] == ["skipped", "succeeded"]
        assert recipe_in(made).version == 1
        assert len(made.messages) == 1


def test_a_detection_of_a_retired_recipe_is_skipped(world):
    shop = Shop(25)
    with world(shop) as made:
        ask(made)
        recipe = recipe_in(made)
        with made.store.write() as session:
            retire_recipe(session, recipe.id, made.store.backend.now(session))
        made.run_until_idle(within=120)
        assert shop.asked == []
        assert recipe_in(made).configuration is None


def test_a_configuration_that_a_person_gives_meanwhile_stays(world):
    shop = Shop(25)
    with world(shop) as made:
        ask(made)
        recipe = recipe_in(made)
        with made.store.write() as session:
            now = made.store.backend.now(session)
            give_configuration(session, recipe.id, Configuration((Level(PageType.DETAIL),)), "a person", now)
        made.run_until_idle(within=120)
        assert len(recipe_in(made).configuration.levels) == 1
        assert made.messages == []


def parts_of(thing: int) -> str:
    rows = "".join(
        f'<li><a href="/part/{thing}{at:02}"><h3>Part number {at} of {thing}</h3><p>of steel</p></a></li>'
        for at in range(12)
    )
    return f"<h1>Parts</h1><ul>{rows}</ul><nav class='pagination'><a href='?page=2'>2</a> <a href='?page=3'>3</a></nav>"


def test_mixed_pages_are_a_question_and_an_answer_is_obeyed(world):
    shop = Shop(10)
    with world(shop) as made:
        made.web.add({f"{HOST}/thing/{at}": parts_of(at) for at in range(0, 10, 2)})
        found = detect(made)
        assert found.status is RecipeStatus.ERROR
        assert "Pages of one list differ" in (found.reason or "")
        question = found.report["question"]
        assert len(question["choices"]) == 3
        chosen = question["choices"][0]
        assert chosen["says"] == "Each page is about one product."
        for each in question["choices"]:
            levels = read(Configuration, each["configuration"]).levels
            assert levels[-1].page_type is PageType.DETAIL, "each answer is a whole configuration"
        again = detect(made, given=chosen["configuration"])
        assert again.status is RecipeStatus.SUCCESS, again.reason
        assert [level.page_type for level in again.configuration.levels] == [
            PageType.DETAIL_LINKS,
            PageType.DETAIL,
        ]


def test_a_script_shell_with_an_api_becomes_an_api_source(world):
    rows = [
        {"name": f"Thing {at}", "sku": f"T-{at}", "price": "1.50", "description": "A thing."}
        for at in range(30)
    ]
    shell = '<div id="root"></div><script>fetch("/api/things?page=" + page)</script>'

    def answer(request: Any) -> Reply:
        at = int(request.url.rpartition("page=")[2])
        body = {"total": len(rows), "items": rows[(at - 1) * 10 : at * 10]}
        return Reply(orjson.dumps(body), headers={"content-type": "application/json"})

    with world(Shop(0)) as made:
        made.web.add({LIST: shell, f"{HOST}/api/things*": answer})
        found = detect(made)
        assert found.status is RecipeStatus.SUCCESS, found.reason
        definition = found.configuration.api.definition
        assert definition["request"]["query"] == {"page": "{page}"}
        assert definition["answer"]["rows"] == "items"
        assert definition["answer"]["fields"]["sku"] == "sku"
        assert found.report["items"]["likely"] == 30
        assert found.report["preview"][0]["data"]["name"] == "Thing 0"


def test_a_shell_without_an_api_and_without_a_browser_says_what_to_do(world):
    with world(Shop(0)) as made:
        made.web.add({LIST: '<div id="root"></div><script>draw()</script>'})
        found = detect(made)
        assert found.status is RecipeStatus.ERROR
        assert "no browser is available" in (found.reason or "")


class Killed(BaseException):
    """The process dies in the middle of an attempt: nothing of it is settled."""


@pytest.mark.promise(4)
@pytest.mark.parametrize("deadly", [1, 2, 4, 6, 8])
def test_a_detection_that_dies_at_a_page_repeats_only_that_page(world, deadly: int):
    shop = Shop(25)
    answers = shop.pages()

    def dies(request: Any) -> Any:
        found = answers[request.url](request)
        if len(shop.asked) == deadly:
            raise Killed
        return found

    with world(shop) as made:
        made.web.add(dict.fromkeys(answers, dies))
        ask(made)
        with pytest.raises(Killed):
            made.run_until_idle(within=120)
    with world(shop) as made:
        made.advance(minutes=2)  # the lease of the dead worker is over
        made.run_until_idle(within=120)
        found = recipe_in(made)
    with in_memory(Shop(25)) as fresh:
        undisturbed = detect(fresh)
    assert (found.status, found.version) == (RecipeStatus.SUCCESS, 1)
    assert found.configuration == undisturbed.configuration
    assert found.report == undisturbed.report
    repeated = {url for url in shop.asked if shop.asked.count(url) > 1}
    assert len(repeated) <= 1
