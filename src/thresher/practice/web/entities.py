"""The kinds of things that the practice catalogues list: fields, labels, and values drawn for one item.

Values are text as a page writes it. Every kind has two optional fields, which some items lack.
"""

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType

from thresher.practice.web.clock import DAY_ZERO
from thresher.practice.web.draw import Draw

Values = dict[str, str | None]
# Of a hundred items so many lack an optional field.
LACKING = 25
# Coprime to the number of names of every kind, so that neighbours differ and no name comes twice in a round.
STEP = 101


@dataclass(frozen=True, slots=True)
class EntityField:
    """A field of an entity. `type` has the words of `thresher.core.schema.Kind`."""

    name: str
    type: str = "text"
    required: bool = True


# The first field of each kind is its name.
ENTITIES = MappingProxyType(
    {
        "course": (
            EntityField("name"),
            EntityField("code"),
            EntityField("description"),
            EntityField("credits"),
            EntityField("level"),
            EntityField("instructor", required=False),
            EntityField("prerequisites", required=False),
        ),
        "programme": (
            EntityField("name"),
            EntityField("degree"),
            EntityField("description"),
            EntityField("duration"),
            EntityField("language"),
            EntityField("tuition", "money"),
            EntityField("starts", "date", required=False),
            EntityField("campus", required=False),
        ),
        "credential": (
            EntityField("name"),
            EntityField("type"),
            EntityField("description"),
            EntityField("issuer"),
            EntityField("language"),
            EntityField("fee", "money", required=False),
            EntityField("valid_for", required=False),
        ),
        "competency": (
            EntityField("text"),
            EntityField("code"),
            EntityField("description"),
            EntityField("framework"),
            EntityField("category"),
            EntityField("level", required=False),
            EntityField("assessment", required=False),
        ),
        "product": (
            EntityField("name"),
            EntityField("sku"),
            EntityField("description"),
            EntityField("brand"),
            EntityField("price", "money"),
            EntityField("availability"),
            EntityField("weight", required=False),
            EntityField("warranty", required=False),
        ),
        "article": (
            EntityField("title"),
            EntityField("author"),
            EntityField("summary"),
            EntityField("published", "date"),
            EntityField("section"),
            EntityField("reading_time", required=False),
            EntityField("photographer", required=False),
        ),
    }
)
# What a page calls a field where it is not simply the field's name.
LABELS = MappingProxyType(
    {
        "en": {
            "code": "Code",
            "valid_for": "Valid for",
            "sku": "Item no.",
            "reading_time": "Reading time",
            "photographer": "Photographs",
            "type": "Type of credential",
            "tuition": "Tuition fee",
            "assessment": "Assessed by",
        },
        "de": {
            "degree": "Abschluss",
            "duration": "Dauer",
            "language": "Unterrichtssprache",
            "tuition": "Gebühr",
            "starts": "Nächster Beginn",
            "campus": "Standort",
        },
    }
)

PEOPLE = (
    "A. Moreau",
    "Birgit Lindqvist",
    "Chidi Okafor",
    "D. Rossi",
    "Emi Nakamura",
    "Farid Haddad",
    "Greta O'Neill",
    "Halvard Strand",
)
SUBJECTS = (
    "Soil Science",
    "Harbour Logistics",
    "Bookkeeping",
    "Timber Framing",
    "Public Speaking",
    "Food & Fermentation",
    "Statistics",
    "Night Photography",
    "Clinical Nutrition",
    "Wayfinding",
    "Contract Law",
    "Tidal Ecology",
    "Bicycle Repair",
    "Sign Language",
    "Water Treatment",
    "Museum Practice",
    "Orchard Care",
    "Map Making",
    "Typesetting",
)
ABILITIES = (
    "Plan a survey of {}",
    "Explain the limits of {}",
    "Document a project in {}",
    "Assess risks in {}",
    "Teach the basics of {}",
    "Select tools for {}",
    "Review a colleague's work in {}",
    "Keep a budget for {}",
)
COURSES = (
    "Introduction to {}",
    "{} in Practice",
    "Advanced {}",
    "History of {}",
    "{}: Field Methods",
    "Seminar in {}",
    "{} for Engineers",
    "Ethics of {}",
)
DEGREES = ("Certificate in {}", "Associate of {}", "Bachelor of {}", "Master of {}", "Graduate Diploma in {}")
CREDENTIALS = (
    "{} Technician",
    "Licensed {} Practitioner",
    "{} Associate",
    "Certified {} Trainer",
    "{} Inspector",
)
GOODS = (
    "Oak Bench",
    "Folding Saw",
    "Rain Barrel",
    "Garden Lantern",
    "Seed Tray",
    "Wool Blanket",
    "Workshop Stool",
    "Enamel Kettle",
    "Bicycle Pump",
    "Pruning Shears",
    "Tool Roll",
    "Bird Feeder",
    "Post Box",
    "Wall Clock",
    "Hand Plane",
    "Slate Tiles",
    "Brass Hinge",
    "Linen Apron",
    "Paper Press",
)
MODELS = (
    "{} Classic",
    "{} No. 3",
    "Compact {}",
    "{} Pro",
    "Little {}",
    "{}, Large",
    "Weatherproof {}",
    "{} Set",
)
HEADLINES = (
    "What we learned from {}",
    "{} comes to the harbour",
    "Five questions about {}",
    "The quiet return of {}",
    "Why {} needs patience",
    "A winter with {}",
    "{}: the long view",
    "Who still needs {}?",
)
GERMAN_SUBJECTS = (
    "Gärungstechnik",
    "Straßenbau",
    "Möbelrestaurierung",
    "Wärmepumpentechnik",
    "Büroorganisation",
    "Küchenführung",
    "Lüftungsbau",
    "Bühnenmalerei",
    "Qualitätsprüfung",
    "Gewässerschutz",
    "Süßwarentechnik",
)
GERMAN_DEGREES = (
    "Grundkurs {}",
    "Fachschule für {}",
    "Meisterschule {}",
    "{} für Quereinsteiger",
    "{} – Aufbaujahr",
)


