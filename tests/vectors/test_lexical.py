import subprocess
import sys

import pytest

from thresher.vectors.lexical import Lexical
from thresher.vectors.matrix import cosine

lexical = Lexical()


def near(one: str, other: str) -> float:
    return cosine(*lexical.embed([one, other]))


def test_spellings_of_one_title_are_near_and_other_titles_are_not():
    assert near("Registered Nurse", "registered nurses") > 0.75
    assert near("Développeur", "developpeur") == pytest.approx(1)
    assert near("Front-End Developer", "front end developer!") == pytest.approx(1)
    assert abs(near("Nurse", "Plumber")) < 0.2


def test_it_says_that_meaning_does_not_count():
    assert lexical.meaning is False
    assert "letters" in lexical.sentence
    assert near("Physician", "Doctor") < 0.3


def test_the_vectors_are_the_same_in_every_process():
    code = "from thresher.vectors.lexical import Lexical; print(Lexical().embed(['Senior Nurse']).numbers.tobytes().hex())"
    here = lexical.embed(["Senior Nurse"]).numbers.tobytes().hex()
    for seed in ("1", "2"):
        ran = subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert ran.stdout.strip() == here


@pytest.mark.promise(18)
@pytest.mark.parametrize(
    "text",
    [
        "",
        "\ud800",
        "x" * 1_000_000,
        "word " * 200_000,
        "👩‍💻" * 200_000,
        "مهندس",
        "a\u0301\u0327" * 300_000,
        "…!?",
    ],
)
def test_a_hostile_text_gets_a_vector_of_length_one_or_none_at_all(text: str):
    (vector,) = lexical.embed([text])
    assert len(vector) == lexical.dims
    assert round(cosine(vector, vector), 5) in {0.0, 1.0}


def test_a_text_without_a_letter_is_near_nothing():
    assert near("", "Nurse") == near("—", "—") == 0
    assert len(lexical.embed([])) == 0
