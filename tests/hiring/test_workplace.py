"""Where the work is done: the same word said of the opening, of something else, and denied."""

import pytest

from thresher.hiring.finding import flat
from thresher.hiring.opening import Workplace
from thresher.hiring.workplace import in_location, in_text, in_title, of_field

REMOTE, HYBRID, ONSITE = Workplace.REMOTE, Workplace.HYBRID, Workplace.ONSITE


def said(text: str) -> Workplace | None:
    found = in_text(flat(text))
    return found and found.value


@pytest.mark.parametrize(
    "text",
    [
        "This is a fully remote position.",
        "This role is remote.",
        "You can work remotely from anywhere in the EU.",
        "Remote within the US, any state.",
        "We are a remote-first company with people in nine countries.",
        "Location: Remote (US only)",
        "100% remote",
        "Work from anywhere.",
        "Remote\nFull-time",
        "The role can be remote or hybrid, as you like.",
        "Hybrid or remote",
        "Great team!\n#LI-Remote",
        "This is a **remote** role.",
        "The position is permanently remote; travel to Leeds twice a year.",
    ],
)
def test_it_is_remote(text: str):
    assert said(text) is REMOTE


@pytest.mark.promise(13)
@pytest.mark.parametrize(
    "text",
    [
        "This is not a remote position.",
        "No remote.",
        "Remote is not possible.",
        "Remote work is not available for this role.",
        "This role is not remote.",
        "This role cannot be done remotely.",
        "We do not offer remote work.",
        "This position is not eligible for remote work.",
        "Remote: no",
        "On-site only.",
        "This is an on-site role in our workshop.",
        "The position is onsite at our plant in Leeds.",
        "You work 5 days a week in our office.",
    ],
)
def test_it_is_on_site_also_where_remote_is_denied(text: str):
    assert said(text) is ONSITE


@pytest.mark.parametrize(
    "text",
    [
        "Hybrid, 2 days in the office.",
        "This is a hybrid role based in Leeds.",
        "We work hybrid: three days a week in the office.",
        "You come to the office 2-3 days per week.",
        "You may work remotely two days a week.",
        "Location: Berlin (hybrid)",
        "A hybrid working model with home office.",
        "classified as structured hybrid, with a minimum of three (3) days per week in the office",
    ],
)
def test_it_is_hybrid(text: str):
    assert said(text) is HYBRID


@pytest.mark.promise(13)
@pytest.mark.parametrize(
    "text",
    [
        "You will use remote sensing data.",
        "Experience with hybrid cloud and multi-cloud deployments.",
        "Enjoy our on-site gym and free on-site parking.",
        "Provide remote support to our customers.",
        "You lead remote teams across three continents.",
        "We design hybrid vehicles.",
        "A remote procedure call framework.",
        "The last round is an on-site interview.",
        "Equipment is monitored from a remote location.",
        "A one-time allowance for fully remote and hybrid employees.",
        "Our people work from the office, hybrid or fully remote, depending on their role.",
        "We offer 25 days of holiday and a home office stipend.",
        "Our office is in Leeds.",
        "Unless approved to work fully remotely, you spend half of your time with us.",
        "You secure on-premises, hybrid, or cloud systems.",
        "Hybrid or remote options (depending on location).",
        "Whether you may work remotely is decided later.",
        "30 days a year; the week starts in the office with cake.",
        "",
    ],
)
def test_what_is_not_said_of_the_opening_says_nothing(text: str):
    assert said(text) is None


@pytest.mark.parametrize(
    ("location", "meant"),
    [
        ("Remote - US", REMOTE),
        ("Berlin (hybrid)", HYBRID),
        ("Leeds, on-site", ONSITE),
        ("Portland, OR", None),
        ("United States", None),
        ("San Francisco, CA; Remote, US", REMOTE),
        ("Leeds (no remote)", ONSITE),
        ("Anywhere", REMOTE),
        ("Hybrid - New York City", HYBRID),
        ("Leeds (hybrid); Remote, UK", REMOTE),
    ],
)
def test_a_location_may_say_it_and_a_place_alone_does_not(location: str, meant: Workplace | None):
    found = in_location(location)
    assert (found and found.value) == meant


@pytest.mark.parametrize(
    ("title", "meant"),
    [
        ("Data Engineer (Remote)", REMOTE),
        ("Data Engineer - Remote US", REMOTE),
        ("Remote Python Developer", REMOTE),
        ("Nurse, Hybrid", HYBRID),
        ("Remote Sensing Scientist", None),
        ("Remote Support Technician", None),
        ("Hybrid Cloud Architect", None),
        ("Director of Remote Operations", None),
        ("Engineer", None),
    ],
)
def test_a_title_may_say_it_beside_the_role(title: str, meant: Workplace | None):
    found = in_title(title)
    assert (found and found.value) == meant


def test_a_field_of_its_own_is_taken_at_its_word():
    assert [
        of_field(each)
        for each in ("HYBRID", "Remote", "On-site", "TELECOMMUTE", "true", "none", "unspecified")
    ] == [
        HYBRID,
        REMOTE,
        ONSITE,
        REMOTE,
        REMOTE,
        None,
        None,
    ]
