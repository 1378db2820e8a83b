"""Which posting is which, while addresses and numbers change under it."""

import pytest

from tests.apps.jobs.looking import answer, scraping
from tests.apps.jobs.scraping import Scraping
from tests.harness.databases import only_files
from thresher.practice.web import Knob, Trouble

__all__ = ["scraping"]


@only_files
def test_rows_that_share_one_address_are_all_judged(scraping: Scraping):
    key = scraping.add("acme")
    rows = [
        {"id": each, "title": f"Smith {each}", "absolute_url": "https://acme.example/careers"}
        for each in range(5)
    ]
    scraping.look(key, day=0, knobs=(answer(rows),))
    assert len(scraping.jobs()) == 5


# --- addresses


def smiths(*urls: str) -> Knob:
    return answer(
        [
            {"id": at, "title": f"Smith {at}", "absolute_url": url, "content": "Forge. " * 40}
            for at, url in enumerate(urls)
        ]
    )


@only_files
@pytest.mark.promise(2)
def test_a_new_address_of_a_known_posting_is_written_and_judged_with_once(scraping: Scraping):
    key = scraping.add("acme")
    at = "https://acme.example/jobs"
    scraping.look(key, day=0, knobs=(smiths(f"{at}/a", f"{at}/b", f"{at}/c"),))
    scraping.look(key, knobs=(smiths(f"{at}/a", f"{at}/b-again", f"{at}/c?utm_source=feed"),))
    found = {each.key.rpartition("/")[2]: each.data for each in scraping.postings(key)}
    assert {name: data["url"] for name, data in found.items()} == {
        "0": f"{at}/a",
        "1": f"{at}/b-again",
        "2": f"{at}/c",
    }
    assert {data["revision"] for data in found.values()} == {0}
    assert [each.rpartition("/")[2] for each in scraping.jobs()] == ["0", "1", "2", "1"]
    scraping.look(key, knobs=(smiths(f"{at}/a", f"{at}/b-again", f"{at}/c?utm_source=mail"),))
    assert (len(scraping.jobs()), scraping.last_look(key)["moved"]) == (4, 0)


@only_files
@pytest.mark.promise(7)
def test_a_posting_that_is_back_after_one_missed_look_has_the_address_it_has_now(scraping: Scraping):
    key = scraping.add("acme")
    rows = [
        {"id": each, "title": f"Smith {each}", "absolute_url": f"https://acme.example/{each}"}
        for each in range(3)
    ]
    scraping.look(key, day=0, knobs=(answer(rows),))
    scraping.look(key, knobs=(answer(rows[1:]),))
    scraping.look(
        key, knobs=(answer([{**rows[0], "absolute_url": "https://acme.example/new/0"}, *rows[1:]]),)
    )
    (back,) = [each.data for each in scraping.postings(key) if each.key.endswith("/0")]
    assert (back["url"], back["missed"], back["state"]) == ("https://acme.example/new/0", 0, "open")


@only_files
@pytest.mark.promise(7)
@pytest.mark.parametrize("where", ["?session={}", "/s{}"])
def test_addresses_that_are_new_with_every_answer_are_not_judged_every_day(scraping: Scraping, where: str):
    key = scraping.add("acme")
    for day in range(5):
        scraping.look(
            key,
            day=day,
            knobs=(smiths(*(f"https://acme.example/{each}{where.format(day)}" for each in "abcdef")),),
        )
    assert len(scraping.jobs()) <= 12
    assert len(scraping.postings(key, None)) == 6
    assert {each.data["revision"] for each in scraping.postings(key)} == {0}


def careers(*hrefs: str, titles: tuple[str, ...] = ()) -> Knob:
    named = titles or tuple(f"Lens Grinder {at}" for at in range(len(hrefs)))
    rows = "".join(
        f'<li class="opening"><h3><a href="{href}">{title}</a></h3><span class="location">Portland, OR</span></li>'
        for href, title in zip(hrefs, named, strict=True)
    )
    page = f"<html><head><title>Careers</title></head><body><h1>Open positions</h1><ul class='openings'>{rows}</ul></body></html>"
    return Knob(Trouble.BODY, "www.kestrel.example", "/careers", text=page)


SLUGS = tuple(f"/careers/{number}-lens-grinder-{place}" for place, number in enumerate(range(4711, 4717)))


@only_files
@pytest.mark.promise(9)
def test_an_edit_that_changes_the_words_of_an_address_is_no_second_posting(scraping: Scraping):
    key = scraping.add("kestrel", url="https://www.kestrel.example/careers", platform="site")
    scraping.look(key, day=0, knobs=(careers(*SLUGS),))
    first = {each.key for each in scraping.postings(key)}
    assert len(first) == 6
    renamed = ("/careers/4711-head-lens-grinder", *SLUGS[1:])
    titles = ("Head Lens Grinder", *(f"Lens Grinder {at}" for at in range(1, 6)))
    for _ in range(3):
        scraping.look(key, knobs=(careers(*renamed, titles=titles),))
    assert {each.key for each in scraping.postings(key, None)} == first
    (edited,) = [each.data for each in scraping.postings(key) if each.data["title"] == "Head Lens Grinder"]
    assert (edited["url"], edited["revision"]) == (
        "https://www.kestrel.example/careers/4711-head-lens-grinder",
        1,
    )
    assert len(scraping.jobs()) == 7


@only_files
@pytest.mark.promise(7)
def test_a_posting_that_goes_while_another_comes_is_not_the_other(scraping: Scraping):
    key = scraping.add("kestrel", url="https://www.kestrel.example/careers", platform="site")
    scraping.look(key, day=0, knobs=(careers(*SLUGS),))
    scraping.look(key, knobs=(careers("/careers/4790-lens-grinder-0", *SLUGS[1:]),))
    assert len(scraping.postings(key, None)) == 7
