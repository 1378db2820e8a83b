"""The `job` pipeline of one posting: scrape, filter, analyze, save; and the check of a known posting's page.

`scrape` completes the posting and reads its facts, `filter` applies the rules, `analyze` scores what is left,
`save` stores the match. Every ending is recorded with its reasons. An unknown company gets its own task; the
posting does not wait for it.
"""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from thresher.apps.jobs import decision
from thresher.apps.jobs.filtering.case import case_of
from thresher.apps.jobs.filtering.filter import judge, stopped, weigh
from thresher.apps.jobs.filtering.rejection import rules_of
from thresher.apps.jobs.notify import announcement
from thresher.apps.jobs.person.profile import Profile
from thresher.apps.jobs.person.profile_record import my_profile
from thresher.apps.jobs.scoring.judgement import PROMPT, judgement_inputs, judgement_schema, kept
from thresher.apps.jobs.scoring.points import employer_of, points_of
from thresher.apps.jobs.scoring.score import Score, rate, with_judgement
from thresher.core.clock import day_of
from thresher.core.context import Context
from thresher.core.errors import BudgetExhausted, Gone, InvalidUrl, NotYet, Permanent, Transient, UsageError
from thresher.core.keys import host_gate
from thresher.core.outcome import Done, Failed, Filtered, Next, Outcome, Skipped
from thresher.core.page import Page
from thresher.core.pipeline import Pipeline, Stage, Trip
from thresher.core.record import Found, Is, Link
from thresher.core.task import NewTask
from thresher.hiring.facts import read_facts
from thresher.hiring.kinds import BOARD, COMPANY, POSTING
from thresher.hiring.lifecycle import CLOSED
from thresher.hiring.names import Likeness, label_of, liken, name_words
from thresher.hiring.opening import Opening, facts_of, opening_of, places_of
from thresher.hiring.records import (
    BoardRecord,
    CompanyRecord,
    PostingRecord,
    company_name_key,
    entry,
    posting_key,
)
from thresher.hiring.row import fields
from thresher.hiring.same_opening import kin_of, page_of
from thresher.reading.inspect.body import Format, read_body
from thresher.reading.inspect.inspection import inspect
from thresher.reading.platforms.boards import recognise
from thresher.reading.platforms.calls import Call, detail_call
from thresher.reading.postings.posting import Posting
from thresher.reading.structured.facts import structured
from thresher.reading.structured.schema_org import employer_sites
from thresher.reading.values.addresses import read_address

# Complete a posting: what its list says, with the rest from its own page or from the board's API.

# The site of the employer that a posting links to.

MAX_ADDRESSES = 20  # addresses that are looked at
MIN_INITIALS = 3
_ALIKE = (Likeness.SAME, Likeness.KIN, Likeness.BRANCH)


def website_of(name: str | None, urls: Iterable[str]) -> str | None:
    """The home page of the company of this name, if one of these addresses is on its site."""
    return next((site for url in list(urls)[:MAX_ADDRESSES] if (site := _site(name or "", url))), None)


def _site(name: str, url: str) -> str | None:
    try:
        address = read_address(url)
    except InvalidUrl:
        return None
    if address.canonical is None or address.username or recognise(address.href):
        return None
    label = label_of(address.hostname)
    return (
        f"{address.origin}/" if liken(name, label).likeness in _ALIKE or _are_initials(label, name) else None
    )


def _are_initials(label: str, name: str) -> bool:
    initials = "".join(word[0] for word in name_words(name))
    return len(initials) >= MIN_INITIALS and label == initials


AGE = 3_600.0  # seconds: a stage that is performed again takes the page it already had
# What the list says comes from the board itself, so its page only adds to it. The description is the page's.
_PAGE_KNOWS_BETTER = ("description",)


def call_for(data: Mapping[str, Any], board: BoardRecord | None) -> Call | None:
    """How to ask for the rest of a posting: the board's own way, else its page."""
    known = Posting(str(data.get("title") or ""), url=data.get("url"), key=data.get("number"))
    way = detail_call(board.address, known) if board else None
    return way or (Call(data["url"]) if data.get("url") else None)


