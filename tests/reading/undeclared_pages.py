"""Whole pages about one opening that declare nothing, in the manner of many sites and languages, and what is
to be read of each. What is None must not be read.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Expected:
    url: str
    html: str
    title: str | None = None
    company: str | None = None
    location: str | None = None
    employment_type: str | None = None
    posted: str | None = None
    salary: str | None = None


PAGES = (
    Expected(
        "https://www.hollow-oak.example/jobs/barrel-cooper",
        """<html lang="en"><head><title>Barrel Cooper | Jobs | Hollow Oak Distillery</title><meta property="og:site_name" content="Hollow Oak Distillery"></head>
        <body>
<header><a class="logo" href="/"><img alt="Hollow Oak Distillery" src="l.png"></a><nav><a href="/whisky">Whisky</a><a href="/jobs">Jobs</a></nav>
        </header>
<div class="entry-content"><h1 class="entry-title">Barrel Cooper</h1>
        <ul class="job-listing-meta meta"><li class="job-type full-time">Full Time</li><li class="location"><a href="http://maps.google.com/?q=Inverness" >Inverness</a></li><li class="date-posted"><time datetime="2026-02-20">Posted 3 weeks ago</time></li></ul>
<div class="company"><strong>Hollow Oak Distillery</strong></div>
        <p>We look for somebody who can shave a stave by eye and who does not mind the smell of char in the morning. You will join a crew of four who have hooped casks for thirty years.</p>
        <p>To apply, send us a letter.</p></div>
<footer>© 2026 Hollow Oak Distillery Ltd</footer></body></html>""",
        title="Barrel Cooper",
        company="Hollow Oak Distillery",
        location="Inverness",
        posted="2026-02-20",
        employment_type="Full Time",
    ),
    Expected(
        "https://karriere.windrad-nord.example/stelle/4711/servicetechniker",
        """<html lang="de"><head><title>Servicetechniker (m/w/d) in Husum | Windrad Nord GmbH</title></head>
        <body><div id="header"><img src="/wn.png" alt="Windrad Nord GmbH"></div>
<div class="content"><h1>Servicetechniker (m/w/d)</h1>
        <div class="infos"><div><i class="fa fa-map-marker"></i> Husum</div>
        <div><i class="fa fa-clock"></i> Vollzeit</div><div><i class="fa fa-calendar"></i> ab sofort</div>
        </div>
<p>Die Windrad Nord GmbH wartet seit 1998 Windenergieanlagen an der Küste. Zur Verstärkung unseres Teams suchen wir Menschen mit Höhentauglichkeit und Freude am Schrauben.</p>
        <h3>Ihre Aufgaben</h3><ul><li>Wartung und Reparatur</li><li>Dokumentation der Einsätze</li></ul>
        <h3>Ihr Profil</h3><ul><li>Ausbildung als Elektroniker</li></ul><h3>Wir bieten</h3>
        <ul><li>Dienstwagen</li></ul><a href="/bewerben/4711">Jetzt bewerben</a></div>
        <div>© Windrad Nord GmbH 2026 | Impressum</div></body></html>""",
        title="Servicetechniker (m/w/d)",
        company="Windrad Nord GmbH",
        location="Husum",
        employment_type="Vollzeit",
    ),
    Expected(
        "https://www.stellenkompass.example/anzeige/88123",
        """<html lang="de"><head><title>Bilanzbuchhalter (m/w/d) - Kessler Maschinenbau AG - Ulm - Stellenkompass</title></head>
        <body><nav><a href="/">Stellenkompass</a><a href="/firmen">Für Arbeitgeber</a></nav>
