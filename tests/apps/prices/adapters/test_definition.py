"""Definitions of marketplaces: what is written wrong is named with its key and line, what is right asks what
it says, and no item can change an address.
"""

from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from thresher.apps.prices.adapters.adapter import NotAsked, SourceQuery
from thresher.apps.prices.adapters.catalogue import (
    adapter_of,
    checked_source,
    definitions,
    variables_of,
    with_definition,
)
from thresher.apps.prices.adapters.definition import read_marketplace
from thresher.apps.prices.adapters.marketplace import MarketplaceAdapter
from thresher.apps.prices.model import Adapter, Item, ItemSpec, ItemStatus, SourceSpec
from thresher.core.errors import ConfigError, UsageError
from thresher.reading.apis.answer import list_place
from thresher.reading.apis.request import bare_call

FAIR = """
name: fair
title: The fair
text: {any: ["{name}"], coin: ["{year}{mintmark}", "{series}", "{variety} variety"]}
exclude: "-"
max_text: 40
parameters:
  site: {help: Country of the fair., default: us, pattern: "[a-z]{2}"}
lists:
  sold:
    price: sold
    optional: true
    request: {url: "https://fair.example/sold", headers: {x-site: "{site}"}, query: {q: "{text}"}}
    answer: {rows: rows, fields: {title: t, amount: a}}
  ask:
    price: ask
    between: "+"
    request: {url: "https://fair.example/{site}/asks", query: {q: "{text}", gtin: "{gtin}"}}
    answer: {rows: rows, fields: {title: t, amount: a}}
"""


def changed(**more: Any) -> str:
    """The definition with other keys; None takes one away."""
    data = {**yaml.safe_load(FAIR), **more}
    return yaml.safe_dump({name: value for name, value in data.items() if value is not None}, sort_keys=False)


def a_list(**more: Any) -> dict[str, Any]:
    said = {**yaml.safe_load(FAIR)["lists"]["ask"], **more}
    return {"ask": {name: value for name, value in said.items() if value is not None}}


REQUEST: dict[str, Any] = {"url": "https://fair.example/a", "query": {"q": "{text}"}}


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"name": "The Fair"}, "name: 'The Fair' is not a valid name"),
        ({"colour": "blue"}, "colour: colour is not a known key"),
        ({"lists": {}}, "lists: {} is wrong"),
        ({"text": None}, "text: None is wrong"),
        ({"text": {"stamp": ["{name}"]}}, "text.stamp: 'stamp' is no kind of item"),
        ({"text": {"coin": ["{gtin}"]}}, "text.coin: nothing fills {gtin}"),
        ({"text": {"any": []}}, "text.any"),
        ({"lists": a_list(price="gift")}, "lists.ask.price: price is 'gift'; write one of sold, ask, bid"),
        ({"lists": a_list(price={"path": "state"})}, "lists.ask.price: which words mean sold"),
        ({"lists": a_list(price={"sold": ["x"]})}, "lists.ask.price: write sold, ask or bid, or the path"),
        ({"lists": a_list(optional=True)}, "lists.ask.optional: the last list cannot be optional"),
        ({"lists": a_list(scope="x")}, "lists.ask.scope: a scope is asked for where a token is"),
        (
            {"lists": a_list(answer={"rows": "r", "fields": {"title": "t"}})},
            "lists.ask.answer.fields: amount is missing",
        ),
        (
            {"lists": a_list(answer={"rows": "r", "fields": {"title": "t", "amount": "a", "smell": "s"}})},
            "lists.ask.answer.fields.smell: smell is not a known field",
        ),
        (
            {"lists": a_list(answer={"fields": {"title": "t", "amount": "a"}, "pairs": [{"each": "x"}]})},
            "lists.ask.answer.pairs[0]: name is missing",
        ),
        (
            {"lists": a_list(answer={"fields": {"title": "t", "amount": "a"}, "doubts": [{"path": "x"}]})},
            "lists.ask.answer.doubts[0]: write the path and what it says",
        ),
        ({"lists": a_list(request={**REQUEST, "headers": {"x-text": "{text}"}})}, "stands in a header"),
        ({"lists": a_list(request={**REQUEST, "url": "https://fair.example/{text}"})}, "stands in the path"),
        ({"lists": a_list(request={**REQUEST, "url": "https://{text}/"})}, "the host must be written out"),
        ({"lists": a_list(request=REQUEST)}, "parameters.site: {site} stands nowhere in a request"),
        ({"oauth": {"url": "fair.example/token"}}, "oauth.url: 'fair.example/token' is not the address"),
        (
            {"oauth": {"url": "https://fair.example/t", "client_id": "sk-12345"}},
            "oauth.client_id: write client_id",
        ),
        (
            {"lists": {**yaml.safe_load(FAIR)["lists"], "more": a_list()["ask"]}},
            "lists.more.request.url: another list has the same address",
        ),
        (
            {
                "lists": {
                    **yaml.safe_load(FAIR)["lists"],
                    "more": {**a_list()["ask"], "request": {**REQUEST, "url": "https://other.example/"}},
                }
            },
            "lists.more.request.url: all lists are asked for on the same host",
        ),
    ],
)
def test_a_mistake_is_named_with_its_key(more: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError) as told:
        read_marketplace(changed(**more), "fair.yaml")
    assert says in str(told.value)
    assert str(told.value).startswith("fair.yaml")