async def fetch_detail(ctx: Context, call: Call, max_age: float = AGE) -> Page:
    """What the board answers. A page that only a script builds is built."""
    render = None if call.method == "GET" else False
    return await ctx.fetch(
        call.url, method=call.method, headers=call.headers, body=call.body, render=render, max_age=max_age
    )


def read_detail(page: Page, title: str, today: date) -> Posting | None:
    """The one posting that a page is about; None where it shows several, and none of them has this title."""
    found = inspect(page, today).postings
    if len(found) == 1:
        return found[0]
    return next((each for each in found if each.title.casefold() == title.casefold()), None)


def employer_site(page: Page, name: str | None) -> str | None:
    """The site of the company that hires, by the page's own word for it."""
    body = read_body(page)
    if body.format is not Format.HTML:
        return None
    declared = structured(body.document).of("JobPosting")
    return website_of(name, (url for each in declared for url in employer_sites(each.properties)))


def completed(data: Mapping[str, Any], detail: Posting) -> dict[str, Any]:
    """What the page adds to the list."""
    said = fields(detail)
    if detail.company and not data.get("company_name"):
        said["company_name"] = detail.company
    said.pop("number", None)
    return {name: value for name, value in said.items() if not data.get(name) or name in _PAGE_KNOWS_BETTER}


# A check fetches the page of a known posting, because its list does not say whether it is still open and
# unchanged.


async def check(ctx: Context, known: Found) -> Outcome | dict[str, Any]:
    """How the check ends; or, where the page says something else than before, what has to be written and
    judged.
    """
    data, is_listed = known.data, bool(ctx.task.payload.get("listed"))
    if data.get("state") == CLOSED:
        return Skipped("it is closed already")
    if is_listed and _list_says_it(ctx, known):
        return Skipped("its list says everything")
    board = await ctx.record(BOARD, data["board"]) if data.get("board") else None
    call = call_for(data, BoardRecord.of(board) if board else None)
    if call is None:
        return Skipped("it has no page that could be asked for")
    try:
        page = await fetch_detail(ctx, call, max_age=0.0)  # only what the page says now counts
    except Gone as problem:
        return (
            Skipped(f"its list shows it, though its page is gone: {problem}")
            if is_listed
            else _missed(ctx, known, problem)
        )
    except Permanent as problem:  # it is known, so that it cannot be asked for is no failure
        return Skipped(f"unknown: {problem}")
    found = await ctx.compute(read_detail, page, str(data.get("title") or ""), day_of(ctx.now()))
    if found is None or not _is_its_page(page, call, found, known):
        return Skipped(f"unknown: {page.final_url} shows something else, which proves nothing")
    return _seen(ctx, known, found, is_listed)


def _missed(ctx: Context, known: Found, problem: Gone) -> Outcome:
    count = PostingRecord.of(known).missed + 1
    if count < ctx.setting("jobs.close_looks") + bool(ctx.task.payload.get("doubted")):
        reason = f"its page is gone, and another check has to say so: {problem}"
        return Done(reason, records=(entry(POSTING, known.key, {"missed": count}),))
    return Done(
        f"closed: {problem}", records=(entry(POSTING, known.key, {"state": CLOSED, "closed_at": ctx.now()}),)
    )


def _seen(ctx: Context, known: Found, found: Posting, is_listed: bool) -> Outcome | dict[str, Any]:
    """It is there. Of a text that its list says, the list knows best."""
    data = known.data
    added = {name: value for name, value in completed(data, found).items() if value != data.get(name)}
    if _list_says_it(ctx, known):
        added.pop("description", None)
    seen: dict[str, Any] = {"seen_at": ctx.now()} | (
        {} if is_listed or not data.get("missed") else {"missed": 0}
    )
    if added:
        return {**added, **seen, "revision": int(data.get("revision") or 0) + 1}
    return Done("it is there, and reads as before", records=(entry(POSTING, known.key, seen),))


def _list_says_it(ctx: Context, known: Found) -> bool:
    posting = PostingRecord.of(known)
    text = posting.description if "description" in posting.said else None
    return len(text or "") >= int(ctx.setting("jobs.posting.description"))


