"""Exports are written while they are sent: in little memory, whole or visibly not, and nobody who hangs up
leaves a writer behind."""

import asyncio
import csv
import io
import json
import zipfile

import aiohttp
import pytest

from tests.apps.jobs.cli.project import company
from tests.harness.tasks import change
from tests.web.conftest import Api
from thresher.admin.keys import create_key
from thresher.admin.records import write_records
from thresher.admin.settings import set_setting
from thresher.web.refresh import refresh

MANY = 600  # of 40,000 characters each: more than the buffers on the way hold


def fill(shop):
    write_records(
        shop.store, [company(f"c{at}.com", f'=cmd|"{at}"', 0, about="x" * 40_000) for at in range(MANY)]
    )
    return shop


@pytest.fixture
def filled(shop):
    return fill(shop)


@pytest.fixture(scope="module")
def reader(standing) -> Api:
    """Somebody who only looks, at what is there for all tests."""
    return Api(standing.stranger.url, create_key(fill(standing.shop).store, "anna", ["read"]).token)


def test_json_lines_have_everything(reader):
    found = reader.ask("GET", "/api/export/companies?format=jsonl")
    assert found.headers["Content-Type"] == "application/x-ndjson"
    assert found.headers["Content-Disposition"] == 'attachment; filename="companies.jsonl"'
    lines = [json.loads(line) for line in found.body.splitlines()]
    assert sorted(line["key"] for line in lines) == sorted(f"c{at}.com" for at in range(MANY))


def test_csv_is_harmless_for_spreadsheets(reader):
    found = reader.ask("GET", "/api/export/companies?status=complete")
    assert found.headers["Content-Type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(found.body.decode("utf-8-sig"))))
    assert len(rows) == MANY
    assert all(row["name"].startswith("'=") for row in rows)


def test_a_workbook_is_whole(reader):
    found = reader.ask("GET", "/api/export/companies?format=xlsx")
    with zipfile.ZipFile(io.BytesIO(found.body)) as book:
        assert book.testzip() is None
        assert book.read("xl/worksheets/sheet1.xml").count(b"<row>") == MANY + 1


@pytest.mark.parametrize("path", ["everything", "companies?format=exe", "companies?format=../x", "tasks"])
def test_what_cannot_be_exported_is_named(reader, path):
    assert "," in reader.ask("GET", f"/api/export/{path}").problem(400)["detail"]


def test_an_export_of_nothing_is_a_header_alone(reader):
    assert (
        reader.ask("GET", "/api/export/boards").body.decode("utf-8-sig").startswith("company_name,platform")
    )
    assert reader.ask("GET", "/api/export/boards?format=jsonl").body == b""


@pytest.mark.promise(18)
def test_whoever_hangs_up_leaves_no_writer_behind(reader):
    async def hang_up() -> None:
        headers = {"Authorization": f"Bearer {reader.token}"}
        async with aiohttp.ClientSession() as session:
            for _ in range(6):
                async with session.get(
                    f"{reader.url}/api/export/companies?format=jsonl", headers=headers
                ) as got:
                    assert await got.content.readany()
                    got.close()

    asyncio.run(hang_up())
    assert len(reader.ask("GET", "/api/export/companies?format=jsonl").body.splitlines()) == MANY


@pytest.mark.promise(18)
def test_whoever_does_not_read_is_given_up_and_the_others_are_served(api, filled):
    set_setting(filled.store, "web.body_patience", "0.2", "test")
    refresh(filled)

    async def stall() -> None:
        lines = []
        for _ in range(6):
            reader, writer = await asyncio.open_connection(
                "127.0.0.1", int(api.url.rpartition(":")[2]), limit=1_024
            )
            said = f"GET /api/export/companies?format=jsonl HTTP/1.1\r\nHost: x\r\nX-API-Key: {api.token}\r\n\r\n"
            writer.write(said.encode())
            assert (await reader.readline()).startswith(b"HTTP/1.1 200")
            lines.append(writer)
        found = await api.send(
            "GET", "/api/export/companies?format=jsonl"
        )  # there are fewer writers than clients that stall
        assert len(found.body.splitlines()) == MANY
        for writer in lines:
            writer.close()

    asyncio.run(stall())


@pytest.mark.promise(7)
def test_an_export_that_breaks_in_the_middle_does_not_look_whole(api, filled):
    change(filled.store, "update records set data = '{' where key = 'c0.com'")
    with pytest.raises(aiohttp.ClientPayloadError):
        api.ask("GET", "/api/export/companies?format=jsonl")
    assert api.ask("GET", "/api/status").status == 200