def test_the_line_of_a_mistake_is_named() -> None:
    with pytest.raises(ConfigError, match=r"fair\.yaml, line 11: lists\.sold\.price"):
        read_marketplace(FAIR.replace("price: sold", "price: gift"), "fair.yaml")


def adapter(text: str = FAIR, **options: Any) -> MarketplaceAdapter:
    spec = SourceSpec("fair", Adapter.MARKETPLACE, options={**options, "definition_text": text})
    made = adapter_of(spec)
    assert isinstance(made, MarketplaceAdapter)
    return made


def asked(item: ItemSpec, made: MarketplaceAdapter | None = None) -> SourceQuery:
    found = (made or adapter()).query(Item(1, item, ItemStatus.PENDING))
    assert isinstance(found, SourceQuery), found
    return found


@pytest.mark.parametrize(
    ("item", "text"),
    [
        (ItemSpec("x", "coin", {"year": "1881", "mintmark": "S", "series": "Morgan"}), "1881S Morgan"),
        (ItemSpec("x", "coin", {"year": "1881", "mintmark": "none", "series": "Morgan"}), "Morgan"),
        (ItemSpec("x", "coin", {"series": "Morgan", "variety": "VAM-3"}), "Morgan VAM-3 variety"),
        (ItemSpec("Kettle K1"), "Kettle K1"),
        (ItemSpec("Kettle K1", include=("red", "kettle K1")), "Kettle K1 red kettle"),
        (ItemSpec("Kettle", exclude=("lid", "tea pot", "-cup")), "Kettle -lid -cup"),
        (ItemSpec('(Kettle, "K1*") -lid'), "Kettle K1 lid"),
        (ItemSpec("Kettle", exclude=("x" * 60, "lid")), "Kettle -lid"),
    ],
)
def test_a_query_is_made_of_what_is_known_of_the_item(item: ItemSpec, text: str) -> None:
    assert asked(item).text == text


def test_a_query_that_would_be_too_long_is_not_asked() -> None:
    found = adapter().query(Item(1, ItemSpec("K" * 50), ItemStatus.PENDING))
    assert isinstance(found, NotAsked)
    assert "longer than the 40 characters" in found.reason


def test_what_is_sent_is_encoded_and_each_list_joins_words_its_own_way() -> None:
    made = adapter(site="de")
    query = asked(ItemSpec("Kettle & K1#x/?y", attributes={"gtin": "4006381333931"}), made)
    sold, ask = made.market.lists
    first = bare_call(sold, list_place(sold, None), {**query.parameters, "text": query.text})
    assert (parse_qs(urlsplit(first.url).query), first.headers["x-site"]) == (
        {"q": ["Kettle & K1#x/ y"]},
        "de",
    )
    parts = {**query.parameters, "text": "+".join(query.text.split())}
    second = bare_call(ask, list_place(ask, None), parts)
    assert urlsplit(second.url).path == "/de/asks"
    assert parse_qs(urlsplit(second.url).query) == {"q": ["Kettle+&+K1#x/+y"], "gtin": ["4006381333931"]}