def _is_its_page(page: Page, call: Call, found: Posting, known: Found) -> bool:
    """Sites lead from what is gone to what is left: another address with another title is another posting."""
    stayed = bool(page_of(call.url)) and page_of(page.final_url) == page_of(call.url)
    return stayed or found.title.casefold() == (PostingRecord.of(known).title or "").casefold()


KIND = "job"
NO_PROFILE = "it is kept; there is no profile to match it with (thresher jobs profile set FILE)"


def through_its_host(trip: Trip) -> tuple[str, ...]:
    """Only a posting that has to be fetched waits in line for its host; most lists say everything."""
    url = trip.payload.get("fetch")
    return (host_gate(url),) if isinstance(url, str) else ()


async def scrape(ctx: Context) -> Outcome:
    """Complete the posting, read its facts, and see whether it is known already."""
    known = await _known(ctx)
    key, data = known.key, dict(known.data)
    profile = await my_profile(ctx)
    stop = profile and stopped(
        profile, title=data.get("title"), company=data.get("company_name"), url=data.get("url")
    )
    if profile and stop:
        return Filtered(
            stop.reason,
            records=(decision.stopped(key, stop, profile, ctx.now(), rules_of(ctx.setting).threshold),),
        )
    if ctx.task.payload.get("check"):
        news = await check(ctx, known)
        return await _read(ctx, known, {**data, **news}, news) if isinstance(news, dict) else news
    try:
        added = await _detail(ctx, data)
    except Gone as problem:
        return Skipped(f"its page is gone: {problem}")
    if added is None:
        return Failed(f"unknown: nothing could be read of {data.get('url') or key}")
    return await _read(ctx, known, {**data, **added}, added)


async def _known(ctx: Context) -> Found:
    """The posting that is meant, or the beginning of one: a person may name an address that nobody has
    seen.
    """
    payload, url = ctx.task.payload, ctx.task.url
    key = payload.get("posting") or (url and posting_key("", None, url))
    if not key:
        raise UsageError('a job task names a posting or an address: {"posting": "..."} or a url')
    return await ctx.record(POSTING, key) or Found(
        POSTING, key, {"url": url, "state": "open", "first_seen": ctx.now()}
    )


