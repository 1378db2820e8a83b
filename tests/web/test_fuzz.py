"""Every route as the API describes it, fed with what nobody would send: whatever comes back is an answer,
never a bug."""

import asyncio
import json
import secrets
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.harness.schemas import SCHEMAS
from tests.web.conftest import ALL_SCOPES, APPS, Api, project, served
from tests.web.test_routes import SITE, fill
from thresher.admin.keys import create_key
from thresher.apps.jobs.service.companies import ask_companies, wish

TEXTS = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        [
            "",
            "0",
            "-1",
            "1",
            "acme.com",
            "https://acme.com",
            "greenhouse:acme",
            "greenhouse:acme/1",
            SITE,
            "../..",
            "%00",
            "\0",
            "1d",
            "9" * 40,
            "null",
            "true",
            "=1",
            "'",
            "\u202e",
            "open",
            "new",
            "pending",
            "retry.base",
            "host:a.example",
            "\ud7ff",
            "🙂" * 10,
        ]
    ),
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=8,
)
FINE = {200, 201, 204, 400, 404, 405, 409, 413, 422}
STRANGERS = {"/api/login", "/api/setup"}  # where nobody is known yet, and whoever guesses has to wait


def bodies(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Objects with the fields that a schema names, and whatever else."""
    names = sorted(schema.get("properties", {})) or ["a"]
    shaped = st.dictionaries(st.sampled_from(names), st.one_of(TEXTS, VALUES), max_size=4)
    return st.one_of(shaped, VALUES)


def operations(said: dict[str, Any]) -> list[tuple[str, str, list[str], dict[str, Any] | None]]:
    """Method, path, names of query parameters, and the schema of the body."""
    found = []
    for path, methods in said["paths"].items():
        for method, operation in methods.items():
            names = [each["name"] for each in operation.get("parameters", []) if each["in"] == "query"]
            content = operation.get("requestBody", {}).get("content", {}).get("application/json")
            found.append(
                (method.upper(), path, names, schema_in(said, content["schema"]) if content else None)
            )
    return found


def schema_in(said: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    for each in (schema, *schema.get("anyOf", [])):
        if "$ref" in each:
            return dict(said["components"]["schemas"][each["$ref"].rpartition("/")[2]])
    return schema


@pytest.fixture(params=["sqlite", "postgres"])
def fuzzed(request, tmp_path):
    """A server with both databases in turn: what one swallows the other may choke on."""
    url = None
    if request.param == "postgres":
        url = f"{request.getfixturevalue('postgres_url')}?schema=fuzz_{secrets.token_hex(6)}"
        SCHEMAS.make(url, APPS)
    with project(tmp_path, url) as shop, served(fill(shop)) as at:
        ask_companies(shop.store, shop.registry, [wish("Delta", "delta.io")])
        create_key(shop.store, "to be revoked", ["read"])
        yield Api(at, create_key(shop.store, "fuzz", ALL_SCOPES, apps=APPS, rate=1_000_000).token)
    if url:
        SCHEMAS.give_back(url)


@pytest.mark.promise(17)
@pytest.mark.promise(19)
def test_whatever_is_sent_is_answered_and_never_a_bug(fuzzed):
    routes = operations(fuzzed.get("/api/openapi.json"))
    assert len(routes) > 25

    @settings(max_examples=max(250, settings().max_examples), suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def attack(data: st.DataObject) -> None:
        method, path, names, schema = data.draw(st.sampled_from(routes))
        while "{" in path:
            start, end = path.index("{"), path.index("}")
            path = (
                path[:start]
                + quote(data.draw(TEXTS), safe="/:" if data.draw(st.booleans()) else "")
                + path[end + 1 :]
            )
        asked = data.draw(
            st.dictionaries(
                st.sampled_from([*names, "nonsense"] if names else ["nonsense"]), TEXTS, max_size=3
            )
        )
        query = "&".join(f"{name}={quote(value, safe='')}" for name, value in asked.items())
        how: dict[str, Any] = {}
        if schema is not None:
            how = {"data": json.dumps(data.draw(bodies(schema))).encode()}
        headers = {"Authorization": f"Bearer {fuzzed.token}", "Content-Type": "application/json"}
        found = asyncio.run(fuzzed.send(method, f"{path}?{query}" if query else path, headers=headers, **how))
        assert found.status in (FINE | {401, 429} if path in STRANGERS else FINE), (
            method,
            path,
            query,
            how,
            found,
        )
        if found.status >= 400:
            found.problem(found.status)
        elif found.headers.get("Content-Type") == "application/json":
            assert found.json is not None

    attack()
    assert fuzzed.get("/api/health") == {"status": "ok"}
    assert fuzzed.ask("GET", "/api/status").status == 200, "whatever was revoked, it was not this key"
