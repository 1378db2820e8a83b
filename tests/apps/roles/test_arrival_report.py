"""How a look ended, by what the scraper says and what it has to show: nothing found is never taken for
nothing there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.apps.roles.report import SAID, Report, conclude, read_report, says_nothing
from thresher.apps.roles.turns import Verdict
from thresher.core.errors import InvalidPayload

NAMES = ("dice", "indeed", "monster")


@pytest.mark.promise(7)
@given(
    st.sampled_from([None, *SAID]),
    st.dictionaries(st.sampled_from(NAMES), st.sampled_from(SAID)),
    st.sampled_from([None, *NAMES]),
    st.booleans(),
    st.sets(st.sampled_from(NAMES)),
    st.dictionaries(st.sampled_from(NAMES), st.integers(0, 3)),
)
def test_only_postings_or_an_explicit_empty_end_a_look(
    verdict, verdicts, platform, complete, held, seen
) -> None:  # type: ignore[no-untyped-def]
    report = Report("s", platform, complete, verdict, verdicts)
    try:
        found = conclude(report, NAMES, held, seen)
    except InvalidPayload:
        return
    for name, each in found.verdicts.items():
        assert each is not Verdict.FOUND or seen.get(name)
        assert each is not Verdict.EMPTY or not seen.get(name)
        told = platform == name or len(held) < 2
        assert (
            each is not Verdict.EMPTY
            or verdicts.get(name) is Verdict.EMPTY
            or (verdict is Verdict.EMPTY and told)
        )
    assert (found.verdict is None) is not complete
    if complete:
        assert set(found.verdicts) == held
        assert found.verdict is not Verdict.FOUND or sum(seen.values())


def test_without_platforms_the_session_is_one_look() -> None:
    assert conclude(Report("s"), (), [""], {"dice": 2}).verdicts == {"": Verdict.FOUND}
    assert conclude(Report("s"), (), [""], {}).verdicts == {"": Verdict.UNKNOWN}
    assert conclude(Report("s", verdict=Verdict.BLOCKED), (), [""], {"dice": 2}).verdicts == {
        "": Verdict.BLOCKED
    }
    assert conclude(Report("s", verdict=Verdict.EMPTY), (), [""], {}).verdict is Verdict.EMPTY


@pytest.mark.parametrize(
    "says",
    [
        "No jobs found",
        "0 results",
        "We couldn't find any jobs matching your search",
        "No python developer jobs found in Boston",
        'Sorry, we have no jobs for "Welder" in Kansas',
        "Unfortunately, there are no matching vacancies.",
        "Your search did not match any jobs",
        "Showing 0 of 0",
        "Keine Ergebnisse",
        "Leider wurden keine passenden Stellenangebote gefunden",
        "Aucune offre ne correspond à votre recherche",
        "0 offre",
        "No se han encontrado ofertas",
        "Non ci sono risultati",
        "Não foram encontrados resultados",
        "Geen vacatures gevonden",
        "Brak ofert pracy",
        "Inga jobb hittades",
        "Ei hakutuloksia",
        "Δεν βρέθηκαν αποτελέσματα",
        "Вакансий не найдено",
        "検索結果がありません",
        "没有找到相关职位",
    ],
)
def test_a_page_that_says_there_is_nothing_is_understood(says: str) -> None:
    assert says_nothing(says)


@pytest.mark.parametrize(
    "says",
    [
        "",
        "Welcome",
        "25 jobs found",
        "No more than 25 jobs found",
        "Please log in",
        "No experience required",
        "Loading…",
        "<h1>",
        "no",
        "x" * 5_000,
    ],
)
def test_a_page_that_says_something_else_proves_nothing(says: str) -> None:
    assert not says_nothing(says)


@pytest.mark.promise(7)
@pytest.mark.parametrize(
    ("proof", "told"),
    [
        (None, "an empty result needs a proof"),
        ({"url": "https://a.example"}, "proof: an empty result needs a proof"),
        ({"says": "No jobs found"}, "proof.url must be the address that was searched"),
        (
            {"url": "https://a.example", "says": "Welcome back"},
            "proof.says is 'Welcome back', which is not recognised",
        ),
        ({"url": "https://a.example", "says": 5}, "proof.says is no text"),
        (
            {"url": "https://a.example", "control": {"results": 0}},
            "proof.control must name a search that found",
        ),
    ],
)
def test_a_proof_that_proves_nothing_is_told_what_is_wrong_with_it(proof, told) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InvalidPayload) as refused:
        read_report({"session_id": "s", "verdict": "empty", "proof": proof})
    assert str(refused.value).startswith(told)


def test_of_several_proofs_the_one_that_is_wrong_is_named() -> None:
    proofs = {
        "dice": {"url": "https://a.example", "says": "0 jobs"},
        "indeed": {"url": "https://a.example", "says": "Hi"},
    }
    verdicts = dict.fromkeys(proofs, "empty")
    with pytest.raises(InvalidPayload, match=r"^proof\.indeed\.says is 'Hi'"):
        read_report({"session_id": "s", "verdicts": verdicts, "proof": proofs})
    one = {"session_id": "s", "verdicts": {"dice": "empty"}}
    assert read_report({**one, "proof": proofs}).verdicts == {"dice": Verdict.EMPTY}
    assert read_report({**one, "proof": proofs["dice"]}).verdicts == {"dice": Verdict.EMPTY}
