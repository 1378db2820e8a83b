"""The words the practice web is made of: names, places, trades. All invented or common; none belongs to anybody."""

from types import MappingProxyType

FIRST = ("Alder", "Amber", "Basalt", "Beacon", "Birch", "Bramble", "Cinder", "Clover", "Copper", "Coral", "Delta", "Drift", "Dune",
         "Echo", "Elm", "Fable", "Fern", "Flint", "Gale", "Granite", "Harbor", "Hazel", "Hollow", "Indigo", "Ivory", "Jade", "Kite",
         "Lantern", "Linden", "Lumen", "Maple", "Marble", "Meadow", "Nimbus", "North", "Oak", "Onyx", "Otter", "Pebble", "Pine",
         "Quarry", "Quill", "Raven", "Reed", "River", "Saffron", "Sage", "Slate", "Sparrow", "Summit", "Tidal", "Timber", "Umber",
         "Velvet", "Vesper", "Walnut", "Willow", "Winter", "Yarrow", "Zephyr")  # fmt: skip
SECOND = ("Analytics", "Bank", "Biotech", "Cloud", "Commerce", "Devices", "Dynamics", "Energy", "Foods", "Freight", "Games", "Health",
          "Instruments", "Labs", "Learning", "Logistics", "Media", "Mobility", "Networks", "Optics", "Payments", "Robotics",
          "Security", "Software", "Studios", "Systems", "Travel", "Ventures", "Water", "Works")  # fmt: skip
FORMS = ("", "", "", " Inc.", " GmbH", " Ltd", " AB", " B.V.", " Group")
TRADES = ("payments for small shops", "weather data for farms", "repairable electronics", "night trains", "heat pumps", "clinic software",
          "warehouse robots", "language courses", "freight planning", "water meters", "board games", "building surveys", "bicycle leasing",
          "museum tickets", "energy trading", "school lunches", "soil analysis", "satellite imagery", "ferry bookings",
          "hearing aids")  # fmt: skip
# City, region, country, country code, currency, thousands a year that a middling salary has there.
CITIES = (
    ("Berlin", "Berlin", "Germany", "DE", "EUR", 68), ("Munich", "Bavaria", "Germany", "DE", "EUR", 75),
    ("Amsterdam", "North Holland", "Netherlands", "NL", "EUR", 70), ("Stockholm", "Stockholm County", "Sweden", "SE", "SEK", 620),
    ("London", "England", "United Kingdom", "GB", "GBP", 65), ("Manchester", "England", "United Kingdom", "GB", "GBP", 52),
    ("Dublin", "Leinster", "Ireland", "IE", "EUR", 72), ("Lisbon", "Lisbon", "Portugal", "PT", "EUR", 42),
    ("Paris", "Île-de-France", "France", "FR", "EUR", 58), ("Zürich", "Zürich", "Switzerland", "CH", "CHF", 125),
    ("New York", "NY", "United States", "US", "USD", 140), ("Austin", "TX", "United States", "US", "USD", 120),
    ("Denver", "CO", "United States", "US", "USD", 118), ("San Francisco", "CA", "United States", "US", "USD", 165),
    ("Toronto", "ON", "Canada", "CA", "CAD", 110), ("Montréal", "QC", "Canada", "CA", "CAD", 98),
    ("Sydney", "NSW", "Australia", "AU", "AUD", 130), ("Singapore", "Singapore", "Singapore", "SG", "SGD", 105),
)  # fmt: skip
# Department: titles and what one does there.
DEPARTMENTS = MappingProxyType({
    "Engineering": (("Backend Engineer", "Frontend Engineer", "Platform Engineer", "Data Engineer", "Site Reliability Engineer",
                     "Mobile Engineer", "Machine Learning Engineer", "Security Engineer", "QA Engineer", "Python Developer"),
                    ("design and run services that other teams rely on", "review code and be reviewed", "keep the deployment boring",
                     "take part in an on-call rota of eight", "measure before and after every change")),
    "Product": (("Product Manager", "Product Designer", "UX Researcher", "Technical Writer"),
                ("talk to customers every week", "decide what we leave out", "write short documents that others act on",
                 "test a sketch before it becomes a project")),
    "Sales": (("Account Executive", "Sales Engineer", "Customer Success Manager", "Business Development Representative"),
              ("look after forty accounts in your region", "say honestly what the product cannot do", "plan renewals with finance",
               "bring what you hear back to the product team")),
    "Operations": (("Operations Manager", "Supply Chain Analyst", "Support Specialist", "Office Manager", "Logistics Coordinator"),
                   ("keep orders moving when something breaks", "answer tickets and write down the answer for the next person",
                    "agree on delivery dates with suppliers", "find out why numbers differ")),
    "Finance": (("Financial Analyst", "Accountant", "Payroll Specialist", "Controller"),
                ("close the month in five days", "explain the budget to people who do not like budgets", "prepare audits",
                 "automate what is done by hand today")),
    "People": (("Recruiter", "People Partner", "Learning Specialist"),
               ("fill roles with teams, not for them", "make the first week a good one", "keep salary bands fair and written down")),
})  # fmt: skip
LEVELS = ("", "", "Junior ", "Senior ", "Senior ", "Staff ", "Lead ", "Principal ")
WANTS = ("several years of doing this kind of work", "clear writing in English", "curiosity about how our customers work",
         "experience with a team in more than one time zone", "patience with old systems", "SQL beyond the basics",
         "comfort with numbers", "a second language is welcome, not required", "good judgement about when to ask")  # fmt: skip
OFFERS = ("30 days of leave", "a budget for learning", "a four-day week in summer", "shares in the company", "a desk at home, paid for",
          "parental leave on full pay", "public transport ticket", "two weeks a year from anywhere")  # fmt: skip
EMPLOYMENT = ("Full-time", "Full-time", "Full-time", "Full-time", "Part-time", "Contract", "Internship")
