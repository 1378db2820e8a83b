"""Labelled pairs of postings: the same opening, or another one that looks like it. All texts are our own.

Six openings are written out. To each is done what boards do to a posting (`HARMLESS`), what companies do when
they list one opening per city (`PLACES`), what nobody but a reader could undo (`HARD`), and what makes
another opening of it (`HARMFUL`). Single traps follow.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from thresher.core.stored import read
from thresher.hiring.records import PostingRecord

Data = dict[str, Any]


def record(data: Data, key: str = "posting") -> PostingRecord:
    """A posting of which this is stored."""
    return read(PostingRecord, data, key=key)


@dataclass(frozen=True)
class Case:
    name: str
    one: Data
    other: Data
    same: bool
    apart: bool = False


RIVETS = """Mill & Harrow makes the software that keeps {n} small breweries running, from grain order to bottle.

You will join the brewing floor team in {city} and own the service that plans every tank. It is written in Python, runs on
PostgreSQL, and wakes nobody at night. You will talk to brewers once a week, because they know what the numbers mean.

What we look for: several years of work on services that other people depend on; patience with old data; clear writing in English.

What you get: thirty days of holiday, a share of the profit, and as much beer as you can carry home."""

WARD = """The Larkspur Clinic has cared for the valley since before the railway came.

As a nurse on the cardiac ward in {city} you look after six patients at a time, together with a second nurse and an assistant. You
give medication, watch the monitors, and speak with families when the doctors are gone.

You need a state licence and a year on any ward. We teach everything that is special about hearts.

Shifts last ten hours, four days a week. We pay night hours at one and a half times the rate, and parking is free for everyone who
works after dark."""

FORKS = """Tallow Logistics moves furniture for {n} shops along the coast and never breaks a mirror.

In our {city} warehouse you drive a reach truck, load vans in the order of their stops, and count the high racks every Friday
morning. The crew is eleven people and one very old cat.

Bring a forklift ticket and boots with steel toes; everything else you learn in the first two weeks from Marta, who has been here
since the doors opened.

We start at six and are done at half past two. Overtime is asked for, never ordered, and paid with the next wage."""

QUILL = """Die Federkiel GmbH druckt seit drei Generationen Schulbücher und ist dabei, das Papier zu verlassen.

In {city} entwickelst du die Lernplattform weiter, mit der {n} Schulen arbeiten. Das Backend ist in Java geschrieben, das Frontend
in TypeScript, und beides hat Tests, auf die man sich verlässt.

Du bringst Erfahrung mit großen Webanwendungen mit, sprichst gut Deutsch und erklärst gern, was du tust.

Wir bieten flexible Zeiten, ein Jobticket, jedes Jahr fünf Tage für Weiterbildung und ein Haus mit Garten mitten in der Stadt."""

TIDES = """Saltmarsh Analytics counts fish, ships and waves, and sells what it counts to harbours.

As an analyst in {city} you turn the nightly feeds of ninety buoys into one map that a harbour master can read with cold hands.
You write SQL, some Python, and short notes that say what is not known.

You have worked with messy measurements before and you distrust averages. A degree is nice, curiosity is needed.

The office looks over the water. We close at four on Fridays, and twice a year everybody goes out on the boat to see what the
buoys see."""

LEDGER = """Parrish & Dole keeps the books of {n} theatres, circuses and one zoo.

You will be the accountant for the travelling companies, working from {city}: payroll in four currencies, tax in nine places, and
a closing of the month that nobody has to redo.

We expect a finished training in accounting, two or three years of practice, and a good temper when receipts arrive wet.

