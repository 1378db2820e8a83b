"""Languages: read from the letters, hinted at by the page, and left open where neither is clear."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thresher.reading.text.language import HINTED, UNKNOWN, language, primary

SENTENCES = {
    "en": "We are looking for a developer to join our team in London who likes to work with databases.",
    "de": "Wir suchen einen erfahrenen Entwickler für unser Team in Berlin, der gerne im Homeoffice arbeitet.",
    "fr": "Nous recherchons un développeur à Paris pour rejoindre une équipe de dix personnes.",
    "es": "Buscamos un desarrollador para nuestro equipo en Madrid con experiencia en bases de datos.",
    "pt": "Procuramos um programador para a nossa equipa em Lisboa com experiência em bases de dados.",
    "it": "Cerchiamo uno sviluppatore per il nostro team di Milano con esperienza di basi di dati.",
    "nl": "Wij zoeken een ontwikkelaar voor ons team in Amsterdam die graag met databases werkt.",
    "sv": "Vi söker en utvecklare till vårt team i Stockholm som gillar att arbeta med databaser.",
    "da": "Vi søger en udvikler til vores team i København, som kan lide at arbejde med databaser.",
    "no": "Vi søker en utvikler til vårt team i Oslo som liker å jobbe med databaser og mennesker.",
    "fi": "Etsimme kehittäjää tiimiimme Helsinkiin, joka pitää tietokantojen parissa työskentelystä.",
    "pl": "Szukamy programisty do naszego zespołu w Krakowie, który lubi pracować z bazami danych.",
    "cs": "Hledáme programátora do našeho týmu v Praze, který rád pracuje s databázemi.",
    "hu": "Fejlesztőt keresünk budapesti csapatunkba, aki szeret adatbázisokkal dolgozni.",
    "ro": "Căutăm un programator pentru echipa noastră din București, cu experiență în baze de date.",
    "tr": "Ekibimize İstanbul ofisinde çalışacak, veritabanı deneyimi olan bir yazılımcı arıyoruz.",
    "id": "Kami mencari pengembang perangkat lunak untuk bergabung dengan tim kami di Jakarta.",
    "vi": "Chúng tôi đang tìm kiếm lập trình viên cho nhóm của chúng tôi tại Hà Nội trong năm nay",
    "ru": "Мы ищем опытного разработчика в нашу команду в Москве, который любит работать с данными.",
    "uk": "Шукаємо розробника до нашої команди у Києві, який любить працювати з базами даних.",
    "bg": "Търсим опитен програмист за нашия екип в София, който обича да работи с данни.",
    "ar": "نبحث عن مطور برامج للانضمام إلى فريقنا في مدينة دبي مع خبرة في قواعد البيانات",
    "he": "אנחנו מחפשים מפתח",
    "el": "Ψάχνουμε προγραμματιστή",
    "zh": "我们正在招聘软件工程师，工作地点在上海。",
    "ja": "弊社ではエンジニアを募集しています",
    "ko": "개발자를 모집합니다",
    "th": "เรากำลังมองหานักพัฒนา",
}


@pytest.mark.parametrize("code", SENTENCES)
def test_a_sentence_tells_its_language(code: str) -> None:
    found = language(SENTENCES[code])
    assert found.code == code
    assert found.confidence >= 0.5


@pytest.mark.parametrize(
    "short",
    [
        "",
        "Apply now",
        "Senior Software Engineer",
        "12345 67890 !!! ???",
        "https://example.org/wir-suchen-dich-jetzt",
    ],
)
def test_a_short_text_says_nothing(short: str) -> None:
    assert language(short) == UNKNOWN


def test_a_hint_is_believed_a_little_where_the_text_is_short() -> None:
    assert language("Senior Software Engineer", "en-US").code == "en"
    assert language("Senior Software Engineer", "en-US").confidence == HINTED
    assert language("12345", "en") == UNKNOWN


def test_a_clear_text_beats_the_template_it_stands_in() -> None:
    assert language(SENTENCES["de"], hint="en").code == "de"


def test_a_hint_that_agrees_makes_sure() -> None:
    assert language(SENTENCES["da"], hint="da-DK").confidence >= 0.9


@pytest.mark.parametrize(
    ("tag", "code"),
    [
        ("de-AT", "de"),
        ("zh_Hans_CN", "zh"),
        ("NB", "no"),
        ("eng", "en"),
        ("x-klingon", None),
        ("", None),
        ("e" * 10_000, None),
    ],
)
def test_a_language_tag_is_reduced_to_its_language(tag: str, code: str | None) -> None:
    assert primary(tag) == code


@settings(deadline=None)
@given(st.text(max_size=2000), st.text(max_size=20))
def test_any_text_has_some_answer(text: str, hint: str) -> None:
    found = language(text, hint)
    assert 0 <= found.confidence <= 1
    assert (found.code is None) == (found == UNKNOWN)
