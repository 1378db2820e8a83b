"""The settings of the outputs and of the alarms. Hours are in the time zone of `queries.sheet`."""

from thresher.core.setting import Setting, guarded, tunable

SETTINGS: tuple[Setting, ...] = (
    guarded(
        "queries.sheet.per_minute",
        60,
        "requests",
        1,
        300,
        "Maximum number of requests to Google Sheets a minute.",
    ),
    tunable(
        "queries.sheet.retries",
        3,
        "retries",
        0,
        20,
        "Retries of all requests of one sync together before an alarm.",
    ),
    tunable("queries.sheet.backoff", 2.0, "seconds", 0, 60, "Wait before the first retry; it doubles."),
    tunable("queries.sheet.append_batch", 100, "rows", 1, 1_000, "New rows in one request to Google Sheets."),
    tunable(
        "queries.sheet.update_batch", 50, "rows", 1, 1_000, "Changed rows in one request to Google Sheets."
    ),
    tunable(
        "queries.alarm.repeat",
        24.0,
        "hours",
        0,
        8_760,
        "Time before an alarm that is still open is told again.",
    ),
    tunable("queries.alarm.quiet_from", 22.0, "hour", 0, 24, "Hour of the day at which alarms fall silent."),
    tunable(
        "queries.alarm.quiet_to",
        7.0,
        "hour",
        0,
        24,
        "Hour of the day at which alarms are told again; the same as queries.alarm.quiet_from: never silent.",
    ),
    tunable(
        "queries.alarm.digest", 8.0, "hour", 0, 24, "Hour of the daily digest of open alarms; 24: no digest."
    ),
)