def draw_values(kind: str, language: str, seed: int, site: str, number: int, times: int) -> Values:
    """The values of one item after it has changed so many times. What a page does not show is None."""
    draw = Draw(seed, "planted", site, number)
    values = (_GERMAN if language == "de" else _DRAWN)[kind](draw, seed, number, times)
    lacking = {each.name for each in ENTITIES[kind] if not each.required and draw.chance(LACKING)}
    return {field.name: None if field.name in lacking else values[field.name] for field in ENTITIES[kind]}


def label(language: str, name: str) -> str:
    """What a page writes before a value."""
    return LABELS[language].get(name) or name.replace("_", " ").capitalize()


def slug_of(name: str) -> str:
    """A name as addresses write it: letters without accents, words joined by hyphens."""
    bare = unicodedata.normalize("NFKD", name.replace("ß", "ss")).encode("ascii", "ignore").decode()
    return "-".join("".join(each if each.isalnum() else " " for each in bare.lower()).split())


def _name(forms: Sequence[str], subjects: Sequence[str], seed: int, number: int) -> str:
    """A name that no other item of the site has: the pairs in turn, then the same with a numeral."""
    count = len(forms) * len(subjects)
    place = (number * STEP + seed) % count
    name = forms[place % len(forms)].format(subjects[place // len(forms)])
    return name if number < count else f"{name} {number // count + 1}"


def _revised(text: str, times: int) -> str:
    return f"{text} Revised edition {times + 1}." if times else text


def _price(draw: Draw, least: int, most: int, times: int) -> str:
    """An amount of money. It falls by five percent at every change, to the cent."""
    cents = draw.between(least, most) * 100 + draw.pick((0, 50, 95, 99))
    cents = cents * (100 - 5 * min(times, 12)) // 100
    return f"€{cents // 100:,}.{cents % 100:02d}"


def _date(draw: Draw, least: int, most: int) -> str:
    return f"{DAY_ZERO + timedelta(days=draw.between(least, most)):%d %B %Y}"


def _course(draw: Draw, seed: int, number: int, times: int) -> Values:
    name, subject = _name(COURSES, SUBJECTS, seed, number), draw.pick(SUBJECTS)
    text = (
        f"{name} follows {draw.between(3, 14)} case studies and one project of your own. You keep a notebook, "
        f"visit a workshop and compare what you see with {subject}."
    )
    needed = draw.pick(("One year of study", "None beyond curiosity", f"A first course in {subject}"))
    return {
        "name": name,
        "code": f"{draw.pick(('ALD', 'BIO', 'ENG', 'HUM', 'TEC'))} {100 + number}",
        "description": _revised(text, times),
        "credits": f"{draw.between(2, 12)} credits",
        "level": draw.pick(("Undergraduate", "Graduate", "Continuing education")),
        "instructor": draw.pick(PEOPLE),
        "prerequisites": needed,
    }


def _programme(draw: Draw, seed: int, number: int, times: int) -> Values:
    name = _name(DEGREES, SUBJECTS, seed, number)
    text = (
        f"Graduates of the {name} work in {draw.pick(('museums', 'ports', 'clinics', 'small firms', 'town halls'))} "
        f"and spend {draw.between(4, 30)} weeks with a partner of the school."
    )
    return {
        "name": name,
        "degree": name.partition(" ")[0] if "Diploma" not in name else "Diploma",
        "description": text,
        "duration": f"{draw.between(2, 8)} semesters",
        "language": draw.pick(("English", "French", "Swedish")),
        "tuition": _price(draw, 900, 14_000, times),
        "starts": _date(draw, 40, 300),
        "campus": f"{draw.pick(('North', 'Harbour', 'Old Mill', 'Riverside'))} Campus",
    }


def _german_programme(draw: Draw, seed: int, number: int, times: int) -> Values:
    name = _name(GERMAN_DEGREES, GERMAN_SUBJECTS, seed, number)
    cents = draw.between(400, 6_900) * 100 * (100 - 5 * min(times, 12)) // 100
    text = (
        f"Der Bildungsgang „{name}“ führt in {draw.between(3, 9)} Modulen zur Prüfung. Die Schülerinnen und Schüler "
        f"üben in der Werkstatt und führen ein größeres Projekt für {draw.pick(('die Gemeinde', 'ein Museum', 'einen Betrieb'))} durch."
    )
    return {
        "name": name,
        "degree": draw.pick(("Staatlich geprüfte Fachkraft", "Meisterbrief", "Zertifikat der Schule")),
        "description": text,
        "duration": f"{draw.between(6, 36)} Monate",
        "language": draw.pick(("Deutsch", "Dänisch", "Französisch")),
        "tuition": f"{cents / 100:,.2f}".translate(str.maketrans(",.", ".,")) + " €",
        "starts": f"{DAY_ZERO + timedelta(days=draw.between(40, 300)):%d.%m.%Y}",
        "campus": draw.pick(("Süderbrück", "Königsmühle", "Große Straße", "Grünhöfe")),
    }


def _credential(draw: Draw, seed: int, number: int, times: int) -> Values:
    name = _name(CREDENTIALS, SUBJECTS, seed, number)
    text = (
        f"The holder of {name} has passed {draw.between(2, 9)} examinations and shown "
        f"{draw.between(100, 900)} hours of supervised practice."
    )
    return {
        "name": name,
        "type": draw.pick(("Certificate", "Licence", "Badge", "Diploma")),
        "description": _revised(text, times),
        "issuer": f"{draw.pick(('Northern', 'Coastal', 'National', 'Midland'))} {draw.pick(('Guild', 'Board', 'Chamber'))}",
        "language": draw.pick(("English", "Welsh", "Irish")),
        "fee": _price(draw, 40, 900, 0),
        "valid_for": f"{draw.between(1, 10)} years" if draw.chance(90) else "Life",
    }


def _competency(draw: Draw, seed: int, number: int, times: int) -> Values:
    name = _name(ABILITIES, SUBJECTS, seed, number)
    text = (
        f"Shown when the learner completes {draw.between(2, 6)} tasks without help and explains "
        f"{draw.pick(('each step', 'the choice of method', 'one mistake'))} to a {draw.pick(('peer', 'mentor', 'client'))}."
    )
    return {
        "text": name,
        "code": f"{draw.pick('ABCDEF')}{draw.between(1, 9)}.{number}",
        "description": _revised(text, times),
        "framework": draw.pick(("Regional Skills Framework", "Trades Framework 2024", "Open Abilities")),
        "category": draw.pick(("Planning", "Communication", "Safety", "Craft")),
        "level": f"Level {draw.between(1, 8)}",
        "assessment": draw.pick(("Portfolio", "Observation at work", "Oral examination")),
    }


def _product(draw: Draw, seed: int, number: int, times: int) -> Values:
    name = _name(MODELS, GOODS, seed, number)
    text = (
        f"The {name} is made in batches of {draw.between(20, 400)} and lasts. Oil it once a year, "
        f"keep it {draw.pick(('dry', 'out of the sun', 'under a roof'))}, and pass it on."
    )
    return {
        "name": name,
        "sku": f"{draw.pick(('HK', 'TR', 'WB'))}-{10_000 + number}",
        "description": text,
        "brand": draw.pick(("Kestrel & Sons", "Halden", "Nordbruk", "Old Mill")),
        "price": _price(draw, 4, 1_400, times),
        "availability": draw.pick(("In stock", "In stock", "Sold out", "Ships in two weeks")),
        "weight": f"{draw.between(1, 240) / 10:.1f} kg",
        "warranty": f"{draw.between(2, 10)} years",
    }


def _article(draw: Draw, seed: int, number: int, times: int) -> Values:
    name = _name(HEADLINES, SUBJECTS, seed, number)
    text = (
        f"Our reporter spent {draw.between(2, 40)} days with people who know {draw.pick(SUBJECTS)}, "
        f"and came back with {draw.pick(('more questions', 'a notebook of figures', 'three recipes', 'a warning'))}."
    )
    return {
        "title": name,
        "author": draw.pick(PEOPLE),
        "summary": _revised(text, times),
        "published": _date(draw, -400, -3),
        "section": draw.pick(("Work", "Places", "Science", "Letters")),
        "reading_time": f"{draw.between(2, 19)} minutes",
        "photographer": draw.pick(PEOPLE),
    }


_Drawn = Callable[[Draw, int, int, int], Values]
_DRAWN: MappingProxyType[str, _Drawn] = MappingProxyType(
    {
        "course": _course,
        "programme": _programme,
        "credential": _credential,
        "competency": _competency,
        "product": _product,
        "article": _article,
    }
)
_GERMAN: MappingProxyType[str, _Drawn] = MappingProxyType({"programme": _german_programme})
