"""`thresher signals`: companies by what their offers say, and what you decide about them."""

from getpass import getuser
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from thresher.admin.times import read_now
from thresher.apps.queries.service import signals
from thresher.apps.queries.service.signals import CompanyDetail
from thresher.apps.queries.store.companies import CompanyView, OfferView
from thresher.cli.call import call_of
from thresher.cli.format import ago, bars, number, short, when
from thresher.cli.show import answer, known, say, table

app = typer.Typer()

SHOWN = 20  # offers of one company

Company = Annotated[str, typer.Argument(metavar="COMPANY", help="Key or name of the company.")]


@app.command("list")
def list_(
    ctx: typer.Context,
    resolution: Annotated[str | None, typer.Option(help="Only companies of this resolution.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="Maximum number of rows.")] = 20,
) -> None:
    """List companies by what their offers say, the strongest first."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = signals.list_companies(store, resolution=resolution, limit=limit), read_now(store)
    answer(call, found, lambda out, value: _draw(out, value, now, resolution))


def _draw(out: Console, found: list[CompanyView], now: int, resolution: str | None) -> None:
    if not found:
        of = f" of the resolution {resolution}" if resolution else ""
        out.print(f"No company{of} has offers. What was searched: thresher queries list")
        return
    rows = [
        [
            each.max_score,
            short(each.name, 40),
            each.strong_offer_count,
            each.unique_offer_count,
            each.posting_activity,
            each.top_category,
            ago(each.last_strong_at, now),
            each.resolution,
            each.feedback,
            each.company,
        ]
        for each in found
    ]
    columns = [
        "#score",
        "company",
        "#strong",
        "#offers",
        "#activity",
        "top category",
        "#last strong",
        "resolution",
        "feedback",
        "!key",
    ]
    out.print(table(columns, rows))


@app.command()
def show(ctx: typer.Context, company: Company) -> None:
    """Show one company: its figures, its offers with the parts of their scores, and its weeks."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = signals.show_company(store, company), read_now(store)
    answer(call, found, lambda out, value: _draw_one(out, value, now))


def _draw_one(out: Console, found: CompanyDetail, now: int) -> None:
    company = found.company
    out.print(
        known(
            [
                ("company", company.name),
                ("key", company.company),
                ("score", company.max_score),
                ("strong offers", company.strong_offer_count),
                ("average of these", company.avg_strong_score),
                ("offers", company.unique_offer_count),
                ("open", company.open_offers),
                ("posting activity", company.posting_activity),
                ("top category", company.top_category),
                ("top offer", company.top_offer_url),
                ("last strong offer", when(company.last_strong_at, now) if company.last_strong_at else None),
                ("weeks", _weeks([each["offers"] for each in found.weeks])),
                ("problem", company.problem),
                ("resolution", company.resolution),
                ("feedback", company.feedback),
                ("notes", company.notes),
            ]
        )
    )
    if found.offers:
        out.print()
        rows = [_row(each) for each in found.offers[:SHOWN]]
        out.print(table(["#score", "offer", "category", "why", "#reposts", "posted", "state"], rows))
    if len(found.offers) > SHOWN:
        out.print(f"and {number(len(found.offers) - SHOWN, 'more offer')}: --json has them all")
    if found.decisions:
        out.print()
        decided = [[ago(each.at, now), each.field, each.old, each.new, each.by] for each in found.decisions]
        out.print(table(["#ago", "decided", "before", "after", "by"], decided))


def _row(offer: OfferView) -> list[object]:
    why = "; ".join(offer.reasons[:3])
    return [
        offer.score,
        short(offer.title, 50),
        offer.category,
        short(why, 80) or ("reposts an earlier offer" if offer.canonical else None),
        offer.reposts,
        offer.posted_on,
        offer.state,
    ]


def _weeks(offers: list[int]) -> Text | None:
    """The offers of the last weeks as one line, the oldest first."""
    drawn = bars(offers)
    return Text(drawn) if drawn else None


@app.command()
def decide(
    ctx: typer.Context,
    company: Company,
    resolution: Annotated[
        str | None,
        typer.Option(help="PENDING, IN_PROGRESS, HIGH_INTEREST, ALREADY_CUSTOMER, ACCEPTED, REJECTED."),
    ] = None,
    feedback: Annotated[
        str | None,
        typer.Option(help="OK, FP (false positive) or FN (false negative); an empty one removes it."),
    ] = None,
    notes: Annotated[str | None, typer.Option(help="Your notes; empty ones remove them.")] = None,
) -> None:
    """Decide about a company: its resolution, whether its signals are right, and your notes."""
    call = call_of(ctx)
    with call.store() as store:
        found = signals.decide(
            store, company, getuser(), resolution=resolution, feedback=feedback, notes=notes
        )
    view = found.company
    told = [view.resolution, *([f"feedback {view.feedback}"] if view.feedback else [])]
    notes_said = f"; notes: {short(view.notes, 60)}" if view.notes else ""
    say(call, found, f"{view.name or view.company} is {', '.join(told)}{notes_said}.")
