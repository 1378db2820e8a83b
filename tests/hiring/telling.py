"""Pages of a company, and what is read from them."""

from thresher.hiring.company.dossier import Dossier, DossierPage, dossier
from thresher.hiring.company.facts import read_facts
from thresher.reading.html.document import Document

YEAR = 2026
PROSE = "<html><head><title>About Tarn Tools</title></head><body><nav><a href='/'>Home</a> <a href='/jobs'>Jobs</a></nav>{}</body></html>"
ENGLISH = """
<h1>About Tarn Tools</h1>
<p>Tarn Tools makes measuring instruments for boat yards. We were founded in 1987 by two sisters and still build everything ourselves.</p>
<p>Our 85 people work from the old harbour office. We are headquartered in Bergen, Norway.</p>
<h2>Our mission</h2><p>To make sure that no keel is laid crooked.</p>
<h2>Our values</h2><ul><li>Measure twice, and tell the truth about the second time.</li><li>Ask before the wood is cut.</li></ul>
<h2>Contact</h2><p>Write to us.</p>
"""


def told(html: str, role: str = "about", url: str = "https://www.tarn.example/about") -> Dossier:
    return dossier([DossierPage(role, Document(PROSE.format(html), url))])


def facts(html: str, **how: str) -> dict[str, object]:
    found = read_facts(told(html, **how), name="Tarn Tools", year=YEAR).found
    return {name: getattr(each.value, "text", each.value) for name, each in found.items()}
