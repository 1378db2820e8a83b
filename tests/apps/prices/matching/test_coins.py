"""What titles say of coins: denominations, years, mint marks, series, varieties and faults."""

import pytest

from tests.apps.prices.matching.judging import MORGAN, coin, item, judged, signal, verdict

MATCHES, DIFFERS, SILENT = "matches", "differs", "silent"


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("1921 Morgan", MATCHES),
        ("1921D Morgan", MATCHES),
        ("Morgan１９２１", SILENT),  # glued to a word it is none
        ("１９２１-D Morgan", MATCHES),
        ("Morgan, 1921.", MATCHES),
        ("1922-D Morgan", DIFFERS),
        ("1921 & 1922 Morgan", DIFFERS),
        ("1878-1921 Morgan", DIFFERS),
        ("Morgan 1878-21", DIFFERS),
        ("1921 Morgan, 2023 privy", DIFFERS),
        ("Morgan $1921", SILENT),
        ("Morgan 1,921 sold", SILENT),
        ("Morgan cert #1922", SILENT),
        ("Morgan 1922x1080", SILENT),
        ("Morgan 19221", SILENT),
        ("1880s Morgan 1921-D", MATCHES),  # a decade, or a mint mark of another year: it says neither
    ],
)
def test_a_year_is_four_digits_that_stand_alone(title: str, expected: str) -> None:
    assert verdict(MORGAN, title, "year") == expected


def test_a_year_of_three_digits_is_compared_whole() -> None:
    roman = coin("denarius", "138")
    assert verdict(roman, "Denarius AD 138", "year") == MATCHES
    assert verdict(roman, "Denarius RIC 1380", "year") == SILENT


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        *(
            (f"{said} Morgan Dollar", MATCHES)
            for said in (
                "1921-D",
                "1921 D",
                "1921D",
                "1921d",
                "1921 - D",
                "1921–D",
                "1921 D Mint",
                "1921 Denver",
            )
        ),
        ("Morgan Dollar 1921 D mint mark", MATCHES),
        ("Morgan Dollar 1921 mint mark: D", MATCHES),
        ("Morgan Dollar 1921 silver D nice", MATCHES),
        ("1921-D/S Morgan", MATCHES),  # one over the other: the first is its mint
        ("1921-S Morgan Dollar", DIFFERS),
        ("1921S Morgan Dollar", DIFFERS),
        ("1921 San Francisco Morgan", DIFFERS),
        ("1921 CC Morgan", DIFFERS),
        ("1921-P Morgan", DIFFERS),
        ("1921 P D S Morgan", DIFFERS),
        ("1921-S and 1921-D Morgan", DIFFERS),
        ("1921-D Morgan San Francisco mint", DIFFERS),
        ("1921 Morgan Dollar", SILENT),
        ("1921 Morgan U.S. dollar", SILENT),
        ("1921 Morgan US coin, Washington D.C. show", SILENT),
        ("1921 w/ box Morgan", SILENT),
        ("1921 Morgan seller's choice", SILENT),
        ("1921-D Morgan, Charlotte NC coin show", MATCHES),  # a city beside a mark is where a show was
    ],
)
def test_a_mint_mark_may_be_a_letter_or_a_city(title: str, expected: str) -> None:
    assert verdict(MORGAN, title, "mintmark") == expected


@pytest.mark.parametrize("said", ["P", "none", "p"])
@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("1921-P Peace", MATCHES),
        ("1921 Peace Philadelphia", MATCHES),
        ("1921 Peace no mint mark", MATCHES),
        ("1921 Peace", SILENT),
        ("1921-D Peace", DIFFERS),
    ],
)
def test_coins_of_philadelphia_have_a_p_or_none(said: str, title: str, expected: str) -> None:
    assert verdict(coin(mintmark=said, series="Peace"), title, "mintmark") == expected


@pytest.mark.parametrize(
    ("denomination", "title", "expected"),
    [
        ("dollar", "1921 Morgan Dollar", MATCHES),
        ("dollar", "1921 Morgan $1", MATCHES),
        ("dollar", "1921 one dollar", MATCHES),
        ("silver dollar", "1921 silver dollars", MATCHES),
        ("dollar", "1921 half dollar", DIFFERS),
        ("dollar", "1921 quarter dollar", DIFFERS),
        ("dollar", "1921 quarter eagle", DIFFERS),
        ("dollar", "1921 Morgan", SILENT),
        ("dollar", "1921 Morgan eagle reverse", SILENT),  # an eagle is also a design
        ("half dollar", "1964 Kennedy half", MATCHES),
        ("half dollar", "1964 50c Kennedy", MATCHES),
        ("half dollar", "1964 50¢ Kennedy", MATCHES),
        ("half dollar", "1964 ½ dollar", MATCHES),
        ("half dollar", "1964 dollar", DIFFERS),
        ("cent", "1909 Lincoln penny", MATCHES),
        ("cent", "1909 5 cents", DIFFERS),
        ("cent", "1909 half cent", DIFFERS),
        ("cent", "90 percent silver", SILENT),
        ("half eagle", "1843 $5 Liberty", MATCHES),
        ("half eagle", "1843 $2.50 Liberty", DIFFERS),
        ("double eagle", "1924 $20 gold", MATCHES),
        ("sovereign", "1911 half sovereign", DIFFERS),
        ("8 reales", "1808 8 Reales", MATCHES),
        ("8 reales", "1808 4 Reales", DIFFERS),
        ("8 reales", "1808 coin", SILENT),
    ],
)
def test_a_denomination_has_many_names(denomination: str, title: str, expected: str) -> None:
    assert verdict(coin(denomination), title, "denomination") == expected