You get tickets for everything, a pension from the first day, and colleagues who have seen stranger invoices than you will ever
bring them."""

OPENINGS: dict[str, Data] = {
    "rivets": {
        "title": "Senior Software Engineer",
        "company_name": "Mill & Harrow",
        "location": "Portland, OR",
        "text": RIVETS,
        "city": "Portland",
    },
    "ward": {
        "title": "Nurse, Cardiac Ward",
        "company_name": "Larkspur Clinic",
        "location": "Boise, ID",
        "text": WARD,
        "city": "Boise",
    },
    "forks": {
        "title": "Warehouse Operator",
        "company_name": "Tallow Logistics",
        "location": "Leeds, UK",
        "text": FORKS,
        "city": "Leeds",
    },
    "quill": {
        "title": "Full Stack Entwickler (m/w/d)",
        "company_name": "Federkiel GmbH",
        "location": "Leipzig",
        "text": QUILL,
        "city": "Leipzig",
    },
    "tides": {
        "title": "Data Analyst II",
        "company_name": "Saltmarsh",
        "location": "Halifax, NS",
        "text": TIDES,
        "city": "Halifax",
    },
    "ledger": {
        "title": "Accountant",
        "company_name": "Parrish & Dole",
        "location": "Chicago, IL",
        "text": LEDGER,
        "city": "Chicago",
    },
}
FAR = {
    "Portland, OR": "Austin, TX",
    "Boise, ID": "Omaha, NE",
    "Leeds, UK": "Bristol, UK",
    "Leipzig": "Dresden",
    "Halifax, NS": "Calgary, AB",
    "Chicago, IL": "Denver, CO",
}
LONG = {
    "Portland, OR": "Portland, Oregon, United States",
    "Boise, ID": "Boise, Idaho, USA",
    "Leeds, UK": "Leeds, England",
    "Leipzig": "Leipzig, Sachsen, Deutschland",
    "Halifax, NS": "Halifax, Nova Scotia, Canada",
    "Chicago, IL": "US-IL-Chicago",
}


def posting(name: str, number: str, board: str, **changes: Any) -> Data:
    """An opening as one board shows it."""
    data = {
        **OPENINGS[name],
        "number": number,
        "board": board,
        "url": f"https://{board}.example/{number}",
        "first_seen": 1,
        "state": "open",
        **changes,
    }
    city = data.pop("city")
    data["description"] = data.pop("text").format(city=city, n="eighty")
    return data


def first(name: str) -> Data:
    return posting(name, "a-1", "boardone")


def second(name: str, **changes: Any) -> Data:
    return posting(name, "77", "boardtwo", **changes)


def edited(name: str, edit: Callable[[str], str]) -> Data:
    data = second(name)
    return {**data, "description": edit(data["description"])}


def _cut(text: str) -> str:
    return text[: len(text) * 7 // 10]


ALIKE = (
    "We treat everybody alike, whatever their age, origin, faith or way of life, and say so here because the law and our own "
    "mothers want it said."
)


def _boilerplate(text: str) -> str:
    return f"{text}\n\n{ALIKE}"


def _headed(text: str) -> str:
    return "About the job\n\n" + text + "\n\nApply now"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;amp;").replace("\n\n", "\n<br>&nbsp;\n")


def _tracked(text: str) -> str:
    return text + "\n\n#LI-XY1\nhttps://track.example/?job=99&u=abc\nJob ID: 44120\nPosted 3 days ago"


def _spaced(text: str) -> str:
    return text.replace(". ", ".\n\n - ").upper()


def _paragraphs(text: str) -> list[str]:
    return text.split("\n\n")


HARMLESS: dict[str, Callable[[str], Data]] = {
    "another board": second,
    "title in capitals": lambda name: second(name, title=OPENINGS[name]["title"].upper()),
    "a marker of gender": lambda name: second(
        name, title=OPENINGS[name]["title"].replace(" (m/w/d)", "") + " (f/m/x)"
    ),
    "a number in the title": lambda name: second(name, title=f"{OPENINGS[name]['title']} (R-104412)"),
    "the company in the title": lambda name: second(
        name, title=f"{OPENINGS[name]['title']} at {OPENINGS[name]['company_name']}"
    ),
    "the form of the company": lambda name: second(
        name, company_name=OPENINGS[name]["company_name"].removesuffix(" GmbH") + " Inc."
    ),
    "a longer location": lambda name: second(name, location=LONG[OPENINGS[name]["location"]]),
    "no location": lambda name: second(name, location=""),
    "cut short": lambda name: edited(name, _cut),
    "a paragraph more at the end": lambda name: edited(name, _boilerplate),
    "framed by the board": lambda name: edited(name, _headed),
    "escaped twice": lambda name: edited(name, _escaped),
    "tracked": lambda name: edited(name, _tracked),
    "spaced otherwise": lambda name: edited(name, _spaced),
    "listed again": lambda name: posting(name, "a-2", "boardone", first_seen=9),
    "the place in the title": lambda name: second(
        name, title=f"{OPENINGS[name]['title']} - {OPENINGS[name]['city']}"
    ),
}
PLACES: dict[str, Callable[[str], Data]] = {
    "another city": lambda name: posting(name, "a-3", "boardone", location=FAR[OPENINGS[name]["location"]]),
    "another city, named in the text": lambda name: posting(
        name,
        "a-4",
        "boardone",
        location=FAR[OPENINGS[name]["location"]],
        city=FAR[OPENINGS[name]["location"]].partition(",")[0],
    ),
}
# The same opening all the same, as a reader would see: what we miss.
HARD: dict[str, Callable[[str], Data]] = {
    "told in other words": lambda name: edited(
        name,
        lambda text: (
            text.replace("You ", "The person we hire ").replace("We ", "Our people ").replace("Wir ", "Man ")
        ),
    ),
    "a line of pay put in": lambda name: edited(
        name, lambda text: text.replace("\n\n", "\n\nPay is fair.\n\n", 1)
    ),
    "the text is missing": lambda name: edited(name, lambda text: ""),
}


def _words(*swaps: tuple[str, str]) -> Callable[[str], str]:
    def edit(text: str) -> str:
        for old, new in swaps:
            text = text.replace(old, new)
        return text

    return edit


SWAPS = {
    "rivets": ("tank", "truck"),
    "ward": ("cardiac", "stroke"),
    "forks": ("reach truck", "counterbalance truck"),
    "quill": ("Java ", "Kotlin "),
    "tides": ("buoys", "radars"),
    "ledger": ("four currencies", "one currency"),
}
HARMFUL: dict[str, Callable[[str], Data]] = {
    "another thing in the text": lambda name: edited(name, _words(SWAPS[name])),
    "another third paragraph": lambda name: edited(
        name,
        lambda text: "\n\n".join(
            [*_paragraphs(text)[:2], "You speak French and have sold wine before.", *_paragraphs(text)[3:]]
        ),
    ),
    "another title": lambda name: second(name, title="Head Gardener"),
    "a bracket in the title": lambda name: second(name, title=OPENINGS[name]["title"] + " (Harbour Cloud)"),
    "a grade in the title": lambda name: second(
        name, title=OPENINGS[name]["title"].removesuffix(" II") + " III"
    ),
    "part time": lambda name: second(name, title=OPENINGS[name]["title"] + " (Part-Time)"),
    "night shift": lambda name: second(name, title=OPENINGS[name]["title"] + ", Night Shift"),
    "another company with the same template": lambda name: second(name, company_name="Bramble & Sons"),
    "one word put in": lambda name: edited(
        name, _words((" you ", " you mostly "), (" du ", " du oft "), ("You will", "You always will"))
    ),
    "a few words behind the last": lambda name: edited(name, lambda text: text + " You only work at night."),
    "a few words before the first": lambda name: edited(name, lambda text: "For our night shift. " + text),
    "a year in the title": lambda name: second(name, title=OPENINGS[name]["title"] + ", Summer 2031"),
    "a paragraph less on the same board": lambda name: {
        **posting(name, "a-5", "boardone"),
        "description": "\n\n".join(_paragraphs(first(name)["description"])[:3]),
    },
    "taken apart by a person": second,
}


def _traps() -> Iterator[Case]:
    text = OPENINGS["rivets"]["text"].format(city="Portland", n="eighty")

    def trap(title: str, description: str = text, **changes: Any) -> Data:
        return {**second("rivets", title=title), "description": description, **changes}

    def other(title: str, description: str = text, **changes: Any) -> Data:
        return {**first("rivets"), "title": title, "description": description, **changes}

    yield Case(
        "two products in brackets",
        other("Consultant (Agentforce)"),
        trap("Consultant (Data Cloud)"),
        same=False,
    )
    yield Case(
        "one product in brackets",
        other("Consultant (Agentforce)"),
        trap("Consultant (Agentforce) (m/f/d)"),
        same=True,
    )
    yield Case("two languages", other("Support Agent, French"), trap("Support Agent, German"), same=False)
    yield Case("C and C++", other("C Developer"), trap("C++ Developer"), same=False)
    yield Case("C# and C++", other("C# Developer"), trap("C++ Developer"), same=False)
    yield Case("two stores", other("Store Manager - Store 12"), trap("Store Manager - Store 14"), same=False)
    yield Case("two teams in the title", other("Engineer, Payments"), trap("Engineer, Search"), same=False)
    yield Case("senior and not", other("Senior Engineer"), trap("Engineer"), same=False)
    yield Case("Sr. and Senior", other("Senior Engineer"), trap("Sr. Engineer"), same=True)
    yield Case(
        "company with a domain",
        other("Engineer", company_name="Jerry"),
        trap("Engineer", company_name="Jerry.ai"),
        same=True,
    )
    yield Case(
        "companies that begin alike",
        other("Engineer", company_name="Jerry"),
        trap("Engineer", company_name="Jerry Foods"),
        same=False,
    )
    yield Case("no company on one side", other("Engineer"), trap("Engineer", company_name=""), same=False)
    yield Case(
        "remote and on site",
        other("Engineer", location="Remote, US"),
        trap("Engineer", text + "\n\nYou come in daily."),
        same=False,
    )
    page = {"url": "https://mill.example/openings/12?utm_source=x", "description": ""}
    yield Case(
        "one page with a tracker",
        other("Engineer", **page),
        trap("Engineer", **{**page, "url": "https://www.mill.example/openings/12/apply"}),
        same=True,
    )
    lists = {"url": "https://mill.example/careers", "board": "site:mill"}
    yield Case(
        "two rows of one page",
        other("Engineer", "Tanks. " * 50, number="1", **lists),
        trap("Engineer", "Pipes. " * 50, number="2", **lists),
        same=False,
    )
    parts = {"description": "", "board": "site:mill", "number": ""}
    yield Case(
        "two parts of one page",
        other("Engineer", **parts, url="https://mill.example/#/openings/1"),
        trap("Engineer", **parts, url="https://mill.example/#/openings/2"),
        same=False,
    )
    yield Case("one page, another title", other("Engineer", **page), trap("Cook", **page), same=False)
    short = "A good place to work. Apply today."
    yield Case("too little text", other("Engineer", short), trap("Engineer", short), same=False)
    yield Case(
        "the company's own number on two boards",
        other("Engineer", short, number="R-20417"),
        trap("Engineer", "", number="r-20417"),
        same=True,
    )
    yield Case(
        "a counter that happens to be equal",
        other("Engineer", short, number="12"),
        trap("Engineer", short, number="12"),
        same=False,
    )
    yield Case(
        "the number is a title's, not a posting's",
        other("Engineer", short, number="R-20417"),
        trap("Cook", "", number="R-20417"),
        same=False,
    )
    intro = (
        _paragraphs(text)[0]
        + " "
        + "We are a family firm, and every one of us has washed bottles in the yard on a cold Friday. " * 3
    )
    yield Case(
        "the same first words, cut off",
        other("Engineer", f"{intro}…"),
        trap("Engineer", f"{intro}…"),
        same=False,
    )
    yield Case(
        "the company's first words alone",
        other("Engineer", intro),
        trap("Engineer", f"{intro}\n\n{text}\n\n{ALIKE}"),
        same=False,
    )
    boiler = "We treat everybody alike and say so here at length, because the law wants it. " * 6
    yield Case(
        "mostly boilerplate, two jobs",
        other("Engineer", "You build tanks.\n" + boiler),
        trap("Engineer", "You test valves.\n" + boiler),
        same=False,
    )
    yield Case(
        "two deadlines",
        other("Engineer", text + "\nDeadline: 3 May"),
        trap("Engineer", text + "\nDeadline: 9 June"),
        same=True,
    )
    yield Case(
        "two pay bands",
        other("Engineer", text + "\nYou earn $120,000."),
        trap("Engineer", text + "\nYou earn $150,000."),
        same=False,
    )
    yield Case(
        "the same number on the same board",
        other("Engineer", number="9", board="b"),
        trap("Engineer II", short, number="9", board="b"),
        same=True,
    )
    yield Case("one posting", other("Engineer"), other("Engineer"), same=False, apart=True)


def cases() -> list[Case]:
    """Every pair, with its label."""
    found: list[Case] = []
    for name in OPENINGS:
        for changes, label in ((HARMLESS, True), (PLACES, True), (HARD, True), (HARMFUL, False)):
            for what, change in changes.items():
                found.append(
                    Case(
                        f"{name}: {what}",
                        first(name),
                        change(name),
                        label,
                        apart=what == "taken apart by a person",
                    )
                )
    return [*found, *_traps()]