def test_the_key_of_a_query_holds_everything_that_changes_the_answer() -> None:
    made = adapter()
    coin = {"year": "1881", "mintmark": "S", "series": "Morgan"}
    base = ItemSpec("x", "coin", {**coin, "grade": "MS65"})
    same = ItemSpec("y", "coin", {**coin, "grade": "raw"})
    others = [
        asked(ItemSpec("x", "coin", {**coin, "year": "1882"}), made),
        asked(ItemSpec("x", "coin", coin, include=("toned",)), made),
        asked(ItemSpec("x", "coin", coin, exclude=("toned",)), made),
    ]
    key = asked(base, made).key(made.spec)
    assert asked(same, made).key(made.spec) == key  # the grade is not asked for, so the answer is the same
    assert len({key, *(each.key(made.spec) for each in others)}) == 4
    graded = adapter(FAIR.replace('"{series}"', '"{series}", "{grade}"'))
    assert asked(base, graded).key(graded.spec) != asked(same, graded).key(graded.spec)
    abroad = SourceSpec("fair", Adapter.MARKETPLACE, options={"site": "de"})
    assert asked(base, made).key(abroad) != key


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"colour": "red"}, "has no parameter 'colour'; its parameters are site"),
        ({"site": "USA"}, "does not fit"),
        ({"site": "../x"}, "does not fit"),
        ({"site": "a\nb"}, "cannot be printed"),
    ],
)
def test_a_wrong_option_of_a_source_is_named(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        adapter(**options)


# The catalogue.


def test_what_is_shipped_can_be_read_and_names_its_variables() -> None:
    assert set(definitions()) >= {"ebay"}
    assert variables_of(SourceSpec("ebay", Adapter.MARKETPLACE)) == ("EBAY_CLIENT_ID", "EBAY_CLIENT_SECRET")
    text = files("thresher.apps.prices.adapters").joinpath("ebay.yaml").read_text("utf-8")
    assert "NOT confirmed" in text
    sold, ask = definitions()["ebay"].lists
    assert sold.oauth is not None
    assert ask.oauth is not None
    assert sold.oauth.scope.endswith("buy.marketplace.insights") is not ask.oauth.scope.endswith("insights")


def test_a_definition_of_the_project_replaces_one_of_the_same_name_and_travels_with_the_source(
    tmp_path: Path,
) -> None:
    home = tmp_path / "sources"
    home.mkdir()
    (home / "fair.yaml").write_text(FAIR, "utf-8")
    spec = SourceSpec("my-fair", Adapter.MARKETPLACE, "fair")
    with pytest.raises(ConfigError, match=r"there is no definition 'fair'; the definitions are ebay"):
        checked_source(spec)
    checked_source(spec, tmp_path)
    carried = with_definition(spec, tmp_path)
    made = adapter_of(carried)  # on a machine without the folder
    assert isinstance(made, MarketplaceAdapter)
    assert made.market.title == "The fair"
    (home / "fair.yaml").write_text(FAIR.replace("The fair", "Another fair"), "utf-8")
    query = SourceQuery("my-fair", "x")
    assert query.key(with_definition(spec, tmp_path)) != query.key(carried)
    (home / "ebay.yaml").write_text(FAIR.replace("name: fair", "name: ebay"), "utf-8")
    assert (
        definitions(tmp_path)["ebay"].title == "Another fair"
        or definitions(tmp_path)["ebay"].title == "The fair"
    )
    (home / "more.yaml").write_text(FAIR, "utf-8")
    with pytest.raises(ConfigError, match="another file defines fair"):
        definitions(tmp_path)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (SourceSpec("x", Adapter.MARKETPLACE), "there is no definition 'x'"),
        (SourceSpec("x", Adapter.PAGE, "ebay"), "only a marketplace has one"),
        (SourceSpec("x", Adapter.SEARCH), "url must be an address"),
        (SourceSpec("x", Adapter.PAGE, options={"render": "maybe"}), "render must be one of auto, yes, no"),
        (SourceSpec("x", Adapter.PAGE, options={"hosts": "shop.example"}), "hosts must be a list"),
        (SourceSpec("x", Adapter.PAGE, options={"extract": "yes"}), "extract must be true or false"),
        (SourceSpec("x", Adapter.PAGE, options={"currency": "dollars"}), "currency must be a code"),
    ],
)
def test_a_source_that_cannot_be_asked_is_refused(spec: SourceSpec, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        checked_source(spec)


def test_a_source_whose_prices_are_entered_is_checked_and_never_asked() -> None:
    spec = SourceSpec("mine", Adapter.MANUAL)
    checked_source(spec)
    with pytest.raises(ConfigError, match="entered manually"):
        adapter_of(spec)