@pytest.mark.parametrize(
    ("series", "title", "expected"),
    [
        ("Morgan", "1921 Morgan dollar", MATCHES),
        ("Morgan", "1921 Peace dollar", DIFFERS),
        ("Morgan", "1921 Morgan or Peace dollar", DIFFERS),
        ("Morgan", "1921 Morgan dollar, not Peace", MATCHES),
        ("Morgan", "1921 dollar", SILENT),
        ("Morgan", "1921 Morganite ring", SILENT),
        ("Lincoln", "1909 wheat cent", MATCHES),  # a kind of Lincoln cent
        ("Lincoln wheat", "1909 Lincoln cent", SILENT),  # which of them?
        ("Lincoln wheat", "1960 memorial cent", DIFFERS),
        ("Walking Liberty", "1943 Standing Liberty", DIFFERS),
        ("Saint Gaudens", "1924 St. Gaudens $20", MATCHES),
        ("Saint Gaudens", "1924 Saint-Gaudens", MATCHES),
        ("Maria Theresa", "Thaler Maria Theresa 1780", MATCHES),  # a name that the vocabulary does not have
        ("Maria Theresa", "Thaler Maria 1780", SILENT),
    ],
)
def test_another_series_contradicts(series: str, title: str, expected: str) -> None:
    assert verdict(coin(series=series), title, "series") == expected


@pytest.mark.parametrize(
    ("variety", "title", "expected"),
    [
        ("VAM-3", "1921 VAM-3", MATCHES),
        ("VAM-3", "1921 VAM 3", MATCHES),
        ("VAM-3", "1921 VAM3", MATCHES),
        ("VAM-3", "1921 vam 03", MATCHES),
        ("VAM-3", "1921 VAM-31", DIFFERS),
        ("VAM-3", "1921 VAM-3A", DIFFERS),
        ("VAM-3", "1921", SILENT),
        ("doubled die", "1955 Doubled Die", MATCHES),
        ("doubled die", "1955 no doubled die", DIFFERS),
        ("VDB", "1909-S V.D.B.", MATCHES),
    ],
)
def test_a_variety_is_compared_with_its_number(variety: str, title: str, expected: str) -> None:
    assert verdict(coin(variety=variety), title, "variety") == expected


@pytest.mark.parametrize(
    "words",
    [
        "not cleaned",
        "never cleaned",
        "uncleaned",
        "non-cleaned",
        "no scratches",
        "no rim dings or scratches",
        "never cleaned, polished or altered",
        "not cleaned or polished",
        "without scratches",
        "w/o scratches",
        "scratch-free",
        "free of scratches",
        "free from any scratches",
        "completely free of dents, dings or scratches",
        "devoid of scratches",
        "clear of scratches",
        "scratch and dent free",
        "dent/scratch-free",
        "no hairline scratches",
        "no wear, chips or scratches",
        "no signs of wear or scratches",
        "without dents, scratches or dings",
        "scratches: none",
        "scratches: no, toning: no",
        "frei von Kratzern",
        "Kratzer: keine",
        "exempte de rayures",
        "libre de arañazos",
        "has never been harshly cleaned",
        "no visible signs of damage",
        "nicht gereinigt",
        "keine Kratzer",
        "non nettoyée",
        "sans rayures",
        "jamais nettoyée",
        "no limpiada",
        "wholesome",  # "hole" is inside of it
        "bentley",  # and "bent" of this
    ],
)
def test_what_is_denied_is_not_said(words: str) -> None:
    found = judged(MORGAN, f"1921-D Morgan Dollar {words}")
    assert (found.counts, found.reason) == (True, None)


