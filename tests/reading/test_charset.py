"""Charsets: four places to say it, each of which may lie."""

import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thresher.reading.html.charset import _FAMILIES, HEAD, codec_for, decode

GERMAN = "Grüße aus Köln, wo die Äpfel süß sind und der Käse 3 € kostet."
RUSSIAN = "Мы ищем опытного разработчика, который любит работать с данными. "


def test_every_codec_we_name_exists_and_every_label_has_one_meaning() -> None:
    for codec in _FAMILIES:
        codecs.lookup(codec)
    labels = " ".join(_FAMILIES.values()).split()
    assert len(labels) == len(set(labels))


@pytest.mark.parametrize("label", ["iso-8859-1", "ISO-8859-1", " latin1 ", "us-ascii", "windows-1252"])
def test_latin_1_means_windows_1252_on_the_web(label: str) -> None:
    assert codec_for(label) == "cp1252"
    assert decode("5 €".encode("cp1252"), f"text/html; charset={label}").text == "5 €"


@pytest.mark.parametrize(
    "label", ["utf-7", "rot13", "unicode_escape", "base64", "idna", "zip", "../x", "undefined", ""]
)
def test_a_codec_the_web_does_not_have_is_not_obeyed(label: str) -> None:
    assert codec_for(label) is None
    assert decode(b"+ADw-script+AD4-", f"text/html; charset={label}").text == "+ADw-script+AD4-"


def test_a_byte_order_mark_beats_the_header() -> None:
    read = decode(codecs.BOM_UTF16_LE + GERMAN.encode("utf-16-le"), "text/html; charset=utf-8")
    assert (read.text, read.by) == (GERMAN, "bom")
    assert decode(codecs.BOM_UTF8 + GERMAN.encode(), "text/html; charset=latin1").text == GERMAN


def test_the_header_beats_the_page() -> None:
    read = decode(
        b'<meta charset="windows-1251">' + GERMAN.encode("cp1252"), "text/html; charset=windows-1252"
    )
    assert read.text.endswith(GERMAN)
    assert read.by == "header"


@pytest.mark.parametrize(
    "head",
    [
        '<meta charset="windows-1251">',
        "<META CHARSET=windows-1251>",
        '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">',
        '<?xml version="1.0" encoding="windows-1251"?>',
    ],
)
def test_the_page_may_say_it_itself(head: str) -> None:
    assert decode((head + RUSSIAN).encode("cp1251")).text == head + RUSSIAN


def test_a_declaration_too_far_down_is_not_looked_for() -> None:
    body = b" " * HEAD + b'<meta charset="windows-1251">' + "é".encode("cp1252")
    assert decode(body).by != "meta"


def test_valid_utf_8_is_utf_8_whatever_a_single_byte_label_says() -> None:
    assert decode(GERMAN.encode(), "text/html; charset=iso-8859-1").text == GERMAN


def test_a_two_byte_encoding_keeps_bytes_that_happen_to_be_valid_utf_8() -> None:
    assert decode("联通".encode("gbk"), "text/html; charset=gb2312").text == "联通"


def test_a_label_that_turns_the_text_into_rubbish_is_not_believed() -> None:
    read = decode(b'<meta charset="utf-8">' + (RUSSIAN * 20).encode("cp1251"))
    assert read.text.endswith(RUSSIAN * 20)
    assert read.by == "guess"


def test_one_broken_byte_does_not_cost_the_page_its_umlauts() -> None:
    read = decode((GERMAN * 5).encode() + b"\xff", "text/html; charset=utf-8")
    assert read.text == GERMAN * 5 + "\ufffd"


def test_a_page_cut_off_inside_a_character_is_still_utf_8() -> None:
    read = decode((GERMAN * 5 + "é").encode()[:-1])
    assert (read.charset, read.text.rstrip("\ufffd")) == ("utf-8", GERMAN * 5)


@pytest.mark.parametrize(
    ("text", "codec"), [(RUSSIAN, "cp1251"), ("日本語のテキストです。これは長い文章です。", "cp932")]
)
def test_what_nobody_declared_is_guessed_from_a_sample(text: str, codec: str) -> None:
    read = decode((text * 20).encode(codec))
    assert (read.text, read.by) == (text * 20, "guess")


@settings(deadline=None)
@given(st.binary(max_size=3000), st.text(max_size=60))
def test_any_bytes_become_some_text(body: bytes, content_type: str) -> None:
    read = decode(body, content_type)
    assert len(read.text) <= len(body)
    assert read == decode(body, content_type)


UNDECLARED = {
    "ja": (
        "cp932 euc_jp iso2022_jp",
        "警備員（東京都港区）の求人です。時給1,450円、週2日からOK。駐車場の警備と管理をお願いします。",
    ),
    "zh": ("gb18030", "数据分析专员，负责数据的收集、整理和分析。五险一金，周末双休。"),
    "zh-tw": ("big5hkscs", "資料分析專員，負責資料的收集、整理與分析。週休二日，勞健保。"),
    "ko": ("cp949", "로봇제어 경력직 채용, 서울 강남구, 전기설계 업무를 담당할 인재를 모집합니다."),
    "ru": (
        "cp1251 koi8-r iso8859-5 cp866",
        "Инженер, Москва, опыт работы от трёх лет. Зарплата по результатам собеседования.",
    ),
    "uk": ("cp1251 koi8-u", "Інженер, Київ, досвід роботи від трьох років. Заробітна плата за результатами."),
    "pl": ("cp1250 iso8859-2", "Młodszy księgowy, Łódź, wymagana znajomość języka, własna działalność."),
    "cs": (
        "cp1250 iso8859-2",
        "Účetní, plný úvazek. Požadujeme znalost účetnictví, řidičský průkaz, čeština.",
    ),
    "hu": ("cp1250 iso8859-2", "Könyvelő, teljes munkaidő, erős angol tudás szükséges, gyűjtőszámla."),
    "el": ("cp1253 iso8859-7", "Λογιστής, πλήρης απασχόληση. Απαιτείται εμπειρία τριών ετών και γνώση."),
    "tr": ("cp1254", "Muhasebe uzmanı, İstanbul. Üç yıl deneyim gereklidir, şöyle değerlendirilir."),
    "he": ("cp1255", "מנהל חשבונות, משרה מלאה. נדרש ניסיון של שלוש שנים ואנגלית טובה."),
    "ar": ("cp1256", "محاسب، دوام كامل. مطلوب خبرة ثلاث سنوات ومعرفة جيدة باللغة"),
    "th": ("cp874", "พนักงานบัญชี งานเต็มเวลา ต้องการประสบการณ์สามปี และใช้ภาษาอังกฤษได้ดี"),
    "fr": ("cp1252", "Comptable expérimenté, déplacements fréquents à prévoir, où que vous soyez."),
    "de": ("cp1252", "Bürokaufmann für Köln, größere Städte möglich, Erfahrung nötig."),
    "pt": ("cp1252", "Gestão de soluções para exportações, não é necessária experiência."),
}


@pytest.mark.parametrize(
    ("language", "codec"),
    [(name, codec) for name, (codecs, _) in UNDECLARED.items() for codec in codecs.split()],
)
def test_an_encoding_that_nobody_declared_is_read_by_what_the_bytes_say(language: str, codec: str):
    html = f"<ul><li><a href='/job/1'>{UNDECLARED[language][1]}</a></li></ul>"
    assert decode(html.encode(codec)).text == html


def test_bytes_that_say_nothing_in_any_encoding_are_still_some_text():
    noise = bytes(range(128, 256)) * 3
    assert decode(b"<p>" + noise + b"</p>").text.startswith("<p>")
