"""Prices over HTTP: each answer as the document describes it, each right, each mistake a problem."""

from typing import Any
from urllib.parse import quote

import pytest

from tests.apps.prices.http.conftest import client
from tests.apps.prices.people import COIN, MORGAN, RATES
from tests.apps.roles.http.scraping import World
from tests.apps.roles.http.test_openapi import described, schema_of
from tests.web.conformance import differs
from tests.web.conftest import Api
from thresher.apps.prices.model import Bands, ConfidencePart, Valuation
from thresher.apps.prices.store.valuations import store_valuation

OURS = "/api/prices"
ONE = "/api/prices/items/{item}"
CLUB: dict[str, Any] = {
    "name": "club",
    "adapter": "csv",
    "options": {"url": "https://club.example/coins.csv"},
    "tier": 3,
    "reputation": 0.8,
    "rules": [{"kind": "exclude_keywords", "values": ["replica"]}],
}
COIN_ASKED = {"name": MORGAN, "kind": "coin", "attributes": COIN, "refresh": "12h"}
ENTERED = {
    "prices": [
        {"price": "45.00", "date": "2023-11-01"},
        {"price": "39,90 €", "type": "ask", "currency": "EUR"},
    ]
}


def value(world: World, item: int) -> None:
    """A valuation, as a worker stores it."""
    bands = Bands(3_500, 3_900, 4_300, 4_500, 4_800, 5_600, 6_200, 4_620)
    parts = (ConfidencePart("comps", 3.0, "21 prices count"),)
    said = (
        item,
        "USD",
        bands,
        8,
        21,
        15,
        6,
        2,
        "It is worth about 45.00 USD.",
        parts,
        {"outliers": 2},
        "abc",
    )
    made = Valuation(*said, computed_at=world.clock.now())
    with world.store.write() as session:
        asked = {"valuation": made, "asked": 0, "read_at": world.clock.now(), "alerts": []}
        store_valuation(session, asked, world.clock.now())


def test_every_route_is_described_with_an_example_that_fits(world: World) -> None:
    said = described(world)
    paths = [path for path in said["paths"] if path.startswith(OURS)]
    assert len(paths) > 25
    for path in paths:
        for method in said["paths"][path]:
            told = schema_of(said, method, path)
            assert differs(told["example"], told["schema"]) == [], path


