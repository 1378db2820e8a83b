"""Listing pages that nobody has seen: built from a seed, out of parts that real boards and shops are made of.

A page is a layout of its rows, a language, a way of naming classes and what stands around the list. All of
them are drawn independently, so that a rule which fits one combination only is found out.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from random import Random
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class Thing:
    title: str
    company: str
    place: str
    href: str
    date: str


@dataclass(frozen=True, slots=True)
class Tongue:
    """Words of one language. `encoding` is what such pages are written in where they do not say it."""

    code: str
    titles: tuple[str, ...]
    companies: tuple[str, ...]
    places: tuple[str, ...]
    dates: tuple[str, ...]
    heading: str
    apply: str
    menu: tuple[str, ...]
    next: str
    encoding: str = "utf-8"
    rtl: bool = False


ENGLISH = Tongue(
    "en",
    ("Warehouse Operative", "Senior Accountant", "Data Engineer (Python)", "Nurse, night shift", "Truck Driver",
     "Head of Legal", "Welder / Fabricator", "Junior UX Designer", "Kitchen Porter", "Site Manager - Rail",
     "Maths Teacher", "Payroll Clerk", "C++ Developer", "Store Manager", "Lab Technician II"),
    ("Harwood & Pike", "Bluefin Logistics", "Norton Care", "Quarry Bank", "Tidewater", "Osier Foods", "Kestrel Rail"),
    ("Leeds", "Bristol, UK", "Manchester", "Glasgow", "Austin, TX", "Toronto, ON", "Dublin", "Remote"),
    ("2 days ago", "12 March 2026", "Yesterday", "03/03/2026"),
    "Open jobs", "Apply now", ("Home", "About us", "For employers", "Advice", "Salaries", "Sign in"), "Next",
)  # fmt: skip
GERMAN = Tongue(
    "de",
    ("Lagermitarbeiter (m/w/d)", "Buchhalterin", "Softwareentwickler Java", "Pflegefachkraft", "Kraftfahrer CE",
     "Schweißer", "Koch in Teilzeit", "Bauleiter Tiefbau", "Lehrkraft Mathematik", "Verkäufer", "Ingenieur Elektrotechnik",
     "Hausmeister", "Assistenz der Geschäftsführung"),
    ("Brandt GmbH", "Lindner & Sohn", "Nordlicht AG", "Klinikum Süd", "Vogel Transporte", "Stadtwerke"),
    ("Berlin", "München", "Köln", "Hamburg", "Leipzig", "Stuttgart"),
    ("vor 2 Tagen", "12.03.2026", "gestern", "03.03.2026"),
    "Offene Stellen", "Jetzt bewerben", ("Start", "Über uns", "Für Arbeitgeber", "Ratgeber", "Anmelden"), "Weiter",
)  # fmt: skip
SPANISH = Tongue(
    "es",
    ("Camarero/a fin de semana", "Contable", "Programador Java", "Enfermera", "Conductor de camión", "Soldador",
     "Mozo de almacén", "Profesora de inglés", "Jefe de obra", "Dependienta", "Técnico de laboratorio"),
    ("Hermanos Rueda", "Transportes Sol", "Clínica del Mar", "Grupo Alba", "Bodegas Niebla"),
    ("Madrid", "Sevilla", "Valencia", "Barcelona", "Zaragoza"),
    ("hace 2 días", "12/03/2026", "ayer", "03/03/2026"),
    "Ofertas de empleo", "Inscribirme", ("Inicio", "Empresas", "Consejos", "Acceder", "Ayuda"), "Siguiente",
)  # fmt: skip
RUSSIAN = Tongue(
    "ru",
    ("Водитель погрузчика", "Главный бухгалтер", "Разработчик Python", "Медсестра", "Сварщик", "Повар", "Инженер",
     "Продавец-кассир", "Учитель математики", "Кладовщик", "Менеджер по продажам"),
    ("ООО Ромашка", "Северный ветер", "Клиника Заря", "ТД Восход", "Стройгрупп"),
    ("Москва", "Казань", "Новосибирск", "Самара", "Санкт-Петербург"),
    ("12.03.2026", "вчера", "03.03.2026", "сегодня"),
    "Вакансии", "Откликнуться", ("Главная", "О компании", "Работодателям", "Войти", "Помощь"), "Следующая",
    encoding="windows-1251",
)  # fmt: skip
JAPANESE = Tongue(
    "ja",
    ("倉庫スタッフ", "経理担当", "ソフトウェアエンジニア", "看護師(夜勤)", "トラック運転手", "溶接工", "調理補助", "施工管理",
     "数学講師", "販売スタッフ", "研究補助員"),
    ("株式会社やまと", "青空運輸株式会社", "みどり病院", "有限会社ひかり", "東洋商事"),
    ("東京都", "大阪府", "京都市", "札幌市", "福岡県"),
    ("2日前", "2026年3月12日", "昨日", "2026/03/03"),
    "求人一覧", "応募する", ("ホーム", "会社概要", "企業の方へ", "ログイン", "ヘルプ"), "次へ",
    encoding="shift_jis",
)  # fmt: skip
ARABIC = Tongue(
    "ar",
    ("سائق شاحنة", "محاسب أول", "مهندس برمجيات", "ممرضة", "مدير مشروع", "طباخ", "معلم رياضيات", "فني مختبر", "عامل مستودع"),
    ("شركة النور", "مجموعة الخليج", "مستشفى الأمل", "مصنع الرياض"),
    ("الرياض", "دبي", "القاهرة", "جدة", "الدوحة"),
    ("2026-03-12", "03/03/2026"),
    "وظائف شاغرة", "تقدم الآن", ("الرئيسية", "من نحن", "لأصحاب العمل", "تسجيل الدخول", "مساعدة"), "التالي",
    encoding="windows-1256", rtl=True,
)  # fmt: skip
TONGUES = (ENGLISH, GERMAN, SPANISH, RUSSIAN, JAPANESE, ARABIC)


class Names:
    """Class names: telling, hashed as builders make them, in blocks and elements, or none."""

    WAYS = ("telling", "hashed", "bem", "none", "atomic")

    def __init__(self, way: str, chance: Random) -> None:
        self.way, self._chance = way, chance
        self._made: dict[str, str] = {}

    def __call__(self, role: str) -> str:
        if role not in self._made:
            self._made[role] = {
                "telling": role,
                "hashed": f"css-{self._chance.randrange(16**6):06x}",
                "bem": f"c-listing__{role}",
                "none": "",
                "atomic": f"flex p-{self._chance.randrange(9)} text-{self._chance.choice(('sm', 'base', 'lg'))}",
            }[self.way]
        name = self._made[role]
        return f' class="{name}"' if name else ""


Row = Callable[[Thing, Names, Tongue], str]
E = escape


def _card(t: Thing, c: Names, w: Tongue) -> str:
    return (
        f'<div{c("card")}><h3{c("title")}><a href="{E(t.href)}">{E(t.title)}</a></h3><div{c("company")}>{E(t.company)}</div>'
        f'<div{c("location")}>{E(t.place)}</div><div{c("date")}>{E(t.date)}</div><a{c("apply")} href="{E(t.href)}#apply">{E(w.apply)}</a></div>'
    )


def _linked_card(t: Thing, c: Names, w: Tongue) -> str:
    return (
        f'<a{c("item")} href="{E(t.href)}"><span{c("title")}>{E(t.title)}</span><span{c("company")}>{E(t.company)}</span>'
        f"<span{c('location')}>{E(t.place)}</span></a>"
    )


def _item(t: Thing, c: Names, w: Tongue) -> str:
    return (
        f'<li{c("result")}><a href="{E(t.href)}">{E(t.title)}</a><br><small{c("company")}>{E(t.company)}</small> &middot; '
        f"<small{c('location')}>{E(t.place)}</small></li>"
    )


def _two_columns(t: Thing, c: Names, w: Tongue) -> str:
    firm = quote(t.company)
    return (
        f'<article{c("offer")}><div{c("left")}><a href="/employer/{firm}"><img src="/logo/{firm}.png" alt="{E(t.company)}"></a>'
        f'<a href="/employer/{firm}"{c("company")}>{E(t.company)}</a></div><div{c("right")}><a href="{E(t.href)}"{c("title")}>{E(t.title)}</a>'
        f'<p{c("location")}>{E(t.place)}</p><time datetime="2026-03-02">{E(t.date)}</time></div></article>'
    )


def _inline(t: Thing, c: Names, w: Tongue) -> str:
    return (
        f'<div{c("row")}><strong><a href="{E(t.href)}">{E(t.title)}</a></strong><div{c("meta")}><span>{E(t.company)}</span>'
        f"<span>{E(t.place)}</span><span>{E(t.date)}</span></div><p>{'Lorem ipsum dolor sit amet, consectetur. ' * 3}</p></div>"
    )


def _data_row(t: Thing, c: Names, w: Tongue) -> str:
    return (
        f'<div{c("job")} data-href="{E(t.href)}" role="link" tabindex="0"><div><h2{c("title")}>{E(t.title)}</h2></div>'
        f"<ul{c('facts')}><li>{E(t.company)}</li><li>{E(t.place)}</li></ul></div>"
    )


def _scripted(t: Thing, c: Names, w: Tongue) -> str:
    return (
        f'<li{c("vacancy")} onclick="location.href=\'{E(t.href)}\'"><a href="javascript:;"{c("title")}>{E(t.title)}</a>'
        f"<div{c('company')}>{E(t.company)}</div><div{c('location')}>{E(t.place)}</div></li>"
    )


def _button_link(t: Thing, c: Names, w: Tongue) -> str:
    return (
        f"<section{c('tile')}><h4{c('title')}>{E(t.title)}</h4><p{c('company')}>{E(t.company)}</p><p{c('location')}>{E(t.place)}</p>"
        f'<p><a{c("more")} href="{E(t.href)}">{E(w.apply)}</a></p></section>'
    )


def _deep(t: Thing, c: Names, w: Tongue) -> str:
    return (
        f'<li><div><div><div{c("body")}><div><a{c("title")} href="{E(t.href)}"><div><div>{E(t.title)}</div></div></a></div>'
        f'<div><div><img alt=""><span{c("company")}>{E(t.company)}</span></div><div><svg></svg><span{c("location")}>{E(t.place)}</span></div></div>'
        f"</div></div></div></li>"
    )


def _table_row(t: Thing, c: Names, w: Tongue) -> str:
    return (
        f'<tr><td{c("date")}>{E(t.date)}</td><td{c("title")}><a href="{E(t.href)}">{E(t.title)}</a></td>'
        f"<td{c('company')}>{E(t.company)}</td><td{c('location')}>{E(t.place)}</td></tr>"
    )


def _definition(t: Thing, c: Names, w: Tongue) -> str:
    return f'<dt{c("title")}><a href="{E(t.href)}">{E(t.title)}</a></dt><dd{c("company")}>{E(t.company)}</dd><dd{c("location")}>{E(t.place)}</dd>'


LAYOUTS: dict[str, tuple[str, Row, str]] = {
    "cards": ("<div>", _card, "</div>"),
    "links around rows": ("<div>", _linked_card, "</div>"),
    "items": ("<ul>", _item, "</ul>"),
    "two columns of links": ("<section>", _two_columns, "</section>"),
    "facts in a line": ("<div>", _inline, "</div>"),
    "addresses in attributes": ("<div>", _data_row, "</div>"),
    "links that run scripts": ("<ol>", _scripted, "</ol>"),
    "only a button leads on": ("<div>", _button_link, "</div>"),
    "deep boxes": ("<ul>", _deep, "</ul>"),
    "a table": ("<table><tbody>", _table_row, "</tbody></table>"),
    "terms and definitions": ("<dl>", _definition, "</dl>"),
}
HREFS = (
    "/jobs/{slug}-{id}", "/job/{id}", "/vacancy.aspx?id={id}", "/careers/{id}/{slug}", "/o/{slug}/", "detail/{id}.html",
    "https://board.example/v/{id}?ref=list&pos={n}", "?do=view&job={id}",
)  # fmt: skip
NOISE = ("facets", "adverts", "related", "pager", "footer columns", "tags in rows", "breadcrumbs", "articles")


@dataclass(frozen=True, slots=True)
class Listing:
    """A page and what is true of it."""

    name: str
    html: str
    tongue: Tongue
    things: tuple[Thing, ...]

    @property
    def body(self) -> bytes:
        return self.html.encode("utf-8")

    @property
    def undeclared(self) -> bytes:
        """The same in the encoding of its language, which it does not declare."""
        return self.html.replace('<meta charset="utf-8">', "").encode(self.tongue.encoding, "ignore")


def listing(
    seed: int, *, layout: str | None = None, tongue: Tongue | None = None, rows: int | None = None
) -> Listing:
    """The page of a seed."""
    chance = Random(seed)
    chosen, drawn = chance.choice(list(LAYOUTS)), chance.choice(TONGUES)
    layout, tongue = layout or chosen, tongue or drawn
    way, pattern = chance.choice(Names.WAYS), chance.choice(HREFS)
    noise = set(chance.sample(NOISE, chance.randrange(5)))
    things = _things(chance, tongue, pattern, rows or chance.choice((4, 7, 12, 20, 31)))
    names = Names(way, chance)
    before, row, after = LAYOUTS[layout]
    made = [row(thing, names, tongue) for thing in things]
    if "adverts" in noise and layout not in ("a table", "terms and definitions"):
        advert = Thing(
            "50% off insurance, today only", "Sponsored", "", "https://ads.example.net/click?c=77", ""
        )
        made.insert(len(made) // 2, row(advert, names, tongue))
    html = _page(tongue, names, noise, f"{before}{''.join(made)}{after}", chance)
    return Listing(
        f"{seed}: {layout}, {tongue.code}, {way} names, {pattern}, {sorted(noise)}", html, tongue, things
    )


def _things(chance: Random, tongue: Tongue, pattern: str, number: int) -> tuple[Thing, ...]:
    found = []
    for n in range(number):
        title = tongue.titles[n % len(tongue.titles)]
        if n >= len(tongue.titles):
            title = f"{title} {n // len(tongue.titles) + 1}"
        slug = (
            "-".join(title.lower().replace("/", " ").split())
            if tongue.code in ("en", "de", "es")
            else f"x{n}k"
        )
        ident = chance.randrange(10_000, 99_999) * 100 + n
        href = pattern.format(slug=quote(slug + f"-{n}"), id=ident, n=n)
        found.append(
            Thing(
                title,
                chance.choice(tongue.companies),
                chance.choice(tongue.places),
                href,
                chance.choice(tongue.dates),
            )
        )
    return tuple(found)


def _page(w: Tongue, c: Names, noise: set[str], rows: str, chance: Random) -> str:
    menu = "".join(f'<li><a href="/{n}/menu">{E(each)}</a></li>' for n, each in enumerate(w.menu))
    top = f"<header><nav><ul>{menu}</ul></nav></header>"
    aside = ""
    if "breadcrumbs" in noise:
        top += f'<div><a href="/">{E(w.menu[0])}</a> &gt; <a href="/all">{E(w.heading)}</a></div>'
    if "facets" in noise:
        facets = "".join(
            f'<li><label><input type="checkbox"> <a href="?city={quote(p)}">{E(p)}</a> <span>({n * 7 + 3})</span></label></li>'
            for n, p in enumerate(w.places * 2)
        )
        aside += f"<aside><h4>{E(w.menu[1])}</h4><ul>{facets}</ul></aside>"
    if "related" in noise:
        other = "".join(f'<li><a href="/search/{quote(t)}">{E(t)}</a></li>' for t in w.titles[::-1][:9])
        aside += f"<div><h4>{E(w.menu[2])}</h4><ul>{other}</ul></div>"
    if "articles" in noise:
        aside += "".join(
            f'<div{c("teaser")}><a href="/blog/{n}"><img alt="" src="/b{n}.jpg"><h5>{E(w.menu[3])} {n}</h5></a><p>{"Some advice on how to write. " * 2}</p></div>'
            for n in range(3)
        )
    pager = ""
    if "pager" in noise:
        pages = "".join(f'<a href="?page={n}">{n}</a> ' for n in range(2, 8))
        pager = f'<div><b>1</b> {pages}<a href="?page=2">{E(w.next)}</a></div>'
    foot = "".join(f'<a href="/legal/{n}">{E(each)}</a> ' for n, each in enumerate(w.menu))
    if "footer columns" in noise:
        foot += "".join(
            f"<ul>{''.join(f'<li><a href=/in/{quote(p)}/{n}>{E(w.heading)} {E(p)}</a></li>' for p in w.places)}</ul>"
            for n in range(3)
        )
    direction = ' dir="rtl"' if w.rtl else ""
    sides = (aside, "") if chance.random() < 0.5 else ("", aside)
    return (
        f'<!doctype html><html lang="{w.code}"{direction}><head><meta charset="utf-8"><title>{E(w.heading)}</title></head><body>{top}'
        f"{sides[0]}<main><h1>{E(w.heading)}</h1>{rows}{pager}</main>{sides[1]}<footer>{foot}</footer></body></html>"
    )


ISLANDS = ("__NEXT_DATA__", "assigned", "escaped", "parsed", "attribute", "streamed")


def island(seed: int, how: str, tongue: Tongue = ENGLISH) -> Listing:
    """A page whose rows stand only in a script's data, beside menus."""
    chance = Random(seed)
    things = _things(chance, tongue, "/jobs/{id}", 9)
    rows = [
        {"id": thing.href.rpartition("/")[2], "jobTitle": thing.title, "companyName": thing.company, "location": thing.place,
         "url": thing.href, "employmentType": "FULL_TIME"}
        for thing in things
    ]  # fmt: skip
    data = {
        "props": {
            "pageProps": {
                "menu": [{"label": each, "url": "/m"} for each in tongue.menu],
                "results": {"jobs": rows},
            }
        }
    }
    text = json.dumps(data).replace("</", "<\\/")
    script = {
        "__NEXT_DATA__": f'<script id="__NEXT_DATA__" type="application/json">{text}</script>',
        "assigned": f"<script>window.__STATE__ = {text};</script>",
        "escaped": f'<script>window.__DATA__ = "{text.replace(chr(92), chr(92) * 2).replace(chr(34), chr(92) + chr(34))}";</script>',
        "parsed": f"<script>var store = JSON.parse({json.dumps(text)});</script>",
        "attribute": f'<div id="app" data-page="{escape(text)}"></div>',
        "streamed": f"<script>self.__next_f.push([1,{json.dumps('5:' + text)}])</script>",
    }[how]
    html = _page(
        tongue,
        Names("hashed", chance),
        {"facets", "footer columns"},
        f'<div id="root"></div>{script}',
        chance,
    )
    return Listing(f"{seed}: {how}", html, tongue, things)
