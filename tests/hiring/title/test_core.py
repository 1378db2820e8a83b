"""The core of a title: rank, place, hours and numbers go; what makes the work what it is stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.hiring.title.core import MAX_KEY, MAX_WORDS, core_of, is_wide, title_key

SEEN = (
    "senior sr jr lead principal staff ii iii 3 level entry mid junior java c# c++ .net node.js golang react developer engineer dev mgr "
    "manager of the to in at and / - , ( ) | remote full time nurse rn nurses sales director vp head chief executive officer berlin "
    "(m/w/d) #48213 data scientist test qa hr men specimen 日本 é ß"
)
WORDS = st.sampled_from(SEEN.split(" "))
TITLES = st.lists(WORDS, max_size=14).map(" ".join) | st.text(max_size=60)


@pytest.mark.parametrize(
    ("title", "core"),
    [
        ("Sr. Java Developer (m/w/d) - Remote", "java developer"),
        ("Java Developer III", "java developer"),
        ("Lead Java Dev", "java developer"),
        ("Senior .NET Engineer", ".net engineer"),
        ("C# Dev", "c# developer"),
        ("Golang Engineer", "go engineer"),
        ("React.js Developer", "react developer"),
        ("Node.js Developer", "node js developer"),
        ("Backend Engineer (.NET)", ".net back end engineer"),
        ("Frontend Dev", "front end developer"),
        ("ML Engineer", "machine learning engineer"),
        ("iOS Developer", "ios developer"),
        ("Software Engineer III - Berlin", "software engineer"),
        ("Nurse in Berlin", "nurse"),
        ("Sales Manager in New York, NY", "sales manager"),
        ("Nurse in part time", "nurse"),
        ("Electronics Engineers, Except Computer", "electronics engineer"),
        ("Software Engineer (Python, Java, AWS)", "software engineer"),
        ("Nurse (40h, 3 weeks)", "nurse"),
        ("Engineer, Software", "software engineer"),
        ("Manager - Sales", "sales manager"),
        ("Director of Sales Operations", "sales operations director"),
        ("VP of Engineering", "engineering vice president"),
        ("Teachers, Postsecondary", "postsecondary teacher"),
        ("Registered Nurses", "registered nurse"),
        ("RN", "registered nurse"),
        ("Firemen", "fireman"),
        ("Executive Assistant to the CEO", "executive assistant"),
        ("Level 3 Support Engineer", "support engineer"),
        ("Project Manager II - Req #12345", "project manager"),
        ("Mid-Level Data Engineer", "data engineer"),
        ("Chief Executive Officer (CEO)", "chief executive officer"),
        ("Ärztin (m/w/d)", "arztin"),
        ("消防士", "消防士"),
    ],
)
def test_what_says_nothing_about_the_work_is_taken_off(title: str, core: str):
    assert core_of(title) == core


@pytest.mark.parametrize(
    ("title", "core"),
    [
        ("Import Export Manager in Textiles", "textiles import export manager"),
        ("import export manager in meat", "meat import export manager"),
        ("Lecturer in Law", "law lecturer"),
        ("Nurse (ICU) in Berlin", "icu nurse"),
        ("Software Engineer III, Payments - Berlin", "payments software engineer"),
        ("Bus Drivers, School", "school bus driver"),
        (
            "Energy, Sustainability, and Infrastructure Manager",
            "energy sustainability and infrastructure manager",
        ),
        ("Graduate Civil Engineer", "graduate civil engineer"),
        ("Trainee Accountant", "trainee accountant"),
        ("Manager in Training", "manager trainee"),
        ("Engineer in Python", "python engineer"),
    ],
)
def test_a_qualifier_that_nobody_knows_stays_wherever_it_stands(title: str, core: str):
    assert core_of(title) == core


@pytest.mark.parametrize(
    "title",
    [
        "Senior Care Assistant",
        "Lead Generation Specialist",
        "Associate Professor",
        "Sales Associate",
        "Junior High Teacher",
        "Team Lead",
        "Chief of Staff",
        "Head of Marketing",
        "Human Resources",
        "Principal",
        "Staff Sergeant",
        "Night Auditor",
    ],
)
def test_words_of_rank_that_belong_to_the_work_stay(title: str):
    assert core_of(title) == title_key(title)


@pytest.mark.parametrize(
    ("title", "core"),
    [
        ("Contract Manager", "contract manager"),
        ("Senior Construction Contract Manager (Remote)", "construction contract manager"),
        ("Hiring Manager", "hiring manager"),
        ("Remote Pilot", "remote pilot"),
        ("Job Coach", "job coach"),
        ("Remote Contract Java Developer", "java developer"),
        ("Now Hiring: Store Manager", "store manager"),
    ],
)
def test_a_word_of_the_contract_stays_where_it_says_what_the_work_is(title: str, core: str):
    assert core_of(title) == core


@pytest.mark.parametrize("title", ["Senior", "Lead", "II", "Remote", "(m/w/d)", "Full Time"])
def test_a_title_of_nothing_else_keeps_a_word(title: str):
    assert core_of(title)


@pytest.mark.parametrize("title", ["", "   ", "!!!", "--", "\x00", "\N{ZERO WIDTH SPACE}"])
def test_a_title_without_a_word_has_no_core(title: str):
    assert core_of(title) == ""


@given(TITLES)
def test_a_core_read_again_stays_what_it_is_and_is_its_own_key(title: str):
    core = core_of(title)
    assert core_of(core) == core
    assert title_key(core) == core


@pytest.mark.parametrize(
    "form",
    [
        "Senior {}",
        "Sr. {}",
        "Jr. {}",
        "Lead {}",
        "Principal {}",
        "{} II",
        "{} Level 3",
        "{} - Remote",
        "{} #48213",
    ],
)
@pytest.mark.parametrize(
    "title", ["Python Developer", "Registered Nurse", "Truck Driver", "Sales Manager", "Accountant"]
)
def test_every_rank_and_form_of_a_title_has_its_core(title: str, form: str):
    assert core_of(form.format(title)) == core_of(title)


@given(st.text(max_size=5_000))
def test_any_text_has_a_short_core(text: str):
    core = core_of(text)
    assert len(core) <= MAX_KEY
    assert len(core.split()) <= MAX_WORDS


@pytest.mark.parametrize(
    "hostile",
    ["(" * 50_000, "senior " * 20_000, "a of " * 20_000, "II " * 20_000, "- " * 50_000, "é" * 100_000],
)
def test_hostile_titles_are_cut_not_chewed(hostile: str):
    assert len(core_of(hostile)) <= MAX_KEY


@pytest.mark.parametrize(
    "core", ["developer", "engineer", "manager", "consultant", "analyst", "specialist", "vice president"]
)
def test_heads_alone_are_wide(core: str):
    assert is_wide(core)


@pytest.mark.parametrize("core", ["java developer", "nurse", "accountant", "sales manager", "lawyer"])
def test_what_says_what_is_done_is_not(core: str):
    assert not is_wide(core)