def test_every_answer_is_as_it_was_described(world: World, api: Api) -> None:
    said = described(world)

    def fits(method: str, path: str, found: Any) -> Any:
        slips = differs(found, schema_of(said, method, OURS + path)["schema"])
        assert [each for each in slips if ".attributes." not in each and ".options." not in each] == [], found
        return found

    made = fits("POST", "/sources", api.post(f"{OURS}/sources", CLUB))
    assert (made["new"], made["source"]["state"], made["source"]["ratePerMinute"]) == (True, "open", 60.0)
    added = fits("POST", "/items", api.post(f"{OURS}/items", COIN_ASKED))
    assert (added["new"], added["item"]["status"], added["collections"]) == (True, "attributed", 1)
    item = added["item"]["id"]
    one = f"{OURS}/items/{item}"
    value(world, item)
    entered = fits("POST", "/items/{item}/points", api.post(f"{one}/points", ENTERED))
    assert (entered["source"], entered["badRows"], len(entered["points"])) == ("manual", 0, 2)
    text = "title,price,type\n1921-D Morgan dollar,$44.00,sold\n1921-D Morgan dollar,soon,sold\n"
    filed = fits("POST", "/items/{item}/points/import", api.post(f"{one}/points/import", {"text": text}))
    assert (filed["badRows"], len(filed["bad"])) == (1, 1)
    detail = fits("GET", "/items/{item}", api.get(one))
    assert detail["item"]["value"]["median"] == {"minor": 4_500, "currency": "USD", "amount": "45.00"}
    assert detail["collections"][0]["waits"].endswith("waits for a worker: thresher run, or thresher worker")
    assert api.get(f"{OURS}/items/{quote(MORGAN)}") == detail
    points = fits("GET", "/items/{item}/points", api.get(f"{one}/points"))
    assert len(points) == 3
    assert [each["id"] for each in api.get(f"{one}/points?type=sold&after={points[0]['id']}")] == [
        points[2]["id"]
    ]
    shown = fits("GET", "/items/{item}/points/{point}", api.get(f"{one}/points/{points[0]['id']}"))
    assert (shown["quote"], shown["point"]) == ("45.00", points[0])
    explained = fits("GET", "/items/{item}/explanation", api.get(f"{one}/explanation"))
    assert explained["confidence"] == [{"name": "comps", "points": 3.0, "because": "21 prices count"}]
    assert len(explained["counted"]) + len(explained["notCounted"]) == 3
    history = fits("GET", "/items/{item}/history", api.get(f"{one}/history"))
    assert (len(history["values"]), len(history["observations"])) == (1, 3)
    watched = fits(
        "POST",
        "/items/{item}/watch",
        api.post(f"{one}/watch", {"every": "1d", "below": "40", "change": "5%"}),
    )
    assert (watched["item"]["refreshSeconds"], len(watched["alerts"])) == (86_400, 2)
    alerts = fits("GET", "/alerts", api.get(f"{OURS}/alerts?item={item}"))
    gone = fits("DELETE", "/alerts/{alert}", api.ask("DELETE", f"{OURS}/alerts/{alerts[0]['id']}").json)
    assert gone == alerts[0]
    changed = fits(
        "PATCH", "/items/{item}", api.ask("PATCH", one, json={"attributes": {"grade": "MS63"}}).json
    )
    assert changed["item"]["attributes"]["grade"] == "MS63"
    planned = fits("POST", "/collect", api.post(f"{OURS}/collect", {"dryRun": True}))
    assert {each["source"]: each["asked"] for each in planned["plans"]} == {"club": True, "manual": False}
    fits("POST", "/items/{item}/archive", api.post(f"{one}/archive"))
    assert api.get(f"{OURS}/items") == []
    fits("POST", "/items/{item}/unarchive", api.post(f"{one}/unarchive"))
    assert len(fits("GET", "/items", api.get(f"{OURS}/items?status=priced&kind=coin&name=MORGAN"))) == 1
    sheet = {"text": "name,kind,denomination,year\nA,coin,dollar,1900\n"}
    assert fits("POST", "/import", api.post(f"{OURS}/import", sheet))["new"] == 1
    fits("GET", "/kinds", api.get(f"{OURS}/kinds"))
    rates = fits("POST", "/rates", api.post(f"{OURS}/rates", {"text": RATES}))
    assert (rates["changed"], rates["first"]) == (2, "2023-11-03")
    fits("GET", "/rates", api.get(f"{OURS}/rates"))
    assert [each["name"] for each in fits("GET", "/sources", api.get(f"{OURS}/sources"))] == [
        "club",
        "manual",
    ]
    club = f"{OURS}/sources/club"
    slower = fits(
        "PATCH",
        "/sources/{source}",
        api.ask("PATCH", club, json={"ratePerMinute": 6, "options": {"currency": "EUR"}}).json,
    )
    assert (slower["source"]["ratePerMinute"], slower["source"]["tier"]) == (6.0, 3)
    fits("POST", "/sources/{source}/cache", api.post(f"{club}/cache", {"seconds": 0}))
    ruled = fits(
        "POST",
        "/sources/{source}/rules",
        api.post(f"{club}/rules", {"kind": "allowed_path", "values": ["/itm/"]}),
    )
    assert len(ruled["source"]["rules"]) == 2
    fits("DELETE", "/sources/{source}/rules/{number}", api.ask("DELETE", f"{club}/rules/2").json)
    assert fits("GET", "/sources/{source}", api.get(club))["cacheSeconds"] == 0
    fits("DELETE", "/sources/{source}", api.ask("DELETE", club).json)
    whole = fits("GET", "/monitoring", api.get(f"{OURS}/monitoring"))
    assert whole["duplicates"] == []
    for name in ("recent", "stuck", "workers", "duplicates"):
        fits("GET", f"/monitoring/{name}", api.get(f"{OURS}/monitoring/{name}"))


