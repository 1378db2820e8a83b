"""`thresher records`: what was found."""

import json
from typing import Annotated, Any

import typer
from rich.console import Console

from thresher.admin.records import list_records
from thresher.admin.times import read_now
from thresher.cli.call import call_of
from thresher.cli.format import ago, short
from thresher.cli.show import answer, table


def command(
    ctx: typer.Context,
    kind: Annotated[str | None, typer.Option(help="Only records of this kind.")] = None,
    key: Annotated[str | None, typer.Option(help="Only the record with this key.")] = None,
    link: Annotated[
        str | None, typer.Option(metavar="NAME=TARGET", help="Only records with this link.")
    ] = None,
    before: Annotated[int | None, typer.Option(help="Start from this id.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Maximum number of rows.")] = 50,
) -> None:
    """Show records, the newest first."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = (
            list_records(store, kind=kind, key=key, link=link, before=before, limit=limit),
            read_now(store),
        )
    answer(call, found, lambda out, value: _draw(out, value, now))


def _draw(out: "Console", found: list[dict[str, Any]], now: int) -> None:

    if not found:
        out.print(
            "No records match: nothing was found, or nothing has been looked for yet (thresher status)."
        )
        return
    rows = [
        [
            each["id"],
            each["kind"],
            each["key"],
            short(json.dumps(each["data"], ensure_ascii=False), 80),
            _proof(each["evidence"]),
            ", ".join(each["links"]) or None,
            each["seen"],
            each["last_task"],
            ago(each["updated_at"], now),
        ]
        for each in found
    ]
    out.print(
        table(["!#id", "kind", "!key", "data", "-evidence", "-links", "-#seen", "-#task", "#ago"], rows)
    )


def _proof(evidence: dict[str, Any] | None) -> str | None:
    """How many values stand in the page, and which do not."""
    if not evidence or not evidence["places"]:
        return None
    lost = [name for name, place in evidence["places"].items() if place is None]
    found = f"{len(evidence['places']) - len(lost)} of {len(evidence['places'])} verified"
    return f"{found}; unverified: {', '.join(lost)}" if lost else found
