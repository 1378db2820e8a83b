"""The encoding of bytes that nobody declared, by what they say in each: a pure function over a sample.

Bytes can be read in many encodings; only in the right one do they read as a language. Each candidate reads
the sample, and its characters are weighed: the common letters of its languages count for it, signs, rare
letters and capitals inside of words against it.
"""

from dataclasses import dataclass
from itertools import pairwise

MIN_WEIGHT = 0.35  # of a character on average: below it the bytes read as nothing
MAX_LOST = 0.02  # share of characters that cannot be read

_CYRILLIC = "оеаинтсрвлкмдпуяьі"
_LATIN_WEST = "éèêàâçäöüßñáíóúãåæøëïôùîœ"
_SELDOM_WEST = "õû"  # in Hungarian bytes they stand where ő and ű do
_SELDOM_CYRILLIC = "ыгзбчйхжшюцщэфъёїєґ"
_LATIN_MIDDLE = "ąćęłńóśźżáčďéěíňřšťúůýžőűöüäôăâî"
_SELDOM_MIDDLE = "şţđ"
_TURKISH = "ığşçöüâİ"
_BALTIC = "āčēģīķļņšūžąęėįųõäöü"
_GREEK = "αοιεητσνυκπρλμωθγδχφβξζψάέίόύήώς"
_HEBREW = "אבגדהוזחטיכלמנסעפצקרשתםןץףך"
_ARABIC = "ابتثجحخدذرزسشصضطظعغفقكلمنهويةىءأإآؤئپچژگ،؛؟"
_THAI = "กขคฆงจฉชซญฎฏฐณดตถทธนบปผฝพฟภมยรลวศษสหฬอฮะัาำิีึืุูเแโใไ็่้๊๋์ๆ"
_KANA = "".join(map(chr, (*range(0x3041, 0x3097), *range(0x30A1, 0x30FB)))) + "ー、。・「」（）！？～：，"
_HAN = (
    "的一是不了在人有我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可里后小么心多天而能好都然没日于起还发成事"
    "只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长知民样现分将外但身些与高意进把法此实回二理美点月明其种声全工己话儿者向"
    "情部正名定女问力机给等几很业最间新什打便位因重被走电四第门相次东政海口使教西再平真听世气信北少关并内加化由却代军产入先山五太水万市"
    "职位公司经验要求负责工作招聘年薪资分析数据师员管理开发技术项目服务以上学历专业能力团队沟通项目，。、；：！？（）《》“”五险金周末双休"
    "的個們這來國說時會過對後麼沒還發經頭長動樣現進實點聲話兒向問機給業間電門東關並內產軍萬職責驗資專員師數據開發術務歷團隊與為學無見從"
    "東京都区県市町駅時給円仕事内容勤務応募資格正社員経験者募集歓迎未週土祝休日名前後以上支給交通費警備清掃管理業務電話検索求人情報株式会社"
)
_HANGUL = (
    "이다는의가을에를고로하지사자기시인한서도은어리대정해나그아수보일부주상전구원제경무조성신장동과있라적게년직회업무모집채용담당및관리력설계"
    "서울강남구경기도시급월연봉근무지원마감합니다입력정규계약학졸우대"
)


@dataclass(frozen=True, slots=True)
class _Candidate:
    codec: str
    letters: frozenset[str]
    seldom: frozenset[str] = frozenset()
    others: tuple[tuple[int, int], ...] = ()  # ranges of characters that may stand in a text, though seldom

    def weight(self, char: str) -> float:
        small = char.lower()
        if small in self.letters or char in self.letters:
            return 1.0
        if small in self.seldom:
            return 0.7
        if any(low <= ord(char) <= high for low, high in self.others):
            return 0.25
        return 0.2 if char in _SIGNS else -1.0


_SIGNS = frozenset("\u00a0«»–—“”„’‘…·•©®€£°²³№™☆★●○■□◆▼▲※→【】『』〜￥％＆／－　")
_ENDS = frozenset("םןץףךς")
_UNSPACED = "\u2e80"  # from here on scripts mix with Latin letters in one word
_HAN_RANGE, _HANGUL_RANGE, _WIDE = (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xFF01, 0xFF5E)
_CYRILLIC_RANGE, _LATIN_RANGE = (0x0400, 0x04FF), (0x00C0, 0x00FF)