@pytest.mark.promise(17)
@pytest.mark.parametrize(
    ("method", "path", "body", "status", "says"),
    [
        ("POST", "/items", {"name": "A", "kind": "stamp"}, 400, "kind: 'stamp' is no kind of item"),
        ("POST", "/items", {"name": "A\x1b", "kind": "coin"}, 400, "printable characters"),
        ("POST", "/items", {"name": "A", "attributes": {"model": [1]}}, 400, "attributes.model: "),
        ("POST", "/items", {"name": "A", "colour": "red"}, 422, "colour"),
        ("POST", "/items", {"name": 5}, 422, "name"),
        ("POST", "/import", {"text": "name,x\nA,1\n"}, 400, "there is no column 'x'"),
        ("POST", "/import", {"text": "name,kind\nA,stamp\n"}, 400, "rows.csv:2: kind: 'stamp'"),
        ("GET", "/items?status=sold", None, 400, "'sold' is no status"),
        ("GET", "/items?after=-1", None, 422, "after"),
        ("GET", "/items?limit=9999", None, 422, "limit"),
        ("GET", "/items/nothing", None, 404, "there is no item 'nothing'"),
        ("GET", "/items/nothing/points", None, 404, "there is no item 'nothing'"),
        ("PATCH", "/items/nothing", {}, 404, "there is no item"),
        ("POST", "/items/nothing/watch", {"every": "1d"}, 404, "there is no item"),
        ("POST", "/items/nothing/watch", {}, 400, "say what to watch for"),
        ("POST", "/items/nothing/points", {"prices": []}, 400, "enter 1 to"),
        ("POST", "/collect", {"items": ["nothing"]}, 404, "there is no item"),
        ("POST", "/sources", {**CLUB, "name": "The Club"}, 400, "is no name of a source"),
        (
            "POST",
            "/sources",
            {**CLUB, "options": {"file": "/etc/passwd"}},
            400,
            "write the address of a file: url",
        ),
        (
            "POST",
            "/sources",
            {**CLUB, "options": {"url": "x", "folder": "/"}},
            400,
            "written by Thresher itself",
        ),
        (
            "POST",
            "/sources",
            {**CLUB, "options": {"definition_text": "x"}},
            400,
            "written by Thresher itself",
        ),
        ("POST", "/sources", {**CLUB, "tier": 11}, 400, "tier: 11 is wrong"),
        ("PATCH", "/sources/nothing", {"tier": 1}, 404, "there is no price source"),
        ("POST", "/sources/nothing/cache", {"seconds": -1}, 400, "from 0 to"),
        ("DELETE", "/alerts/99", None, 404, "there is no alert 99"),
        ("POST", "/rates", {"text": "nonsense"}, 400, "rates.csv"),
        ("POST", "/rates", {"text": RATES, "base": "euros"}, 400, "is no currency"),
        ("GET", "/monitoring/stuck?timeout=0", None, 422, "timeout"),
    ],
)
def test_a_mistake_is_a_problem_that_says_what_is_wrong(
    world: World, api: Api, method: str, path: str, body: Any, status: int, says: str
) -> None:
    found = api.ask(method, OURS + path, **({} if body is None else {"json": body}))
    assert says in str(found.problem(status)["detail"]), found.body
    assert api.get(f"{OURS}/items") == []
    assert api.get(f"{OURS}/sources") == []


@pytest.mark.promise(17)
def test_each_route_needs_its_right(world: World, api: Api) -> None:
    api.post(f"{OURS}/sources", CLUB)
    reader, writer = client(world, "read"), client(world, "read", "write")
    assert reader.get(f"{OURS}/items") == []
    assert reader.ask("POST", f"{OURS}/items", json={"name": "A"}).problem(403)
    assert writer.post(f"{OURS}/items", {"name": "A"})["new"]
    for method, path, body in (
        ("POST", "/sources", CLUB),
        ("PATCH", "/sources/club", {"ratePerMinute": None}),
        ("POST", "/sources/club/cache", {"seconds": 0}),
        ("POST", "/sources/club/rules", {"kind": "require_keywords", "values": ["x"]}),
        ("DELETE", "/sources/club/rules/1", None),
        ("DELETE", "/sources/club", None),
    ):
        found = writer.ask(method, OURS + path, **({} if body is None else {"json": body}))
        assert "admin" in found.problem(403)["detail"], path
    assert api.get(f"{OURS}/sources/club")["ratePerMinute"] == 60.0
