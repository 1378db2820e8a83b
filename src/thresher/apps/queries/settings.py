"""The settings of the queries app: pace, windows, limits of a run, alarms."""

from thresher.apps.queries.outputs.settings import SETTINGS as OUTPUTS
from thresher.core.setting import Setting, guarded, tunable

SETTINGS: tuple[Setting, ...] = (
    tunable("queries.pause", 300.0, "seconds", 0, 86_400, "Minimum time between two runs of a query."),
    tunable(
        "queries.jitter",
        0.2,
        "share",
        0,
        1,
        "Random share of the pause that is added to it, so that runs do not fall on the same moments.",
    ),
    tunable(
        "queries.adaptive",
        0,
        "0 or 1",
        0,
        1,
        "1 lets unproductive queries run less often and productive ones more often.",
    ),
    tunable(
        "queries.cadence_min", 6.0, "hours", 0, 720, "Shortest time between two runs of a productive query."
    ),
    tunable(
        "queries.cadence_max",
        24.0,
        "hours",
        0,
        720,
        "Longest time between two runs of an unproductive query.",
    ),
    tunable(
        "queries.empty_runs",
        3,
        "runs",
        1,
        100,
        "Runs in a row without anything new after which the time to the next run doubles.",
    ),
    tunable("queries.history", 30, "days", 0, 3_650, "Days of history of a query without a start date."),
    tunable(
        "queries.lag", 3, "days", 0, 60, "Last days that every run looks at again, for offers that come late."
    ),
    tunable("queries.step", 1, "days", 1, 365, "Days of history that are asked for at a time."),
    tunable("queries.windows", 40, "windows", 1, 200, "Maximum number of windows in one run."),
    tunable("queries.max_pages", 10, "pages", 1, 10_000, "Maximum number of pages in one run of a query."),
    tunable(
        "queries.max_offers", 500, "offers", 1, 1_000_000, "Maximum number of offers in one run of a query."
    ),
    tunable(
        "queries.max_details",
        50,
        "offers",
        0,
        200,
        "Maximum number of offers per run whose own page is fetched, if the list has no description; the rest "
        "follow in later runs.",
    ),
    tunable(
        "queries.recheck_days",
        14,
        "days",
        0,
        365,
        "Days after an offer was found during which its own page is looked at again for changes, with what a run "
        "leaves of queries.max_details; 0: never.",
    ),
    tunable(
        "queries.recheck_every",
        7,
        "days",
        1,
        365,
        "Days from one look at the own page of an offer to the next.",
    ),
    tunable("queries.retries", 3, "retries", 0, 20, "Retries after transient errors in one run of a query."),
    tunable("queries.retry_base", 2.0, "seconds", 0.01, 3_600, "Wait before the first retry; it doubles."),
    guarded(
        "queries.rate_limit_pause",
        6.0,
        "hours",
        0.01,
        168,
        "Pause of a client that refused a request as one too many and did not say how long to wait.",
    ),
    tunable(
        "queries.gone_after",
        2,
        "looks",
        1,
        20,
        "Complete lists in a row that must miss an offer to close it.",
    ),
    tunable(
        "queries.zero_runs",
        3,
        "runs",
        1,
        100,
        "Runs in a row without a single row after which a query that used to have rows raises an alarm.",
    ),
    tunable(
        "queries.failing_runs", 3, "runs", 1, 100, "Failed runs in a row after which a query raises an alarm."
    ),
    guarded(
        "queries.keep_runs",
        90,
        "days",
        1,
        3_650,
        "Age at which runs are removed; the latest 100 of each query stay.",
    ),
    guarded(
        "queries.keep_offers",
        730,
        "days",
        30,
        3_650,
        "Days since an offer was last seen after which it is removed, with what queries found of it; strong "
        "offers stay, and so do the postings.",
    ),
    *OUTPUTS,
)
