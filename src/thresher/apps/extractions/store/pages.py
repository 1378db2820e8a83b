"""`extraction_pages`: what became of each page, where it was found, and what its list knows.

A page is inserted in the transaction that spawns its task, and written again in the one that settles it. Its
name is a hash of its address, so a page that two lists lead to at the same moment is one row with two
parents.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from thresher.apps.extractions.model import (
    Extraction,
    ExtractionPage,
    PageStatus,
    PageType,
)
from thresher.apps.extractions.store import extractions
from thresher.apps.extractions.walking.branch import ListState, NewPage
from thresher.store.bulk import insert_rows
from thresher.store.owners import own_bodies
from thresher.store.session import Row, Session, one

APP = "extractions"
_FIELDS = (
    "extraction_id",
    "page",
    "url",
    "step",
    "level",
    "page_type",
    "status",
    "number",
    "list_page",
    "explored",
    "failure",
    "note",
    "final_url",
    "content",
    "markdown",
    "screenshot",
    "content_type",
    "links",
    "fetched_at",
    "extraction_status",
    "extraction_started_at",
    "extracted_at",
    "extractor",
    "items",
    "counting",
    "empty",
)
_SELECT = f"select {', '.join(_FIELDS)} from extraction_pages"
_ONE = f"{_SELECT} where extraction_id = :extraction and page = :page"
_LISTED = f"{_SELECT} where extraction_id = :extraction and page > :after"
_OF_STEP = " and step = :step"
# A list, not the page behind the end of one, that leads to nothing and does not say that it has nothing.
_ASTRAY = """status = 'SUCCESS' and page_type in ('DETAIL_LINKS', 'CATEGORY_LINKS') and links = 0 and number is null
    and empty is null"""
_BY_STATUS = {
    "waiting": " and status = 'WAITING'",
    "succeeded": " and status = 'SUCCESS'",
    "failed": " and (status = 'ERROR' or extraction_status = 'ERROR')",
    "fetch_failed": " and status = 'ERROR'",
    "read_failed": " and extraction_status = 'ERROR'",
    "skipped": " and status = 'SKIPPED'",
    "unread": " and extraction_status = 'WAITING'",
    "read": " and extraction_status = 'SUCCESS'",
    "astray": f" and {_ASTRAY}",
}
_LIST = """select (select p.url from extraction_pages p where p.extraction_id = :extraction and p.page = :list),
    (select max(p.number) from extraction_pages p where p.extraction_id = :extraction and p.list_page = :list)"""
_EMPTY = """select number from extraction_pages where extraction_id = :extraction and list_page = :list and status = 'SUCCESS'
    and links = 0 order by number limit 2"""
_FULL = "select max(number) from extraction_pages where extraction_id = :extraction and list_page = :list and links > 0"
_KNOWN = "select page from extraction_pages where extraction_id = :extraction and page in (:pages*)"
_VERSION = "select coalesce(max(version), 1) from datasets where extraction_id = :extraction"
_COUNT = "select count(*) from (select 1 from extraction_pages where extraction_id = :extraction limit :limit) as n"
_LOCKED = "select id from extractions where id = :extraction"
_INSERT = (
    ("extraction_id", ":extraction"),
    ("page", "text"),
    ("url", "text"),
    ("step", "bigint"),
    ("level", "bigint"),
    ("page_type", "text"),
    ("number", "bigint"),
    ("list_page", "text"),
    ("explored", "bigint"),
    ("counting", "bigint"),
    ("moved_at", ":now"),
)
_PARENTS = (("extraction_id", ":extraction"), ("page", "text"), ("parent", ":parent"))
_FETCHED = """update extraction_pages set status = :status, note = :note, failure = null, final_url = :final_url, content = :content,
    markdown = :markdown, screenshot = :screenshot, content_type = :content_type, links = :links, empty = :empty, fetched_at = :now,
    extraction_status = :extraction_status, moved_at = :now where extraction_id = :extraction and page = :page"""
_SKIPPED = """update extraction_pages set status = 'SKIPPED', note = :note, moved_at = :now
    where extraction_id = :extraction and page = :page and status = 'WAITING'"""
_FAILED = """update extraction_pages set status = 'ERROR', failure = :failure, moved_at = :now
    where extraction_id = :extraction and page = :page and status <> 'SUCCESS'"""
_UNREAD = """update extraction_pages set extraction_status = 'ERROR', failure = :failure, moved_at = :now,
    extraction_started_at = coalesce((select t.started_at from tasks t where t.id = :task), :now)
    where extraction_id = :extraction and page = :page"""
_READ = """update extraction_pages set extraction_status = 'SUCCESS', failure = null, extraction_started_at = :started,
    extracted_at = :now, extractor = :extractor, items = :items, moved_at = :now
    where extraction_id = :extraction and page = :page"""
_RETRY = f"""update extraction_pages set status = case when status = 'ERROR' or ({_ASTRAY}) then 'WAITING' else status end,
    extraction_status = case when extraction_status = 'ERROR' then 'WAITING' else extraction_status end,
    failure = null, moved_at = :now where extraction_id = :extraction and page in (:pages*)"""
_REREAD = """update extraction_pages set extraction_status = 'WAITING', failure = null, moved_at = :now
    where extraction_id = :extraction and page in (:pages*)"""
_API_READ = """update extraction_pages set status = 'SUCCESS', note = :note, failure = null, moved_at = :now
    where extraction_id = :extraction and page = :page"""
_NOTE = "update extraction_pages set note = :note where extraction_id = :extraction and page = :page"
_BEYOND = """select page from extraction_pages where extraction_id = :extraction and list_page = :page and number > :number
    order by number"""
_FORGET_PAGES = "delete from extraction_pages where extraction_id = :extraction and page in (:pages*)"
_FORGET_PARENTS = "delete from extraction_parents where extraction_id = :extraction and page in (:pages*)"
_COUNT_ASTRAY = f"select count(*) from extraction_pages where extraction_id = :extraction and {_ASTRAY}"
_FIRST_ASTRAY = f"{_SELECT} where extraction_id = :extraction and {_ASTRAY} order by step, page limit 1"
_DROP = "update extractions set dropped = dropped + :number where id = :extraction"
_ADDRESSES = "select page, url from extraction_pages where extraction_id = :extraction and page in (:names*)"
_PARENTS_OF = (
    "select parent from extraction_parents where extraction_id = :extraction and page = :page order by parent"
)
_UNCHANGED = """select p.items from extraction_pages p join extractions e on e.id = p.extraction_id where p.extraction_id = :extraction
    and p.page = :page and p.content = :content and p.extraction_status = 'SUCCESS' and e.recipe_version = :recipe_version"""


@dataclass(frozen=True, slots=True)
class PageToFetch:
    """Everything that the fetch of a page needs to know. `after_end` says that its list ended
    before it, whatever the total of the list says. `version` is the one of the data set that is being filled.
    """

    extraction: Extraction
    page: ExtractionPage
    of: ListState
    after_end: bool = False
    version: int = 1

    @property
    def is_open(self) -> bool:
        return not self.extraction.status.is_over


def find_page(session: Session, extraction_id: int, page: str) -> ExtractionPage | None:
    row = one(session, _ONE, {"extraction": extraction_id, "page": page})
    return _page(row) if row else None


def list_pages(
    session: Session,
    extraction_id: int,
    *,
    state: str | None = None,
    step: int | None = None,
    after: str = "",
    limit: int = 100,
) -> list[ExtractionPage]:
    """Pages by their names, all or those of a step; `state` is one of those in `PAGE_STATES`."""
    only = f"{_BY_STATUS[state] if state else ''}{_OF_STEP if step is not None else ''}"
    asked = {"extraction": extraction_id, "after": after, "limit": limit}
    if step is not None:
        asked["step"] = step
    sql = f"{_LISTED}{only} order by page limit :limit"
    return [_page(row) for row in session.rows(sql, asked)]


PAGE_STATES = tuple(_BY_STATUS)


def lists_astray(session: Session, extraction_id: int) -> tuple[int, ExtractionPage | None]:
    """How many lists lead to nothing without saying that they are empty, and the first of them."""
    asked = {"extraction": extraction_id}
    row = one(session, _FIRST_ASTRAY, asked)
    return int(session.rows(_COUNT_ASTRAY, asked)[0][0]), _page(row) if row else None


def parents_of(session: Session, extraction_id: int, page: str) -> list[str]:
    """The pages that lead to this one."""
    return [row[0] for row in session.rows(_PARENTS_OF, {"extraction": extraction_id, "page": page})]


def addresses_of(session: Session, extraction_id: int, names: Sequence[str]) -> dict[str, str]:
    """The addresses of these pages, by their names."""
    asked = {"extraction": extraction_id, "names": sorted(names)}
    return {str(page): str(url) for page, url in session.rows(_ADDRESSES, asked)} if names else {}


def _page(row: Row) -> ExtractionPage:
    said = dict(zip(_FIELDS, row, strict=True))
    extracted = said["extraction_status"]
    return ExtractionPage(
        **{
            **said,
            "page_type": PageType(said["page_type"]),
            "status": PageStatus(said["status"]),
            "failure": orjson.loads(said["failure"]) if said["failure"] else None,
            "extraction_status": PageStatus(extracted) if extracted else None,
            "counting": bool(said["counting"]),
        }
    )


# Reads


def page_to_fetch(session: Session, data: Mapping[str, Any], now: int) -> PageToFetch | None:  # noqa: ARG001  every read is given the time
    """Read: a page with its extraction and its list."""
    extraction = extractions.find_extraction(session, data["extraction"])
    page = find_page(session, data["extraction"], data["page"])
    if extraction is None or page is None:
        return None
    version = newest_version(session, extraction.id)
    return PageToFetch(extraction, page, _list_state(session, page), _is_after_end(session, page), version)


def _list_state(session: Session, page: ExtractionPage) -> ListState:
    asked = {"extraction": page.extraction_id, "list": page.list_page or page.page}
    url, last = session.rows(_LIST, asked)[0]
    return ListState(url or page.url, last or 0)


def _is_after_end(session: Session, page: ExtractionPage) -> bool:
    """Whether the list ended before this page: two pages before it were empty, and none behind those had
    rows. One empty page may be a mishap.
    """
    if page.list_page is None or page.number is None:
        return False
    asked = {"extraction": page.extraction_id, "list": page.list_page}
    empty = [row[0] for row in session.rows(_EMPTY, asked)]
    if len(empty) < 2 or page.number <= empty[1]:
        return False
    last = session.rows(_FULL, asked)[0][0]
    return last is None or int(last) < empty[1]


def newest_version(session: Session, extraction_id: int) -> int:
    """The version of the data set that pages are read into, until somebody has them all read again."""
    return int(session.rows(_VERSION, {"extraction": extraction_id})[0][0])


def count_pages(session: Session, data: Mapping[str, Any], now: int) -> int:  # noqa: ARG001  every read is given the time
    """Read: how many pages an extraction has; no more than `limit` are counted."""
    return int(session.rows(_COUNT, {"extraction": data["extraction"], "limit": data["limit"]})[0][0])


def known_pages(session: Session, data: Mapping[str, Any], now: int) -> frozenset[str]:  # noqa: ARG001  every read is given the time
    """Read: which of these pages the extraction has already."""
    rows = session.rows(_KNOWN, {"extraction": data["extraction"], "pages": list(data["pages"])})
    return frozenset(row[0] for row in rows)


def items_unchanged(session: Session, data: Mapping[str, Any], now: int) -> int | None:  # noqa: ARG001  every read is given the time
    """Read: how many items an earlier extraction by the same version of the recipe has read from the same
    content of this page; None if it has not.
    """
    row = one(session, _UNCHANGED, dict(data))
    return row[0] if row else None


def open_pages(session: Session, data: Mapping[str, Any], now: int) -> list[ExtractionPage]:  # noqa: ARG001  every read is given the time
    """Read: pages of an extraction in one state, after a name."""
    return list_pages(
        session, data["extraction"], state=data["state"], after=data["after"], limit=data["limit"]
    )


# Effects


def add_pages(session: Session, data: Mapping[str, Any], now: int) -> dict[str, int]:
    """Pages that a page leads to, with the step that they belong to. Those that are known gain a parent."""
    extraction, found = data["extraction"], [NewPage(*each) for each in data["pages"]]
    dropped = data.get("dropped") or 0
    if found and data.get("most"):
        allowed = _allowed(session, extraction, found, data["most"])
        dropped, found = dropped + len(found) - len(allowed), allowed
    for step in {each.step: each for each in found}.values():
        told = {"step": step.step, "kind": step.kind, "level": step.level, "page_type": step.page_type}
        extractions.add_step(session, extraction, told, now)
    rows = sorted((each.page, *_row(each)) for each in found)
    new = insert_rows(
        session.dialect,
        session,
        "extraction_pages",
        _INSERT,
        rows,
        "on conflict do nothing",
        extraction=extraction,
        now=now,
    )
    if data.get("parent"):
        _add_parents(
            session, extraction, data["parent"], [*(each.page for each in found), *data.get("met", ())]
        )
    if dropped:
        session.run(_DROP, {"extraction": extraction, "number": dropped})
    return {"pages_found": new}


def _allowed(session: Session, extraction: int, found: Sequence[NewPage], most: int) -> list[NewPage]:
    """The pages that a limit still allows. Whoever adds pages of this extraction at the same time waits here,
    so that no two of them take the same place.
    """
    session.rows(f"{_LOCKED}{session.dialect.lock}", {"extraction": extraction})
    asked = {"extraction": extraction, "limit": most, "pages": [each.page for each in found]}
    known = known_pages(session, asked, 0)
    room = most - count_pages(session, asked, 0)
    new = [each.page for each in found if each.page not in known]
    kept = known | frozenset(new[: max(room, 0)])
    return [each for each in found if each.page in kept]


def _row(page: NewPage) -> tuple[Any, ...]:
    at = page.number, page.list_page, page.explored, int(page.counting)
    return page.url, page.step, page.level, page.page_type, *at


def _add_parents(session: Session, extraction: int, parent: str, pages: Iterable[str]) -> None:
    rows = [(page,) for page in sorted(set(pages) - {parent})]
    insert_rows(
        session.dialect,
        session,
        "extraction_parents",
        _PARENTS,
        rows,
        "on conflict do nothing",
        extraction=extraction,
        parent=parent,
    )


def page_fetched(session: Session, data: Mapping[str, Any], now: int) -> dict[str, int]:
    """A page was fetched: where its bodies are stored, and how many links it has."""
    session.run(_FETCHED, {**data, "now": now})
    bodies = [data[name] for name in ("content", "markdown", "screenshot") if data[name]]
    own_bodies(session, APP, data["extraction"], bodies)
    extractions.begin(session, data, now)
    return {"pages_fetched": 1}


def page_skipped(session: Session, data: Mapping[str, Any], now: int) -> dict[str, int]:
    """A page is not requested, and why."""
    extractions.begin(session, data, now)
    return {"pages_skipped": session.run(_SKIPPED, {**data, "now": now})}


def page_failed(session: Session, data: Mapping[str, Any], now: int) -> dict[str, int]:
    """A page could not be fetched."""
    failure = orjson.dumps(data["failure"]).decode()
    extractions.begin(session, data, now)
    return {"pages_failed": session.run(_FAILED, {**data, "failure": failure, "now": now})}


def page_unread(session: Session, data: Mapping[str, Any], now: int) -> dict[str, int]:
    """A page was fetched and could not be read into the data set."""
    failure = orjson.dumps(data["failure"]).decode()
    said = {"extraction": data["extraction"], "page": data["page"], "task": data["task"]}
    extractions.begin(session, data, now)
    return {"pages_unread": session.run(_UNREAD, {**said, "failure": failure, "now": now})}


def note_read(session: Session, said: Mapping[str, Any], now: int) -> None:
    """A page was read: by what, and how many items it had. A stale extraction moves again."""
    extractions.begin(session, said, now)
    session.run(_READ, {**said, "now": now})


def end_list(session: Session, data: Mapping[str, Any], now: int) -> list[str]:
    """An API was read to its end: its page is done, and answers behind the end are forgotten. Returns their
    names.
    """
    asked = {name: data[name] for name in ("extraction", "page")}
    session.run(_API_READ, {**asked, "note": data["note"], "now": now})
    beyond = [row[0] for row in session.rows(_BEYOND, {**asked, "number": data["number"]})]
    for at in range(0, len(beyond), 500):
        some = {"extraction": data["extraction"], "pages": beyond[at : at + 500]}
        session.run(_FORGET_PARENTS, some)
        session.run(_FORGET_PAGES, some)
    return beyond


def note_page(session: Session, said: Mapping[str, Any]) -> None:
    session.run(_NOTE, {name: said[name] for name in ("extraction", "page", "note")})


def retry_pages(session: Session, data: Mapping[str, Any], now: int) -> None:
    """Pages that failed wait again, and lists that led nowhere."""
    session.run(_RETRY, {"extraction": data["extraction"], "pages": list(data["pages"]), "now": now})


def reread_pages(session: Session, data: Mapping[str, Any], now: int) -> None:
    """Stored pages wait to be read once more: whoever is stopped halfway must find those that are left."""
    session.run(_REREAD, {"extraction": data["extraction"], "pages": list(data["pages"]), "now": now})


def to_rows(pages: Sequence[NewPage]) -> list[list[Any]]:
    """New pages as an effect carries them."""
    return [
        [
            each.page,
            each.url,
            each.step,
            each.kind.value,
            each.level,
            each.page_type.value,
            each.number,
            each.list_page,
            each.explored,
            each.counting,
        ]
        for each in pages
    ]
