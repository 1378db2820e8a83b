"""Postings of other trades than software, with the skills that they ask for, and prose that asks for none."""

ACCOUNTANT = """Northgate Freight is looking for an accountant for its finance team in Leeds.

What you will do
- Own the month-end close and prepare journal entries, accruals and bank reconciliations
- Look after accounts payable and accounts receivable together with two colleagues
- Prepare VAT returns and support the external auditors during the year-end audit
- Report under IFRS and explain variances to the managers of the depots

What you bring
- A degree in accounting, finance or business administration
- Three years in a similar role, ideally ACCA or CIMA qualified
- Solid Excel, and experience with SAP FI or QuickBooks
We offer a pension, free parking and a friendly team that likes to communicate and plan together.
"""
NURSE = """St. Brigid Hospital has an opening for a nurse on its surgical ward, on nights.

Responsibilities
* Assess patients on admission and write nursing care plans
* Medication administration, IV therapy and wound care
* Monitor vital signs, start triage, phlebotomy as ordered
* Chart in Epic and keep to infection control rules

Requirements
* Current RN license in the state of Oregon
* BLS and ACLS, CPR renewed every two years
* One year of med-surg or telemetry unit experience
Shift differential, tuition help and a calm break room.
"""
WELDER = """Halvorsen Steel builds bridges and needs a welder for the second shift.

You will set up and run MIG and TIG welding on structural steel, read blueprints and weld symbols, cut with plasma cutting
tables and oxy-fuel torches, and check your own work with calipers. Overhead crane and forklift experience helps.

You need: AWS D1.1 certification, flux-cored experience, OSHA 10, and steel-toe boots. We test every applicant on the first day.
"""
TEACHER = """Riverside Primary seeks a teacher for Year 4 from September.

You will take care of lesson planning and classroom management for a class of 24, contribute to curriculum development, and keep
parents informed. Pupils with special educational needs are part of every class, so experience with differentiated instruction counts.
You hold QTS or a PGCE, know safeguarding children procedures, and have an enhanced DBS.
"""
POSTINGS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "accountant": (
        "Accountant",
        ACCOUNTANT,
        (
            "month-end close",
            "journal entries",
            "accruals",
            "bank reconciliation",
            "accounts payable",
            "accounts receivable",
            "vat",
            "external audit",
            "ifrs",
            "acca",
            "cima",
            "excel",
            "sap",
            "quickbooks",
        ),
    ),
    "nurse": (
        "Registered Nurse, Surgical Ward",
        NURSE,
        (
            "nursing care",
            "medication administration",
            "iv therapy",
            "wound care",
            "vital signs",
            "triage",
            "phlebotomy",
            "epic",
            "infection control",
            "registered nurse",
            "bls",
            "acls",
            "cardiopulmonary resuscitation",
            "medical-surgical nursing",
            "telemetry",
        ),
    ),
    "welder": (
        "Welder / Fabricator",
        WELDER,
        (
            "mig welding",
            "tig welding",
            "metal fabrication",
            "blueprint reading",
            "oxy-fuel cutting",
            "precision measuring",
            "crane operation",
            "forklift operation",
            "welding certificate",
            "flux-cored welding",
            "osha 10",
        ),
    ),
    "teacher": (
        "Primary School Teacher",
        TEACHER,
        (
            "lesson planning",
            "classroom management",
            "curriculum development",
            "special education",
            "differentiated instruction",
            "teaching licence",
            "safeguarding",
            "dbs check",
        ),
    ),
}
PROSE = (
    "We communicate openly, plan our work together and solve problems as a team.",
    "You take ownership, show leadership and manage your time well. A sense of humour is welcome.",
    "The word on the street is that the outlook is bright: our culture is one of continuous improvement.",
    "Compensation and benefits: health, dental and vision insurance, child care, a gym, and mental health days.",
    "We account for every hour, audit nothing, and bank on trust. Please consult your manager before travel.",
    "Our recruitment process has three steps. Human resources will call you. Reception opens at nine.",
    "A safe pair of hands who can weld a team together, nurse an idea and teach others.",
    "The catering is good, the office has a reception, and flooring was renewed last year.",
    "Equal opportunity employer. We provide reasonable accommodations under the law and protect your data.",
    "Founded in 1987, we make furniture, steel doors, cheese and software for hospitals, banks and schools.",
    "Once upon a time a tailor sewed a coat for a king, and a mason built him a tower of stone.",
    "Sage advice, a tally of votes, the peach tree in the yard, a blender in the kitchen and an illustrator's desk.",
)
