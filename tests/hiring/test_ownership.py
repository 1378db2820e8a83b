"""Whose board it is: namesakes, initials, words that everybody uses, groups and hosts of others are no
proof."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.apps.jobs.discovery.trial import slugs
from thresher.hiring.names import Likeness, liken, name_words
from thresher.hiring.ownership import (
    Confidence,
    Method,
    Proof,
    Signs,
    Strength,
    WantedCompany,
    accepts,
    confidence,
    prove,
    standing,
    stands_on,
)
from thresher.practice.web.company import HOSTED, company, directory, owner
from thresher.reading.platforms.platform import guessable

MAPLE = WantedCompany("Maple Water", "https://www.maplewater.example/")


def by_name(wanted, *names):
    return prove(WantedCompany(wanted), Signs(names))


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("Maple Water", "Maplewater, Inc."),
        ("Maple Water Inc.", "Maple Water"),
        ("Acme Anvils", "Careers at Acme Anvils"),
        ("Acme Anvils", "Acme Anvils Jobs"),
        ("Acme Anvils", "ACME ANVILS GmbH & Co. KG"),
        ("Café Zoë", "Cafe Zoe"),
        ("Smith & Weston", "Smith and Weston LLP"),
        ("Straße Eins", "Strasse Eins"),
        ("IBM", "IBM"),
    ],
)
def test_the_same_name_in_another_spelling_is_likely_the_same_company(wanted, found):
    assert by_name(wanted, found).strength is Strength.LIKELY
    assert not by_name(wanted, found).contradicted


@pytest.mark.promise(7)
@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("Maple Water", "Maple Bank"),
        ("Maple Water", "Maplewater Bank"),
        ("Maple Water", "Maple"),
        ("Maple", "Maple Water"),
        ("National Grid", "National"),
        ("National Grid", "National Express"),
        ("Hewlett Packard", "HP"),
        ("HP", "Hewlett Packard"),
        ("International Business Machines", "IBM"),
        ("Summit Health", "Summit Energy"),
        ("Acme Anvils", "Anvils Acme"),
        ("Jerry", "Jerry.ai"),
        ("Delta", "Delta Dental"),
        ("First National Bank", "First National Bank of Omaha"),
        ("Apple", "Snapple"),
        ("Oracle", "Miracle"),
    ],
)
def test_a_namesake_is_refused(wanted, found):
    proof = by_name(wanted, found)
    assert proof.strength is Strength.NONE
    assert proof.contradicted
    assert not accepts(Method.GUESS, proof)


@pytest.mark.promise(7)
@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("HP", "HP"),
        ("National", "National"),
        ("Data Systems", "Data Systems Inc."),
        ("3M", "3M"),
        ("United", "UNITED"),
        ("Group", "Group"),
    ],
)
def test_two_letters_and_words_that_everybody_uses_prove_nothing(wanted, found):
    assert by_name(wanted, found).strength is Strength.NONE


@pytest.mark.parametrize(
    "found", ["The Acme", "Acme Germany", "Acme (US)", "Acme Worldwide", "Acme International GmbH"]
)
def test_a_branch_may_be_the_companys_or_another_company(found):
    proof = by_name("Acme", found)
    assert (proof.strength, proof.contradicted) == (Strength.NONE, False)


@pytest.mark.parametrize("name", ["Jobs", "Careers", "Current Openings", "", "  ", "..."])
def test_a_board_that_calls_itself_nothing_says_nothing(name):
    assert not by_name("Acme", name).contradicted
    assert by_name("Acme", name).strength is Strength.NONE


def test_the_companys_own_page_is_proof():
    proof = prove(MAPLE, Signs(pages=("https://careers.maplewater.example/open",)))
    assert proof.strength is Strength.PROVEN
    assert "careers.maplewater.example" in proof.sentence


@pytest.mark.promise(7)
def test_a_page_of_somebody_else_is_no_proof():
    assert prove(MAPLE, Signs(pages=("https://maplewater.example.evil.example/",))).strength is Strength.NONE
    assert prove(MAPLE, Signs(pages=("https://notmaplewater.example/",))).strength is Strength.NONE


@pytest.mark.promise(7)
def test_a_page_that_leads_to_a_strangers_board_is_not_enough():
    proof = prove(MAPLE, Signs(names=("Otter Robotics",), pages=("https://www.maplewater.example/partners",)))
    assert (proof.strength, proof.contradicted) == (Strength.LIKELY, True)
    assert confidence(Method.PAGE, Confidence.HIGH, proof, named=True) is Confidence.MEDIUM


def test_a_page_that_leads_to_a_board_under_the_brand_of_the_domain_is_proof():
    wanted = WantedCompany("Holzmann Beteiligungen", "https://www.growbig.example/")
    assert (
        prove(wanted, Signs(names=("GrowBig Robotics",), pages=("https://growbig.example/jobs",))).strength
        is Strength.PROVEN
    )


def test_postings_that_lead_to_the_companys_site_are_proof_whatever_the_board_calls_itself():
    signs = Signs(names=("MW Holding",), sites=("https://www.maplewater.example/careers/7?gh_jid=7",))
    assert prove(MAPLE, signs).strength is Strength.PROVEN


@pytest.mark.promise(7)
def test_one_posting_on_a_board_of_many_companies_proves_only_itself():
    signs = Signs(
        names=("Maple Water", "Otter Robotics", "Acme"), sites=("https://www.maplewater.example/careers/7",)
    )
    proof = prove(MAPLE, signs)
    assert (proof.strength, proof.contradicted) == (Strength.NONE, True)


@pytest.mark.promise(7)
def test_a_site_that_many_share_is_the_companys_only_in_its_own_corner():
    wanted = WantedCompany("Maple Water", "https://network.example/company/maple-water")
    assert prove(wanted, Signs(sites=("https://network.example/company/otter",))).strength is Strength.NONE
    assert (
        prove(wanted, Signs(sites=("https://network.example/company/maple-water-robotics",))).strength
        is Strength.NONE
    )
    assert (
        prove(wanted, Signs(sites=("https://network.example/company/maple-water/jobs",))).strength
        is Strength.PROVEN
    )
    assert not stands_on("https://maple.hosting.example/", "https://otter.hosting.example/")


@pytest.mark.promise(7)
def test_the_host_of_a_platform_is_not_the_companys_own_site():
    wanted = WantedCompany("Maple Water", "https://maplewater.recruitee.com/")
    home = "https://maplewater.recruitee.com/"
    assert (
        prove(wanted, Signs(sites=(f"{home}o/driver",), pages=(home,), homes=(home,))).strength
        is Strength.NONE
    )


def test_a_front_page_in_a_language_is_still_the_front_page():
    assert stands_on("https://www.acme.example/en-us/", "https://jobs.acme.example/7")
    assert stands_on("https://acme.example/index.html", "https://www.acme.example/careers")


def test_the_declared_site_of_the_owner_decides_between_companies_of_one_name():
    assert (
        prove(MAPLE, Signs(names=("Maple Water",), homes=("https://maplewater.example",))).strength
        is Strength.PROVEN
    )
    other = prove(MAPLE, Signs(names=("Maple Water",), homes=("https://www.maple-water.example/",)))
    assert (other.strength, other.contradicted) == (Strength.NONE, True)


@pytest.mark.promise(7)
def test_a_declared_site_is_only_a_word_where_the_name_is_anothers():
    proof = prove(MAPLE, Signs(names=("Maplewater Bank",), homes=("https://www.maplewater.example/",)))
    assert proof.contradicted
    assert not accepts(Method.GUESS, proof)


@pytest.mark.promise(7)
def test_a_guessed_token_that_is_not_the_companys_own_label_needs_more_than_a_name():
    signs = Signs(names=("Maple Water",), guess="maple-water")
    assert not accepts(Method.GUESS, prove(MAPLE, signs))
    assert prove(MAPLE, Signs(names=("Maple Water",), guess="maplewater")).strength is Strength.LIKELY
    assert prove(WantedCompany("Maple Water"), signs).strength is Strength.LIKELY
    assert (
        prove(
            WantedCompany("Jerry.ai", "https://jerry.ai/"), Signs(names=("Jerryai",), guess="jerryai")
        ).strength
        is Strength.LIKELY
    )
    assert (
        prove(
            MAPLE, Signs(("Maple Water",), homes=("https://maplewater.example",), guess="maple-water")
        ).strength
        is Strength.PROVEN
    )


def test_a_profile_on_a_network_is_not_the_site_of_another_company():
    signs = Signs(names=("Maple Water",), homes=("https://network.example/company/maple-water",))
    assert prove(MAPLE, signs).strength is Strength.LIKELY


def test_a_board_on_the_companys_own_domain_is_the_companys():
    assert prove(MAPLE, Signs(at="https://careers.maplewater.example/")).strength is Strength.PROVEN
    assert prove(MAPLE, Signs(at="https://feeds.practice.example/rss.xml")).strength is Strength.NONE


def test_a_board_that_calls_itself_by_a_domain_is_judged_by_the_domain():
    assert (
        prove(WantedCompany("Jerry", "https://jerry.ai/"), Signs(names=("Jerry.ai",))).strength
        is Strength.PROVEN
    )
    other = prove(WantedCompany("Jerry", "https://jerry.example/"), Signs(names=("Jerry.ai",)))
    assert (other.strength, other.contradicted) == (Strength.NONE, True)
    assert by_name("Booking.com", "Booking.com").strength is Strength.LIKELY


def test_without_a_company_there_is_nothing_to_prove():
    assert prove(WantedCompany(), Signs(names=("Acme",))) == Proof("no company was given to compare it with")


@pytest.mark.promise(7)
@pytest.mark.parametrize("declares", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_no_board_of_a_namesake_is_ever_taken_for_the_companys(seed, declares):
    strangers = rightful = 0
    for each in directory(seed, 400):
        wanted = WantedCompany(each.name, f"https://{each.site}/")
        for platform in (platform.name for platform in guessable() if platform.name in HOSTED):
            for token in slugs(each.name, wanted.website):
                found = owner(seed, platform, token)
                if found is None:
                    continue
                proof = prove(
                    wanted,
                    Signs(
                        names=(found.name,),
                        homes=(f"https://{found.site}/",) if declares else (),
                        guess=token,
                    ),
                )
                is_theirs = found.name == each.name and found == company(seed, each.token)
                strangers += not is_theirs
                rightful += is_theirs and proof.strength is not Strength.NONE
                assert is_theirs == accepts(Method.GUESS, proof), (each.name, found.name, proof)
    assert strangers > 10
    assert rightful > 50


NAMES = st.one_of(
    st.text(max_size=60),
    st.sampled_from(["Acme", "Maple Water", "National", "HP", "Jobs", "jerry.ai", "a.b.c.", "U.S. B"]),
)


@given(NAMES, NAMES)
def test_likeness_is_never_the_same_for_names_with_other_letters(one, other):
    if liken(one, other).likeness is Likeness.SAME:
        assert "".join(name_words(one)) == "".join(name_words(other, board=True))


@given(
    NAMES,
    st.lists(NAMES, max_size=4),
    st.lists(st.text(max_size=40), max_size=3),
    st.one_of(st.none(), st.text(max_size=40)),
)
def test_whatever_a_board_shows_there_is_a_sentence_and_no_error(name, names, urls, website):
    proof = prove(
        WantedCompany(name, website), Signs(tuple(names), tuple(urls), tuple(urls), urls[0] if urls else None)
    )
    assert proof.sentence


PROVEN, LIKELY = Proof("", Strength.PROVEN), Proof("", Strength.LIKELY)
SILENT, AGAINST, TORN = Proof(""), Proof("", contradicted=True), Proof("", Strength.LIKELY, contradicted=True)


@pytest.mark.parametrize(
    ("method", "platform", "proof", "expected"),
    [
        (Method.URL, "high", PROVEN, "high"),
        (Method.PAGE, "high", PROVEN, "high"),
        (Method.URL, "high", LIKELY, "high"),
        (Method.URL, "high", SILENT, "medium"),
        (Method.URL, "high", AGAINST, "low"),
        (Method.PAGE, "high", TORN, "medium"),
        (Method.URL, "medium", PROVEN, "medium"),
        (Method.URL, "low", PROVEN, "low"),
        (Method.GUESS, "high", PROVEN, "medium"),
        (Method.GUESS, "high", LIKELY, "medium"),
        (Method.GUESS, "high", SILENT, "low"),
        (Method.GUESS, "medium", LIKELY, "medium"),
        (Method.GUESS, "low", LIKELY, "low"),
    ],
)
def test_confidence_follows_the_table(method, platform, proof, expected):
    assert confidence(method, Confidence(platform), proof, named=True) == expected


def test_an_address_that_was_given_for_nobody_in_particular_is_as_good_as_its_platform():
    assert confidence(Method.URL, Confidence.HIGH, SILENT, named=False) is Confidence.HIGH


@pytest.mark.parametrize(
    ("found", "auto_enable", "validation_required", "status"),
    [
        ("high", True, False, "active"),
        ("high", False, False, "pending"),
        ("high", True, True, "pending"),
        ("medium", True, False, "pending"),
        ("low", True, False, "pending"),
    ],
)
def test_only_a_high_confidence_goes_to_work_by_itself(found, auto_enable, validation_required, status):
    stands = standing(
        Confidence(found), PROVEN, auto_enable=auto_enable, validation_required=validation_required
    )
    assert stands.status == status
    assert stands.validation_required == (found != "high" or validation_required)


@pytest.mark.promise(7)
def test_a_board_that_names_somebody_else_is_not_given_to_the_company():
    assert not standing(Confidence.LOW, AGAINST, auto_enable=True, validation_required=False).is_theirs
    assert standing(Confidence.MEDIUM, TORN, auto_enable=True, validation_required=False).is_theirs
