"""From bytes to characters: which encoding a page is written in, when it may say so in four places and lie in
each.

The order is that of the WHATWG (a byte-order mark, the header, `<meta>`, the XML declaration) with two
corrections that the real web asks for: bytes that are valid UTF-8 beyond ASCII are UTF-8 whatever a
single-byte label says, and a label that turns more than a few characters into rubbish is not believed. Only
labels of the WHATWG list are obeyed, so that no header can pick an exotic codec of Python's. Nothing here
raises: the worst page still becomes some text.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

from charset_normalizer import from_bytes

from thresher.reading.html.charset_guess import guess_charset, is_iso2022_jp

HEAD = 16_384  # how far into a page its own declaration is looked for
SAMPLE = 16_384  # how much of the undeclared remainder is weighed

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_HEADER = re.compile(r"charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([\w:.+-]{2,40})", re.IGNORECASE)
_META = re.compile(rb"<meta\s[^>]{0,400}?charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([\w:.+-]{2,40})", re.IGNORECASE)
_XML = re.compile(
    rb"^\s{0,99}<\?xml\s[^>]{0,200}?encoding\s{0,9}=\s{0,9}[\"']([\w:.+-]{2,40})", re.IGNORECASE
)

# The label families of the WHATWG, each under the codec of Python's that decodes what the web means by it.
_FAMILIES = {
    "utf-8": "utf8 utf-8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8",
    "cp1252": "iso-8859-1 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 iso-ir-100 latin1 latin-1 l1 cp819 ibm819 csisolatin1 "
    "ascii us-ascii ansi_x3.4-1968 windows-1252 cp1252 x-cp1252 iso-8859-1-windows-3.1-latin-1",
    "cp1250": "windows-1250 cp1250 x-cp1250",
    "cp1251": "windows-1251 cp1251 x-cp1251 win-1251",
    "cp1253": "windows-1253 cp1253 x-cp1253",
    "cp1254": "windows-1254 cp1254 x-cp1254 iso-8859-9 iso8859-9 iso88599 iso_8859-9 latin5 l5 csisolatin5 iso-ir-148",
    "cp1255": "windows-1255 cp1255 x-cp1255",
    "cp1256": "windows-1256 cp1256 x-cp1256",
    "cp1257": "windows-1257 cp1257 x-cp1257",
    "cp1258": "windows-1258 cp1258 x-cp1258",
    "cp874": "windows-874 cp874 tis-620 iso-8859-11 iso8859-11 iso885911 dos-874",
    "cp866": "ibm866 cp866 866 csibm866",
    "iso8859-2": "iso-8859-2 iso8859-2 iso88592 iso_8859-2 latin2 l2 csisolatin2 iso-ir-101",
    "iso8859-3": "iso-8859-3 iso8859-3 iso88593 iso_8859-3 latin3 l3 csisolatin3",
    "iso8859-4": "iso-8859-4 iso8859-4 iso88594 iso_8859-4 latin4 l4 csisolatin4",
    "iso8859-5": "iso-8859-5 iso8859-5 iso88595 iso_8859-5 cyrillic csisolatincyrillic",
    "iso8859-6": "iso-8859-6 iso8859-6 iso88596 iso_8859-6 arabic csisolatinarabic asmo-708 ecma-114",
    "iso8859-7": "iso-8859-7 iso8859-7 iso88597 iso_8859-7 greek greek8 csisolatingreek elot_928 ecma-118",
    "iso8859-8": "iso-8859-8 iso-8859-8-i iso8859-8 iso88598 iso_8859-8 hebrew csisolatinhebrew visual logical",
    "iso8859-10": "iso-8859-10 iso8859-10 iso885910 latin6 l6 csisolatin6",
    "iso8859-13": "iso-8859-13 iso8859-13 iso885913",
    "iso8859-14": "iso-8859-14 iso8859-14 iso885914",
    "iso8859-15": "iso-8859-15 iso8859-15 iso885915 iso_8859-15 latin9 l9 csisolatin9",
    "iso8859-16": "iso-8859-16",
    "koi8-r": "koi8-r koi koi8 koi8_r cskoi8r",
    "koi8-u": "koi8-u koi8-ru",
    "mac-roman": "macintosh mac x-mac-roman csmacintosh",
    "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "gb18030": "gb18030 gbk gb2312 gb_2312 gb_2312-80 chinese csgb2312 csiso58gb231280 iso-ir-58 x-gbk cp936",
    "big5hkscs": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc_jp": "euc-jp x-euc-jp cseucpkdfmtjapanese",
    "cp932": "shift_jis shift-jis sjis ms932 ms_kanji windows-31j x-sjis csshiftjis cp932",
    "iso2022_jp": "iso-2022-jp csiso2022jp",
    "cp949": "euc-kr euckr korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949 cseuckr iso-ir-149 cp949",
    "utf-16-le": "utf-16 utf-16le utf-16-le unicode ucs-2 csunicode iso-10646-ucs-2",
    "utf-16-be": "utf-16be utf-16-be unicodefffe",
}
_CODECS = {label: codec for codec, labels in _FAMILIES.items() for label in labels.split()}
# Encodings that valid UTF-8 does not disprove: a short text of two-byte characters may be valid in both.
_MULTIBYTE = frozenset({"gb18030", "big5hkscs", "euc_jp", "cp932", "iso2022_jp", "cp949"})
_WIDE = frozenset({"utf-16-le", "utf-16-be"})


@dataclass(frozen=True, slots=True)
class Decoded:
    """`charset` is the codec that was used and `by` what named it: bom, header, meta, xml, valid, guess or
    default.
    """

    text: str
    charset: str
    by: str


def codec_for(label: str) -> str | None:
    """The codec that the web means by a label (`iso-8859-1` means windows-1252), or None where it means
    nothing.
    """
    return _CODECS.get(label.strip().lower())


def decode(body: bytes, content_type: str = "") -> Decoded:
    """The text of a body. `content_type` is the whole header, parameters included."""
    for mark, charset in _BOMS:
        if body.startswith(mark):
            return Decoded(body[len(mark) :].decode(charset, "replace"), charset, "bom")
    declared = tuple(_declared(body, content_type))
    if not declared and is_iso2022_jp(body) and (text := _strictly(body, "iso2022_jp")) is not None:
        return Decoded(text, "iso2022_jp", "guess")
    valid = _strictly(body, "utf-8")
    if valid is not None:
        return _of_valid(body, valid, declared)
    for charset, by in declared:
        text = body.decode(charset, "replace")
        if _believable(text):
            return Decoded(text, charset, by)
    return _guessed(body)


def _declared(body: bytes, content_type: str) -> Iterator[tuple[str, str]]:
    """What the page is said to be, most trusted first."""
    head = body[:HEAD]
    header = _HEADER.search(content_type[:500])
    if header and (charset := codec_for(header[1])):
        yield charset, "header"
    for pattern, by in ((_META, "meta"), (_XML, "xml")):
        found = pattern.search(head)
        charset = codec_for(found[1].decode("ascii", "replace")) if found else None
        if charset:  # A declaration that could be read as ASCII is not in UTF-16, whatever it says.
            yield ("utf-8" if charset in _WIDE else charset), by


def _of_valid(body: bytes, valid: str, declared: tuple[tuple[str, str], ...]) -> Decoded:
    """A body that is valid UTF-8: only an encoding that may share those bytes can take it away."""
    for charset, by in declared:
        if charset == "utf-8":
            return Decoded(valid, charset, by)
        if (charset in _MULTIBYTE) or (charset in _WIDE and b"\0" in body[:HEAD]):
            text = body.decode(charset, "replace")
            if _believable(text):
                return Decoded(text, charset, by)
    return Decoded(valid, "utf-8", "valid")


def _strictly(body: bytes, charset: str) -> str | None:
    try:
        return body.decode(charset)
    except UnicodeDecodeError:
        return None


def _believable(text: str) -> bool:
    """Few characters that could not be read, measured against those that were hard to read: ASCII proves
    nothing.
    """
    lost = text.count("\ufffd")
    if lost == 0:
        return True
    beyond = len(text) - len(text.encode("ascii", "ignore"))
    return lost * 10 <= beyond


def _by_statistics(sample: bytes) -> str | None:
    best = from_bytes(sample).best()
    return codec_for(best.encoding.replace("_", "-")) or codec_for(best.encoding) if best else None


def _guessed(body: bytes) -> Decoded:
    """Undeclared, or declared wrongly: weigh a bounded sample that starts where the page leaves ASCII."""
    lenient = body.decode("utf-8", "replace")
    if _believable(lenient):  # UTF-8 with a scratch: cut off in the middle, or one stray byte
        return Decoded(lenient, "utf-8", "guess")
    first = next(
        (start for start in range(0, len(body), 1024) if not body[start : start + 1024].isascii()), 0
    )
    sample = body[first : first + SAMPLE]
    charset = guess_charset(sample) or _by_statistics(sample)
    if charset:
        return Decoded(body.decode(charset, "replace"), charset, "guess")
    return Decoded(body.decode("cp1252", "replace"), "cp1252", "default")