<main><h1>Bilanzbuchhalter (m/w/d)</h1>
        <div class="c-meta"><span class="c-meta__a">Kessler Maschinenbau AG</span><span class="c-meta__b">Ulm</span><span>Online seit: 05.03.2026</span></div>
        <section><h2>Aufgaben</h2>
        <p>Sie erstellen Abschlüsse nach HGB und begleiten die Prüfung durch unsere Wirtschaftsprüfer an drei Standorten im Inland.</p>
        <h2>Anforderungen</h2><p>Weiterbildung zum Bilanzbuchhalter.</p></section></main></body></html>""",
        title="Bilanzbuchhalter (m/w/d)",
        company="Kessler Maschinenbau AG",
        location="Ulm",
        posted="2026-03-05",
    ),
    Expected(
        "https://boulangerie-dupain.example/recrutement/boulanger",
        """<html lang="fr"><head><title>Recrutement : Boulanger H/F - Boulangerie Dupain</title></head>
        <body><h2 class="site-title">Boulangerie Dupain</h2><h1>Boulanger H/F</h1>
        <p><strong>Lieu :</strong> Nantes (44)</p><p><strong>Type de contrat :</strong> CDI</p>
        <p><strong>Salaire :</strong> 2 000 € à 2 300 € brut par mois</p><p>Publiée le 02/03/2026</p>
        <h3>Vos missions</h3>
        <ul><li>Pétrir et façonner les pains du matin, selon les recettes de la maison.</li><li>Entretenir le fournil.</li></ul>
        <h3>Profil recherché</h3><p>CAP boulanger et goût du travail de nuit.</p></body></html>""",
        title="Boulanger H/F",
        company="Boulangerie Dupain",
        location="Nantes (44)",
        posted="2026-03-02",
        salary="2000",
        employment_type="CDI",
    ),
    Expected(
        "https://acierto.example/empleo/contable-madrid",
        """<html lang="es"><head><title>Oferta de empleo: Contable | Acierto Asesores</title></head>
        <body><div class="wrap"><div class="brand">Acierto Asesores</div><h1>Contable</h1>
        <table><tr><td>Ubicación</td><td>Madrid</td></tr><tr><td>Jornada</td><td>Jornada completa</td></tr><tr><td>Fecha de publicación</td><td>1 de marzo de 2026</td></tr></table>
        <h2>Funciones</h2>
        <p>Llevar la contabilidad de varias pymes y presentar los impuestos en plazo cada trimestre.</p>
        <h2>Requisitos</h2><p>Tres años de experiencia.</p></div></body></html>""",
        title="Contable",
        company="Acierto Asesores",
        location="Madrid",
        posted="2026-03-01",
        employment_type="Jornada completa",
    ),
    Expected(
        "https://mlynpolski.example/kariera/mlynarz",
        """<html lang="pl"><head><title>Młynarz - Młyn Polski Sp. z o.o.</title></head><body><h1>Młynarz</h1>
        <p>Lokalizacja: Wrocław<br>Wymiar etatu: Pełny etat<br>Wynagrodzenie: 5500 - 6500 PLN miesięcznie<br>Data publikacji: 04.03.2026</p>
        <h2>Zakres obowiązków</h2>
        <p>Obsługa linii przemiału i kontrola jakości mąki w młynie we Wrocławiu, praca na dwie zmiany.</p>
        <h2>Wymagania</h2><p>Dokładność.</p></body></html>""",
        title="Młynarz",
        company="Młyn Polski Sp. z o.o.",
        location="Wrocław",
        posted="2026-03-04",
        salary="5500",
        employment_type="Pełny etat",
    ),
    Expected(
        "https://fietsfabriek.example/werken-bij/monteur",
        """<html lang="nl"><head><title>Vacature Fietsmonteur | De Fietsfabriek</title></head>
        <body><header><a href="/">De Fietsfabriek</a></header><article><h1>Fietsmonteur</h1>
        <p>Amersfoort | 32-40 uur per week | € 2.600 - € 3.100 per maand</p>
        <p>Bij De Fietsfabriek bouw je bakfietsen van begin tot eind. Je werkt in een kleine ploeg en ziet elke fiets de deur uit gaan.</p>
        <h2>Wat ga je doen?</h2><p>Monteren.</p><h2>Functie-eisen</h2><p>Ervaring.</p>
        <a href="#f">Solliciteer direct</a></article></body></html>""",
        title="Fietsmonteur",
        company="De Fietsfabriek",
        location="Amersfoort",
        salary="2600",
    ),
    Expected(
        "https://jobs.northfield.edu.example/postings/2231",
        """<html><head><title>Northfield University Employment Opportunities | Laboratory Manager</title></head>
        <body><h1>Northfield University Employment Opportunities</h1><h2>Posting Details</h2>
        <table><tr><th>Position Title</th><td>Laboratory Manager</td></tr><tr><th>Department</th><td>Chemistry</td></tr><tr><th>Location</th><td>Northfield, MN</td></tr><tr><th>Position Type</th><td>Full-time</td></tr><tr><th>Posting Date</th><td>02/27/2026</td></tr><tr><th>Closing Date</th><td>04/15/2026</td></tr></table>
        <p>The manager keeps the teaching laboratories safe and stocked, and trains student assistants every term.</p>
        </body></html>""",
        title="Laboratory Manager",
        location="Northfield, MN",
        posted="2026-02-27",
        employment_type="Full-time",
    ),
    Expected(
        "https://hirely.example/j/ab12",
        """<html><head><title>Data Plumber – Brightpipe – Hirely</title><meta property="og:title" content="Data Plumber"><meta property="og:site_name" content="Hirely"></head>
        <body><header><a href="/">Hirely</a><a href="/employers">Post a job</a></header>
        <div><h1>Data Plumber</h1><h2><a href="/companies/brightpipe">Brightpipe</a></h2>
        <div><span>Remote (Canada)</span> • <span>Contract</span> • <span>$90 - $110 per hour</span> • <span>Posted yesterday</span></div>
        </div><h3>About the role</h3>
        <p>You keep tables flowing from twelve sources to one warehouse, and you answer the pager every third week with a calm voice.</p>
        <h3>Requirements</h3><ul><li>SQL</li></ul><button>Apply now</button><h3>Similar jobs</h3>
        <p>Data Gardener - Toronto, Canada</p></body></html>""",
        title="Data Plumber",
        company="Brightpipe",
        location="Remote (Canada)",
        posted="2026-03-09",
        salary="90",
        employment_type="Contract",
    ),
    Expected(
        "https://www.tidewater-marine.example/about/team/join/deck-officer",
        """<html><head><title>Deck Officer - Tidewater Marine</title></head>
        <body><div class="crumbs"><a href="/">Home</a> / <a href="/careers">Careers</a> / Deck Officer</div>
        <h1>Join our crew</h1><h2>Deck Officer</h2><h4>Location</h4><p>Aberdeen, Scotland</p>
        <h4>Contract</h4><p>Permanent, full-time</p><h4>Closing date</h4><p>31 March 2026</p>
        <h4>Responsibilities</h4><p>Stand navigational watches on an offshore supply vessel, and keep the charts and the logs in good order at all times of the day.</p>
        <h4>Requirements</h4><p>A certificate of competency.</p>
        <footer>Copyright 2026 Tidewater Marine Ltd. Aberdeen</footer></body></html>""",
        title="Deck Officer",
        company="Tidewater Marine",
        location="Aberdeen, Scotland",
        employment_type="Permanent, full-time",
    ),
    Expected(
        "https://pixelbakery.example/careers/frontend-baker",
        """<html><head><title>Frontend Baker @ Pixel Bakery</title></head><body><main><section><p>Engineering</p>
        <h1>Frontend Baker</h1><p>Lisbon or remote in Europe</p></section>
        <section><p>Pixel Bakery makes small sites that load before you blink. We are nine people and a sourdough starter called Bob, and we would like a tenth.</p>
        <h2>What you’ll do</h2><p>Bake.</p><h2>Who you are</h2><p>Patient.</p></section></main></body></html>""",
        title="Frontend Baker",
        company="Pixel Bakery",
    ),
    Expected(
        "https://localpaper.example/classifieds/jobs/roofer-wanted",
        """<html><head><title>Roofer wanted | Local Paper Classifieds</title><meta property="og:site_name" content="Local Paper"></head>
        <body><nav><a href="/advertise">Advertise with us</a></nav><h1>Roofer wanted</h1>
        <p>Employer: J. Shingle &amp; Sons</p><p>Area: Bristol</p><p>Pay: £18 per hour</p>
        <p>Must have own tools.</p></body></html>""",
        title="Roofer wanted",
        company="J. Shingle & Sons",
        location="Bristol",
        salary="18",
    ),
    Expected(
        "https://stonebridge.example/careers/job/1042",
        """<html><head><title>Stonebridge Foods - Careers</title></head>
        <body><h1><a href="/"><img alt="Stonebridge Foods" src="x.png"></a></h1>
        <div class="BambooHR"><h2>Quality Inspector</h2>
        <span>Dayton, Ohio</span> <span>&middot;</span> <span>Full-Time</span></div>
        <div><p>Stonebridge Foods cans soup for half the county. As an inspector you walk the line, pull samples, and stop the belt when something is off.</p>
        <p><strong>Responsibilities</strong></p><ul><li>Taste soup</li></ul>
        <p><strong>Qualifications</strong></p><ul><li>A good tongue</li></ul></div>
        <a href="#">Apply for This Job</a><p>Powered by SomeTool</p></body></html>""",
        title="Quality Inspector",
        company="Stonebridge Foods",
        location="Dayton, Ohio",
        employment_type="Full-Time",
    ),
    Expected(
        "https://reliefhands.example/jobs/field-coordinator",
        """<html><head><title>Field Coordinator | Relief Jobs Net</title></head><body><h1>Field Coordinator</h1>
        <table><tr><th>Organization</th><th>Country</th><th>City</th><th>Closing date</th></tr><tr><td>Water For Villages</td><td>Kenya</td><td>Nairobi</td><td>20 Mar 2026</td></tr></table>
        <h3>Posted</h3><p>2 Mar 2026</p><h3>Responsibilities</h3>
        <p>Plan boreholes with the elders of nine villages and report to the office each week by radio or mail.</p>
        <h3>Requirements</h3><p>Patience.</p></body></html>""",
        title="Field Coordinator",
        company="Water For Villages",
        location="Nairobi",
        posted="2026-03-02",
    ),
    Expected(
        "https://talentbridge.example/vacancy/991",
        """<html><head><title>Payroll Officer - Perth, WA - TalentBridge Recruitment</title><meta property="og:site_name" content="TalentBridge Recruitment"></head>
        <body><h1>Payroll Officer</h1><p>Perth, WA</p><p>$75,000 - $85,000 per annum</p>
        <p>Our client, a leading miner, seeks a payroll officer for a six month project in the city, close to the station.</p>
        <h2>Duties</h2><p>Pay people.</p><h2>Skills</h2><p>Count.</p></body></html>""",
        title="Payroll Officer",
        location="Perth, WA",
        salary="75000",
    ),
    Expected(
        "https://www.comune-bellavalle.example/lavora-con-noi/bibliotecario",
        """<html lang="it"><head><title>Bibliotecario - Cooperativa Bellavalle</title></head>
        <body><h1>Bibliotecario</h1>
        <ul><li><strong>Sede di lavoro</strong><br>Bologna</li><li><strong>Tipo di contratto</strong><br>Tempo determinato</li><li><strong>Pubblicato il</strong><br>3 marzo 2026</li></ul>
        <h2>Mansioni</h2>
        <p>Catalogare i libri e accogliere i lettori, anche il sabato mattina e durante le letture per i bambini.</p>
        <h2>Requisiti</h2><p>Diploma.</p></body></html>""",
        title="Bibliotecario",
        location="Bologna",
        posted="2026-03-03",
        employment_type="Tempo determinato",
    ),
    Expected(
        "https://norrljus.example/lediga-jobb/elektriker",
        """<html lang="sv"><head><title>Elektriker | Norrljus AB</title></head><body><h1>Elektriker</h1>
        <dl><dt>Ort</dt><dd>Umeå</dd><dt>Omfattning</dt><dd>Heltid</dd><dt>Publicerad</dt><dd>2026-02-25</dd></dl>
        <p>Norrljus AB söker en elektriker som trivs med att klättra i stolpar när snön ligger djup och norrskenet lyser över vägen.</p>
        <h2>Arbetsuppgifter</h2><p>Dra kabel.</p><h2>Kvalifikationer</h2><p>Behörighet.</p>
        <footer>© Norrljus AB</footer></body></html>""",
        title="Elektriker",
        company="Norrljus AB",
        location="Umeå",
        posted="2026-02-25",
        employment_type="Heltid",
    ),
    Expected(
        "https://codeforge.example/en/career/senior-go-developer",
        """<html><head><title>CodeForge – Senior Go Developer</title></head><body><nav>Services Career Blog</nav>
        <section class="hero"><h1>Senior Go Developer</h1>
        <div class="tags"><span>Kraków</span><span>Hybrid</span><span>B2B</span><span>18 000 – 24 000 PLN / month</span></div>
        </section>
        <p>At CodeForge we write backends for airlines. You would own the booking engine together with three others who like tests.</p>
        <h3>Requirements</h3><p>Go</p><h3>Nice to have</h3><p>SQL</p><h3>We offer</h3><p>Cake</p>
        <a>Apply</a></body></html>""",
        title="Senior Go Developer",
        company="CodeForge",
        location="Kraków",
        salary="18000",
        employment_type="B2B",
    ),
    Expected(
        "https://harborclinic.example/work-with-us/night-nurse",
        """<html><head><title>Night Nurse – Work with us – Harbor Clinic Group</title></head>
        <body><h1>Work with us</h1><h1>Night Nurse</h1><p><em>Where:</em> Cork, Ireland</p>
        <p><em>When:</em> Nights, 38 hours</p><p><em>Published:</em> March 5th, 2026</p>
        <p>Harbor Clinic looks after sixty patients by the sea. You will be one of two nurses through the night and hand over at seven.</p>
        <p><b>What you bring</b></p><p>Registration.</p><p><b>Your tasks</b></p><p>Care.</p></body></html>""",
        title="Night Nurse",
        location="Cork, Ireland",
        posted="2026-03-05",
        company="Harbor Clinic Group",
    ),
    Expected(
        "https://quillpress.example/2026/03/were-hiring-editor",
        """<html><head><title>We’re hiring an Editor – Quill Press</title></head>
        <body><article><h1>We’re hiring an Editor</h1><p>Posted on March 4, 2026 by Anna</p>
        <p>Quill Press is growing, and we need an editor in Edinburgh for two days a week. You read what arrives, and answer every letter.</p>
        <p>Write to us.</p></article></body></html>""",
    ),
    Expected(
        "https://jobs.grandhotel.example/stellenangebote/koch",
        """<html lang="de"><head><title>Koch (m/w/d) bei Grand Hotel Alpenblick</title></head>
        <body><h1>Koch (m/w/d)</h1>
        <p>Standort: Garmisch-Partenkirchen | Arbeitszeit: Vollzeit | Eintritt: sofort</p><h2>Deine Aufgaben</h2>
        <p>Du kochst à la carte und am Buffet für hundert Gäste und leitest die Lehrlinge an ihrem Posten an.</p>
        <h2>Dein Profil</h2><p>Ausbildung.</p></body></html>""",
        title="Koch (m/w/d)",
        company="Grand Hotel Alpenblick",
        location="Garmisch-Partenkirchen",
        employment_type="Vollzeit",
    ),
    Expected(
        "https://vagasja.example/vaga/analista-fiscal-77",
        """<html lang="pt-BR"><head><title>Vaga de Analista Fiscal - Indústrias Boa Vista - Curitiba, PR | VagasJá</title></head>
        <body><a href="/empresas">Para recrutadores</a><h1>Analista Fiscal</h1><div><p>Indústrias Boa Vista</p>
        <p>Curitiba, PR</p><p>Publicada há 2 dias</p><p>Tempo integral</p></div><h2>Atividades</h2>
        <p>Apurar impostos estaduais e federais e preparar as obrigações acessórias de três filiais no estado.</p>
        <h2>Requisitos</h2><p>Graduação.</p></body></html>""",
        title="Analista Fiscal",
        company="Indústrias Boa Vista",
        location="Curitiba, PR",
        posted="2026-03-08",
        employment_type="Tempo integral",
    ),
    Expected(
        "https://brookfarm.example/blog/a-day-with-our-shepherd",
        """<html><head><title>A day with our shepherd - Brook Farm jobs blog</title></head>
        <body><h1>A day with our shepherd</h1><p>Wales, UK</p><p>Posted on March 1, 2026</p>
        <p>Ifan starts at five. The dogs know it before he does. On the hill above the farm the ewes wait for him, and the first lambs of the year are on their feet.</p>
        </body></html>""",
    ),
    Expected(
        "https://school.example/courses/ladder-making",
        """<html><head><title>Ladder making course - Career School</title></head><body><h1>Ladder making course</h1>
        <p>Leeds, UK</p><p>£400 - £600</p><h2>Requirements</h2>
        <p>Be eighteen, bring shoes with steel caps, and read the notes that we send you before the first evening of the course.</p>
        <h2>What you'll learn</h2><p>Rungs.</p><a href="/apply">Apply now</a></body></html>""",
    ),
    Expected(
        "https://flats.example/listing/44",
        """<html><head><title>Two-bedroom flat in Leeds</title></head><body><h1>Two-bedroom flat in Leeds</h1>
        <p>Location: Leeds</p><p>Type: Flat</p><p>Price: £900</p><p>Date: 1 March 2026</p></body></html>""",
    ),
    Expected(
        "https://nimbus-air.example/en/jobs/12-cabin-crew",
        """<html lang="en"><head><title>Cabin Crew (f/m/d)</title><meta property="og:site_name" content="Nimbus Air"></head>
        <body><header><a href="/en"><svg></svg></a></header><main><h1>Cabin Crew (f/m/d)</h1>
        <dl class="grid"><div><dt>Base</dt><dd>Frankfurt am Main</dd></div>
        <div><dt>Workload</dt><dd>80-100%</dd></div>
        <div><dt>Location</dt><dd>Frankfurt am Main, Germany</dd></div></dl>
        <p>Nimbus Air flies to forty islands. You look after guests and their safety on board, day and night, in rain and sun.</p>
        <h2>Your tasks</h2><p>Serve.</p><h2>Your profile</h2><p>Swim.</p></main></body></html>""",
        title="Cabin Crew (f/m/d)",
        company="Nimbus Air",
        location="Frankfurt am Main, Germany",
    ),
    Expected(
        "https://www.lumenpark.example/jobs/view?id=9",
        """<html><head><title>Lighting Designer job with Lumen Park | 9</title></head>
        <body><div class="top">Lumen Park</div><h1>Lighting Designer</h1>
        <div><b>Ref:</b> 9 <b>Location:</b> Ghent, Belgium <b>Hours:</b> Full time <b>Salary:</b> €45,000 - €52,000 per year</div>
        <p>Lumen Park lights gardens. The designer draws plans, tests lamps at dusk, and talks to gardeners who would rather have it dark.</p>
        </body></html>""",
        title="Lighting Designer",
        company="Lumen Park",
        location="Ghent, Belgium",
        salary="45000",
        employment_type="Full time",
    ),
    Expected(
        "https://arbeit-rhein.example/job/lagerist-koeln",
        """<html lang="de"><head><title>Lagerist (m/w/d) in Köln - Spedition Krause GmbH &amp; Co. KG</title></head>
        <body><a>Stellenanzeige schalten</a><h1>Lagerist (m/w/d)</h1><h2>Spedition Krause GmbH &amp; Co. KG</h2>
        <p>50667 Köln</p><p>Festanstellung, Vollzeit</p><p>Vor 4 Tagen veröffentlicht</p><h3>Aufgaben</h3>
        <p>Waren annehmen, prüfen, einlagern und für die Touren des nächsten Morgens bereitstellen, auch am Samstag.</p>
        <h3>Anforderungen</h3><p>Staplerschein.</p></body></html>""",
        title="Lagerist (m/w/d)",
        company="Spedition Krause GmbH & Co. KG",
        location="50667 Köln",
        posted="2026-03-06",
        employment_type="Festanstellung, Vollzeit",
    ),
    Expected(
        "https://kestrelbooks.example/jobs/bookseller/",
        """<html><head><title>Bookseller - Kestrel Books</title></head>
        <body><div class="site-name">Kestrel Books</div><h1>Bookseller</h1>
        <p>Kestrel Books, 12 High Street, Ludlow</p><p>Part-time (20 hours), £12.60 per hour</p>
        <p>We sell books to people who have enough of them already. You know what to say to somebody who asks for a present for an aunt.</p>
        <p>Closing date: 20 March 2026</p></body></html>""",
        title="Bookseller",
        company="Kestrel Books",
        salary="12.60",
        employment_type="Part-time",
    ),
    Expected(
        "https://www.delta-labs.example/stellenangebote/chemielaborant",
        """<html lang="de"><head><title>Delta Labs | Chemielaborant (m/w/d)</title></head>
        <body><h1>Chemielaborant (m/w/d)</h1>
        <h4>Einsatzort: Leverkusen</h4><h4>Anstellungsart: unbefristet</h4><h4>Referenz: 77-A</h4><p><strong>Das erwartet dich</strong></p>
        <p>Du setzt Reaktionen an, misst ihre Produkte und schreibst auf, was du gesehen hast, damit andere es wiederholen können.</p>
        <p><strong>Das bringst du mit</strong></p><p>Ausbildung.</p><p>Delta Labs GmbH, Leverkusen</p>
        </body></html>""",
        title="Chemielaborant (m/w/d)",
        company="Delta Labs",
        location="Leverkusen",
        employment_type="unbefristet",
    ),
    Expected(
        "https://opengrid.example/jobs/power-engineer",
        """<html><head><title>Power Engineer</title></head><body><h1>Power Engineer</h1>
        <p>OpenGrid | Dublin, Ireland / London, UK | Hybrid | Permanent</p>
        <p>Posted: 1 March 2026 | Closes: 30 March 2026</p>
        <p>OpenGrid plans the wires that bring wind to towns. You will model faults and argue with people about the cost of copper in public.</p>
        <h3>Key responsibilities</h3><p>Model.</p><h3>Essential skills</h3><p>Math.</p></body></html>""",
        title="Power Engineer",
        location="Dublin, Ireland / London, UK",
        posted="2026-03-01",
        company="OpenGrid",
        employment_type="Permanent",
    ),
    Expected(
        "https://gazette.example/news/2026/03/01/jobs-boost-for-leeds",
        """<html><head><title>Jobs boost for Leeds as ladder factory opens - Gazette</title></head>
        <body><h1>Jobs boost for Leeds as ladder factory opens</h1><p>Leeds, UK</p><p>Published: 1 March 2026</p>
        <p>Two hundred full-time jobs will come to Leeds. The company said it looks for fitters and welders with experience.</p>
        <a href="/post">Post a job</a></body></html>""",
    ),
)
