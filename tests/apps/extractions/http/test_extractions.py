"""Extractions and data sets over HTTP: each answer as the document describes it."""

from tests.apps.extractions.filled import DETAIL, fill
from tests.apps.roles.http.test_openapi import described, schema_of
from tests.web.conformance import differs

OURS = ("/api/extractions", "/api/datasets")


def test_every_route_is_described_with_an_example_that_fits(world):
    said = described(world)
    for path, methods in said["paths"].items():
        for method in methods if path.startswith(OURS) else ():
            if path.endswith(("/schema", "/export")):
                continue
            told = schema_of(said, method, path)
            assert differs(told["example"], told["schema"]) == [], path


def test_every_answer_is_as_it_was_described(world, api):
    said, made = described(world), fill(world.store)

    def fits(method, path, found):
        assert differs(found, schema_of(said, method, path)["schema"]) == [], found
        return found

    one = f"/api/extractions/{made.extraction}"
    (listed,) = fits("GET", "/api/extractions", api.get("/api/extractions"))
    assert listed["steps"][-1]["failed"] == 1
    fits("GET", "/api/extractions/{extraction}", api.get(one))
    pages = fits("GET", "/api/extractions/{extraction}/pages", api.get(f"{one}/pages?state=failed"))
    assert api.get(f"{one}/pages?state=failed&step=2") == pages
    assert api.get(f"{one}/pages?state=failed&step=0") == []
    assert [each["page"]["failure"]["error"] for each in pages] == ["ServerError"]
    page = api.get(f"{one}/pages/{made.page}")
    fits("GET", "/api/extractions/{extraction}/pages/{page}", page)
    assert page["items"][0]["values"]["name"] == "Oak Bench"
    fits("GET", "/api/datasets", api.get("/api/datasets"))
    fits("GET", "/api/datasets/{dataset}", api.get("/api/datasets/shop"))
    (item,) = fits("GET", "/api/datasets/{dataset}/items", api.get(f"/api/datasets/{made.dataset}/items"))
    assert (item["url"], item["verified"]) == (DETAIL, False)
    assert api.get(f"/api/datasets/{made.dataset}/items?verified=true") == []
    same = api.get(f"/api/datasets/{made.dataset}/diff?old={made.dataset}")
    assert fits("GET", "/api/datasets/{dataset}/diff", same)["counts"]["same"] == 1
    assert api.get(f"/api/datasets/{made.dataset}/schema")["properties"]["name"]
    assert b"Oak Bench" in api.ask("GET", f"/api/datasets/{made.dataset}/export?format=jsonl").body


def test_an_extraction_is_started_and_cancelled(world, api):
    said = described(world)
    fill(world.store)
    begun = api.post("/api/extractions", {"recipe": "shop"})
    assert differs(begun, schema_of(said, "POST", "/api/extractions")["schema"]) == []
    ended = api.post(f"/api/extractions/{begun['extraction']}/cancel", {"reason": "enough"})
    assert (ended["status"], ended["reason"]) == ("CANCELLED", "enough")
    again = api.post(f"/api/extractions/{begun['extraction']}/resume")
    assert again["task"]["kind"] == "startExtraction"