async def _detail(ctx: Context, data: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the posting's own page adds; nothing where its list said enough. None: it has no text, and none
    could be read.
    """
    enough = len(data.get("description") or "") >= ctx.setting("jobs.posting.description")
    if enough and not ctx.task.payload.get("fresh"):
        return {}
    board = await ctx.record(BOARD, data["board"]) if data.get("board") else None
    call = call_for(data, BoardRecord.of(board) if board else None)
    if call is None:
        return {} if data.get("title") else None
    page = await fetch_detail(ctx, call)
    detail = await ctx.compute(read_detail, page, str(data.get("title") or ""), day_of(ctx.now()))
    if detail is None:
        return {} if data.get("title") else None
    added = completed(data, detail)
    if not await _employer(ctx, {**data, **added}):  # only of somebody whom nobody knows it is worth reading
        site = await ctx.compute(employer_site, page, added.get("company_name") or data.get("company_name"))
        added |= {"company_site": site} if site else {}
    return added


async def _read(ctx: Context, known: Found, data: Mapping[str, Any], added: dict[str, Any]) -> Outcome:
    opening = read_facts(known.key, data, today=day_of(ctx.now()))
    company, children = await _company(ctx, data)
    kin = await kin_of(ctx, known, data)
    facts: dict[str, Any] = {
        **added,
        "facts": facts_of(opening),
        "print": kin.print,
        "kin": kin.kin,
        "read_at": ctx.now(),
    }
    if company:
        facts["company"] = company
    if kin.links:
        facts["group"] = kin.links[0].target
    links = (*kin.links, *((Link("company", company),) if company else ()))
    first = {"url": data.get("url"), "state": "open", "first_seen": ctx.now()}
    record = entry(POSTING, known.key, facts, *links, evidence=places_of(opening), initial=first)
    records = (record, *kin.records)
    if kin.lead is not None:
        return Skipped(f"the same opening as {kin.lead}: {kin.reason}", records=records, children=children)
    return Next({"company": company}, records=records, children=children)


async def _company(ctx: Context, data: Mapping[str, Any]) -> tuple[str | None, tuple[NewTask, ...]]:
    """The company that hires, by its key or its name; where nobody knows it, a task that will find out."""
    key, name = data.get("company"), str(data.get("company_name") or "")
    known = await _employer(ctx, data)
    if known or not company_name_key(name):
        return known or key, ()
    said = {"website": data["company_site"]} if data.get("company_site") else {}
    # Detached: what is found out about a company is no part of the round that met its posting.
    return key, (
        NewTask(
            "company", {"name": name, "via": "posting", **said}, key=company_name_key(name), detached=True
        ),
    )


async def _employer(ctx: Context, data: Mapping[str, Any]) -> str | None:
    """The key of the company that hires, where it is known."""
    key, name = data.get("company"), company_name_key(str(data.get("company_name") or ""))
    if key and await ctx.record(COMPANY, key):
        return str(key)
    found = await ctx.records(COMPANY, where=(Is("name_key", name),), limit=1) if name else []
    return found[0].key if found else None


async def filter_(ctx: Context) -> Outcome:
    """Reject by rules, with the rule and the quote. Without a profile there is nothing to reject by."""
    profile, opening = await my_profile(ctx), await _opening(ctx)
    if profile is None:
        return Done(NO_PROFILE)
    judgement = judge(opening, profile, rules_of(ctx.setting), day_of(ctx.now()))
    if not judgement.passed:
        return Filtered(
            judgement.summary, records=(decision.filtered(opening.key, judgement, profile, ctx.now()),)
        )
    return Next(ctx.task.checkpoint)


async def analyze(ctx: Context) -> Outcome:
    """Score what passed; ask a model for its opinion where one can be asked and it could change something."""
    profile, opening = await my_profile(ctx), await _opening(ctx)
    if profile is None:
        return Done(NO_PROFILE)
    company = ctx.task.checkpoint.get("company")
    employer = await ctx.record(COMPANY, company) if company else None
    rules, points, case = (
        rules_of(ctx.setting),
        points_of(ctx.setting),
        case_of(opening, profile, day_of(ctx.now())),
    )
    found = rate(case, employer_of(CompanyRecord.of(employer) if employer else None), rules, points)
    answer = await _opinion(ctx, opening, profile, found)
    if answer:
        found = with_judgement(found, answer["answer"], points)
    decided = decision.scored(opening.key, weigh(case, rules), found, profile, ctx.now(), answer)
    if not found.passed:
        return Skipped(f"scores {found.total}, {found.needed} are needed", records=(decided,))
    return Next(
        {"match": decision.match_data(opening, found, ctx.now(), answer and answer["answer"])},
        records=(decided,),
    )


async def save(ctx: Context) -> Outcome:
    """Make a match of it, and see to it that the person hears of it."""
    match = decision.match(ctx.task.checkpoint["match"])
    news = announcement(match.key, ctx.setting("jobs.notify.delay"))
    return Done(f"a match of {match.data['score']}", records=(match,), children=(news,))


async def _opening(ctx: Context) -> Opening:
    """The facts that the first stage read."""
    return opening_of(await _known(ctx))


async def _opinion(ctx: Context, opening: Opening, profile: Profile, found: Score) -> dict[str, Any] | None:
    """What a model makes of it: only where its opinion could still make a match, and never at the price of
    waiting.
    """
    reach = found.total + ctx.setting("jobs.score.judgement")
    if not ctx.setting("jobs.judge") or reach < found.needed or not await ctx.can_ask("strong"):
        return None
    try:
        answer = await ctx.ask(
            PROMPT, judgement_schema(), judgement_inputs(opening, profile, found), tier="strong"
        )
    except (BudgetExhausted, NotYet, Permanent):
        return None
    except Transient:
        if not ctx.task.failures:  # once more, later; then its opinion is not worth waiting for
            raise
        return None
    return {"name": answer.model, "answer": kept(answer.value)}


job = Pipeline(
    KIND, Stage(scrape, through=through_its_host), Stage(filter_, name="filter"), Stage(analyze), Stage(save)
)