@pytest.mark.parametrize(
    ("words", "quote"),
    [
        ("cleaned", "cleaned"),
        ("Cleaned", "Cleaned"),
        ("No box. Cleaned", "Cleaned"),
        ("no box, cleaned", "cleaned"),
        ("not sure if cleaned", "cleaned"),
        ("no reserve cleaned", "cleaned"),
        ("lightly polished", "polished"),
        ("not free of scratches", "scratches"),
        ("isn't entirely free of scratches", "scratches"),
        ("not scratch-free", "scratch"),
        ("mostly free of scratches", "scratches"),
        ("nicht frei von Kratzern", "Kratzern"),
        ("free of charge, scratches", "scratches"),
        ("free shipping scratches", "scratches"),
        ("scratches free shipping", "scratches"),
        ("problem-free of course scratched", "scratched"),
        ("free of dents. Scratched", "Scratched"),
        ("free of dents - scratched", "scratched"),
        ("no dents, scratched", "scratched"),
        ("no box, cracks or scratches", "scratches"),
        ("scratches - no box", "scratches"),
        ("scratches: no box", "scratches"),
        ("lots of scratches", "scratches"),
        ("not toned but scratched", "scratched"),
        ("holed", "holed"),
        ("rim ding", "rim ding"),
        ("ex-jewelry", "ex-jewelry"),
        ("environmental damage", "environmental damage"),
        ("gereinigt", "gereinigt"),
        ("nettoyée", "nettoyée"),
    ],
)
def test_a_coin_with_a_fault_does_not_count_for_one_without(words: str, quote: str) -> None:
    found = judged(MORGAN, f"1921-D Morgan Dollar {words}")
    assert not found.counts
    assert found.reason == f"it says {quote!r}; that is not said of the item"


def test_a_fault_that_is_said_of_the_item_matches_and_its_denial_differs() -> None:
    cleaned = coin(mintmark="D", series="Morgan", cleaned="yes")
    assert judged(cleaned, "1921-D Morgan Dollar cleaned").counts
    assert verdict(cleaned, "1921-D Morgan Dollar cleaned", "cleaned") == MATCHES
    denied = judged(cleaned, "1921-D Morgan Dollar not cleaned")
    assert (denied.counts, signal(denied, "cleaned").verdict) == (False, DIFFERS)
    silent = judged(cleaned, "1921-D Morgan Dollar")
    assert silent.counts
    assert silent.strength < 1_000


def test_toning_is_no_fault() -> None:
    assert judged(MORGAN, "1921-D Morgan Dollar rainbow toned").counts
    toned = coin(mintmark="D", series="Morgan", toning="yes")
    assert verdict(toned, "1921-D Morgan Dollar toned", "toning") == MATCHES


@pytest.mark.parametrize(
    ("aspects", "counts"),
    [
        ({"Cleaned": "No"}, True),
        ({"Cleaned": "Yes"}, False),
        ({"Replica": "no"}, True),
        ({"Condition": "Damaged"}, False),
    ],
)
def test_what_the_source_says_by_name_counts_like_the_title(aspects: dict[str, str], counts: bool) -> None:
    assert judged(MORGAN, aspects=aspects).counts is counts


def test_a_named_field_contradicts_the_title() -> None:
    found = judged(MORGAN, aspects={"Year": "1922"})
    assert (found.strength, found.counts) == (0, False)
    assert found.reason == "it says '1922'; the item's year is 1921"
    said = {"Year": "1921", "Mint Location": "Denver", "Denomination": "$1", "Coin": "Morgan Dollars"}
    assert judged(MORGAN, "Nice old silver coin", aspects=said).strength == 1_000


@pytest.mark.parametrize(
    "title",
    [
        "1921-D Morgan Dollar replica",
        "COPY 1921-D Morgan Dollar",
        "1921-D Morgan Dollar REPRODUCTION",
        "1921-D Morgan Dollar tribute",
        "1921-D Morgan Dollar gold plated",
        "1921-D Morgan Dollar Kopie",
        "1921-D Morgan Dollar pendant",
        "1921-D Morgan Dollar belt buckle",
        "Souvenir token 1921-D Morgan Dollar",
        "Album for 1921-D Morgan Dollar",
        "1921-D Morgan Dollar box only",
        "1921-D Morgan Dollar coin ring",
    ],
)
def test_what_looks_like_a_coin_does_not_count(title: str) -> None:
    found = judged(MORGAN, title)
    assert not found.counts
    assert found.reason is not None
    assert found.reason.startswith("it is not the thing itself")


@pytest.mark.parametrize(
    "title",
    [
        "1921-D Morgan Dollar, not a copy",
        "1921-D Morgan Dollar - no replica!",
        "1921-D Morgan Dollar guaranteed not fake",
        "Authentic 1921-D Morgan Dollar, no reproduction or copy",
        "1921-D Morgan Dollar copyright photo",
        "1921-D Morgan Dollar keine Kopie",
        "1921-D Morgan Dollar from an old album",
        "1921-D Morgan Dollar ring of toning",
    ],
)
def test_a_coin_that_says_it_is_no_copy_counts(title: str) -> None:
    assert judged(MORGAN, title).counts


def test_a_copy_counts_where_a_copy_is_wanted() -> None:
    wanted = item("coin", name="1804 dollar copy", denomination="dollar", year="1804")
    assert judged(wanted, "1804 dollar copy").counts