def _read_as(
    codec: str, letters: str, seldom: str = "", others: tuple[tuple[int, int], ...] = ()
) -> _Candidate:
    return _Candidate(codec, frozenset(letters), frozenset(seldom), others)


# In the order in which a tie is decided.
_CANDIDATES = (
    _read_as("cp1252", _LATIN_WEST, _SELDOM_WEST, (_LATIN_RANGE,)),
    _read_as("cp1251", _CYRILLIC, _SELDOM_CYRILLIC, (_CYRILLIC_RANGE,)),
    _read_as("gb18030", _HAN, "", (_HAN_RANGE, _WIDE)),
    _read_as("cp932", _KANA + _HAN, "", (_HAN_RANGE, _WIDE)),
    _read_as("euc_jp", _KANA + _HAN, "", (_HAN_RANGE, _WIDE)),
    _read_as("big5hkscs", _HAN, "", (_HAN_RANGE, _WIDE)),
    _read_as("cp949", _HANGUL, "", (_HANGUL_RANGE, _WIDE)),
    _read_as("cp1250", _LATIN_MIDDLE, _SELDOM_MIDDLE),
    _read_as("iso8859-2", _LATIN_MIDDLE, _SELDOM_MIDDLE),
    _read_as("koi8-r", _CYRILLIC, _SELDOM_CYRILLIC, (_CYRILLIC_RANGE,)),
    _read_as("koi8-u", _CYRILLIC, _SELDOM_CYRILLIC, (_CYRILLIC_RANGE,)),
    _read_as("iso8859-5", _CYRILLIC, _SELDOM_CYRILLIC, (_CYRILLIC_RANGE,)),
    _read_as("cp866", _CYRILLIC, _SELDOM_CYRILLIC, (_CYRILLIC_RANGE,)),
    _read_as("cp1254", _TURKISH),
    _read_as("cp1253", _GREEK, "", ((0x0370, 0x03FF),)),
    _read_as("iso8859-7", _GREEK, "", ((0x0370, 0x03FF),)),
    _read_as("cp1255", _HEBREW, "", ((0x0590, 0x05FF),)),
    _read_as("cp1256", _ARABIC, "", ((0x0600, 0x06FF),)),
    _read_as("cp874", _THAI, "", ((0x0E00, 0x0E7F),)),
    _read_as("cp1257", _BALTIC),
)


def guess_charset(sample: bytes) -> str | None:
    """The codec in which a sample reads as a language; None where it does in none."""
    weighed = [
        (weight, -at, each.codec) for at, each in enumerate(_CANDIDATES) if (weight := _weigh(each, sample))
    ]
    best = max(weighed, default=None)
    return best[2] if best is not None and best[0] >= MIN_WEIGHT else None


def is_iso2022_jp(body: bytes) -> bool:
    """Whether plain bytes switch to Japanese and back again, as only this encoding does."""
    return (b"\x1b$B" in body or b"\x1b$@" in body) and (b"\x1b(B" in body or b"\x1b(J" in body)


def _weigh(candidate: _Candidate, sample: bytes) -> float:
    text = sample.decode(candidate.codec, "replace")
    beyond = [char for char in text if char > "\x7f"]
    if not beyond or beyond.count("\ufffd") > 1 + MAX_LOST * len(beyond):
        return 0.0
    total = sum(map(candidate.weight, beyond)) - sum(map(_misplaced, pairwise(text)))
    return total / len(beyond)


def _misplaced(pair: tuple[str, str]) -> float:
    """What two neighbours say against a reading: a capital behind a small letter, two alphabets in one word,
    a letter that only ends words inside of one. Bytes of another encoding fall at random.
    """
    before, after = pair
    if before < "\x80" and after < "\x80":
        return 0.0
    if after > "\x7f" and after.isupper() and before.islower():
        return 1.0
    if before in _ENDS and after.isalpha():
        return 1.0
    latin = (before < "\u0250") != (after < "\u0250")
    return 1.0 if latin and before.isalpha() and after.isalpha() and max(pair) < _UNSPACED else 0.0
