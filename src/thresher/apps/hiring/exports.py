"""What can be exported of postings."""

from thresher.admin.export import record_export
from thresher.apps.hiring.postings import STATES
from thresher.hiring.kinds import POSTING

PAY = (
    "pay=salary.text|facts.pay.text",
    "pay_low=salary.low|facts.pay.low",
    "pay_high=salary.high|facts.pay.high",
    "currency=salary.currency|facts.pay.currency",
    "period=salary.period|facts.pay.period",
)
POSTINGS = record_export(
    POSTING,
    (
        "title",
        "company_name",
        "location",
        "url",
        "posted",
        "state",
        "completeness",
        "lacks",
        "method",
        "employment_type",
        *PAY,
        "workplace=facts.workplace",
        "level=facts.level",
        "skills=facts.skills",
        "first_seen",
        "seen_at",
        "closed_at",
        "relisted",
        "board",
        "company",
        "group",
        "number",
        "key",
    ),
    STATES,
    status="state",
)
EXPORTS = {"postings": POSTINGS}
