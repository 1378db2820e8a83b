"""Whether a line without a label is a place and nothing else."""

from time import process_time

import pytest

from thresher.reading.values.places import is_place


@pytest.mark.parametrize(
    "text",
    [
        "Berlin",
        "Leeds, UK",
        "Leeds, United Kingdom",
        "Berlin, Germany",
        "Berlin (hybrid)",
        "Remote",
        "Remote - Germany",
        "Redwood Shores, CA 94065",
        "New Brunswick NJ",
        "US-GA-Atlanta",
        "10115 Berlin",
        "München",
        "Kraków",
        "Lyon, France / Paris, France",
        "Greater London",
        "Reading, UK",
        "Bratislava, Bratislava, Slovakia",
    ],
)
def test_a_place_is_known(text: str):
    assert is_place(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "Reading",
        "Nice",
        "Mobile",
        "Full-time",
        "Hybrid",
        "IT",
        "HR",
        "berlin",
        "Engineering",
        "Sales, Marketing",
        "Senior Engineer",
        "3200 El Camino Real",
        "Security verification",
        "Job details",
        "Apply now",
        "Berlin is where you work",
        "12",
        "Acme Ladders Ltd",
    ],
)
def test_what_may_be_something_else_is_no_place(text: str):
    assert not is_place(text)


@pytest.mark.promise(18)
def test_a_text_of_nothing_but_commas_is_judged_at_once():
    started = process_time()
    assert not is_place("Berlin," * 1_000_000)
    assert not is_place(" - " * 26)
    assert process_time() - started < 1
