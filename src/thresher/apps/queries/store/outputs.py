"""Companies for the outputs, and what people wrote into them: reads and effects of the queries app.

Every change of a human value is written down (`store/resolution.py`), wherever it was made, so that
`company_feedback` can tell what a value was at any time.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from thresher.apps.queries.outputs.columns import (
    COMPANY_NAME,
    FEEDBACK,
    HUMAN,
    NOTES,
    RESOLUTION,
    Cell,
)
from thresher.apps.queries.signals.rules import parsed_rules
from thresher.apps.queries.store.options import option
from thresher.apps.queries.store.resolution import set_feedback, set_notes, set_resolution
from thresher.core.clock import as_text
from thresher.core.limits import without_controls
from thresher.store.bulk import among
from thresher.store.session import Session, one

MAX_ROWS = 2_000  # companies of one read

# The column of the database for each human column of an output.
FIELDS: Mapping[str, str] = {RESOLUTION: "resolution", FEEDBACK: "feedback", NOTES: "notes"}

_COMPANIES = """select c.company, c.name, c.max_score, c.strong_offer_count, c.unique_offer_count, c.posting_activity,
        c.top_offer_url, c.top_category, c.last_strong_at, c.resolution, coalesce(c.feedback, ''), coalesce(c.notes, ''),
        s.resolution, s.feedback, s.notes, u.cells
    from company_signals c left join sheet_rows s on s.company = c.company
        left join sheet_unseen u on u.company = c.company
    where c.company > :after order by c.company limit :limit"""
_HUMAN = """select company, resolution, coalesce(feedback, ''), coalesce(notes, '') from company_signals
    where company {keys}"""
_LOCKED = "select company from company_signals where company {keys} order by company"
_THERE = "select 1 from company_signals where company = :company"
_SEEN = """insert into sheet_rows (company, resolution, feedback, notes, seen_at)
    values (:company, :resolution, :feedback, :notes, :now)
    on conflict (company) do update set resolution = excluded.resolution, feedback = excluded.feedback,
        notes = excluded.notes, seen_at = excluded.seen_at"""
_FORGET = "delete from sheet_unseen"
_UNSEEN = "insert into sheet_unseen (company, cells) values (:company, :cells)"
# The first change after a time says what the value was before it.
_SINCE = """select company, field, coalesce(old, '') from company_feedback where at > :since and company {keys} order by id desc"""
_STATE = "select output, ok_at, failed_at, failures, note, digest, written_at from output_state"
_STATE_NAMES = ("output", "ok_at", "failed_at", "failures", "note", "digest", "written_at")
_OK = """insert into output_state (output, ok_at, note) values (:output, :now, :note)
    on conflict (output) do update set ok_at = excluded.ok_at, note = excluded.note, failures = 0"""
_FAILED = """insert into output_state (output, failed_at, note, failures) values (:output, :now, :note, 1)
    on conflict (output) do update set failed_at = excluded.failed_at, note = excluded.note,
        failures = output_state.failures + 1"""
_DIGEST = """insert into output_state (output, digest) values (:output, :digest)
    on conflict (output) do update set digest = excluded.digest"""
_WRITTEN = """insert into output_state (output, digest, written_at) values (:output, :digest, :written_at)
    on conflict (output) do update set digest = excluded.digest, written_at = excluded.written_at"""


def output_rows(session: Session, data: Mapping[str, Any], now: int) -> Any:  # noqa: ARG001
    """The companies after a key, in the order of their keys, and the key to go on with: a read."""
    limit = min(int(data.get("limit", MAX_ROWS)), MAX_ROWS)
    found = session.rows(_COMPANIES, {"after": data.get("after") or "", "limit": limit})
    rows = [
        {
            "company": row[0],
            "machine": _machine(row),
            "human": dict(zip(HUMAN, row[9:12], strict=True)),
            "base": None if row[12] is None else dict(zip(HUMAN, row[12:15], strict=True)),
            "unseen": None if row[15] is None else orjson.loads(row[15]),
        }
        for row in found
    ]
    return {"rows": rows, "next": found[-1][0] if len(found) == limit else None}


def _machine(row: tuple[Any, ...]) -> dict[str, Cell]:
    at = as_text(row[8]) if row[8] else None
    return {
        COMPANY_NAME: _shown(row[1]),
        "max_score": row[2] or 0,
        "strong_offers": row[3] or 0,
        "unique_offers": row[4] or 0,
        "posting_activity": row[5] or 0,
        "top_offer_url": _shown(row[6]),
        "top_category": _shown(row[7]),
        "last_strong_at": at[:10] if at else "",
    }


def _shown(text: str | None) -> str:
    return " ".join(without_controls(text or "").split())


def output_states(session: Session, data: Mapping[str, Any], now: int) -> Any:  # noqa: ARG001
    """How each output stands, by its name: a read."""
    found = (dict(zip(_STATE_NAMES, row, strict=True)) for row in session.rows(_STATE))
    return {row["output"]: row for row in found}


def values_at(session: Session, data: Mapping[str, Any], now: int) -> Any:  # noqa: ARG001
    """What the human columns of these companies are, and what they were at a time (`at`): a read."""
    keys = list(data["companies"])
    current = {
        row[0]: dict(zip(HUMAN, row[1:], strict=True))
        for row in among(session.dialect, session, _HUMAN, keys)
    }
    before = {key: dict(values) for key, values in current.items()}
    names = {field: column for column, field in FIELDS.items()}
    for company, field, value in among(session.dialect, session, _SINCE, keys, since=int(data["at"])):
        if company in before:
            before[company][names[field]] = value  # the newest first: the oldest has the last word
    return {key: {"now": current[key], "then": before[key]} for key in current}


def take_values(session: Session, data: Mapping[str, Any], now: int) -> Mapping[str, int]:
    """Store what people wrote: an effect.

    `takes` are lists of company, column and value, `origin` says where they were written, `seen` what the
    sheet shows now, by company; `unseen` the rows that were added and not seen yet.
    """
    takes = sorted(map(tuple, data.get("takes", ())))
    lock_companies(session, [company for company, _, _ in takes])
    changed = dict.fromkeys(HUMAN, 0)
    for company, column, value in takes:
        changed[column] += set_human_value(session, company, column, value, str(data["origin"]), now)
    seen = sorted(data.get("seen", {}).items())
    session.many(_SEEN, [_seen_row(company, values, now) for company, values in seen])
    if "unseen" in data:
        session.run(_FORGET)
        rows = sorted(data["unseen"].items())
        session.many(_UNSEEN, [{"company": key, "cells": orjson.dumps(row).decode()} for key, row in rows])
    return {f"{FIELDS[column]}_taken": number for column, number in changed.items() if number}


def _seen_row(company: str, values: Mapping[str, str], now: int) -> dict[str, Any]:
    return {"company": company, "now": now} | {FIELDS[column]: values[column] for column in HUMAN}


def lock_companies(session: Session, keys: Iterable[str]) -> None:
    """Lock companies in the order of their keys, so that two transactions cannot wait for each other."""
    wanted = sorted(set(keys))
    if wanted:
        among(session.dialect, session, _LOCKED + session.dialect.lock, wanted)


def set_human_value(session: Session, company: str, column: str, value: str, origin: str, now: int) -> bool:
    """Change one human value of a company, and write the change down; False if it is what it was, or if
    there is no such company. Raises `UsageError` for a word that the column does not know.
    """
    if one(session, _THERE, {"company": company}) is None:
        return False
    match column:
        case "resolution":
            allowed = parsed_rules(option(session, "rules")).resolutions
            return set_resolution(session, company, value, origin, now, allowed)
        case "model_feedback":
            return set_feedback(session, company, value or None, origin, now)
        case _:
            return set_notes(session, company, value or None, origin, now)


def note_output(session: Session, data: Mapping[str, Any], now: int) -> None:
    """Note how an output ended: an effect. `failed` says that it did; `digest` is of a file whose edits are
    known, `written_at` the time of the values in it.
    """
    output = str(data["output"])
    if "note" in data:
        said = {"output": output, "now": now, "note": data["note"]}
        session.run(_FAILED if data.get("failed") else _OK, said)
    if "written_at" in data:
        wrote = {"output": output, "digest": data["digest"], "written_at": int(data["written_at"])}
        session.run(_WRITTEN, wrote)
    elif "digest" in data:
        session.run(_DIGEST, {"output": output, "digest": data["digest"]})
