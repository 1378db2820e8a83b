#!/bin/sh
# A scraper for the roles app in plain shell: sh, curl, sed and grep.
#
#     THRESHER_URL=http://127.0.0.1:8000 THRESHER_KEY=thr_... sh scraper.sh BOARD
#
# BOARD is the address of a list with one posting a line: id, title, company, place and address, with tabs between them. Put a `look`
# of your own in its place; the rest can stay as it is.
set -eu

if [ $# -ne 1 ] || [ -z "${THRESHER_KEY:-}" ]; then
    echo "THRESHER_KEY=thr_... sh scraper.sh BOARD, where BOARD is the address of a list of postings" >&2
    exit 2
fi
queue="${THRESHER_URL:-http://127.0.0.1:8000}/api/scraper/queue"
board="$1"
tab=$(printf '\t')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

# ask PATH [curl's options]: the answer is in $work/answer, its status is printed. curl tries again by itself, for as long as Retry-After
# says; that is harmless, because what a session is told twice counts once. The key stands in a file, not among the words of a command.
printf 'header = "Authorization: Bearer %s"\n' "$THRESHER_KEY" > "$work/key"
ask() {
    path="$1"; shift
    curl -sS -K "$work/key" --retry 8 --retry-connrefused -o "$work/answer" -w '%{http_code}' -H 'Content-Type: application/json' "$@" "$queue$path"
}

# member NAME: a text of the answer, as JSON writes it.
member() {
    sed -n 's/.*"'"$1"'": "\(\([^"\\]\|\\.\)*\)".*/\1/p' "$work/answer"
}

# look NAME: the postings of the board with that name in their title, as JSON, with commas between them.
look() {
    grep -i -F -e "$1" "$work/board" | sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' \
        -e "s/\([^$tab]*\)$tab\([^$tab]*\)$tab\([^$tab]*\)$tab\([^$tab]*\)$tab\([^$tab]*\)/{\"platform\": \"board\", \"external_job_id\": \"\1\", \"title\": \"\2\", \"company\": \"\3\", \"location\": \"\4\", \"job_url\": \"\5\"}/" \
        -e '$!s/$/,/' || true
}

while status=$(ask /next-role) && [ "$status" = 200 ]; do
    session=$(member session_id)
    name=$(sed -n 's/.*"role": {"id": [0-9]*, "name": "\(\([^"\\]\|\\.\)*\)".*/\1/p' "$work/answer")
    if curl -fsS -o "$work/board" "$board"; then
        jobs=$(look "$(printf '%s' "$name" | sed -e 's/\\\(["\\]\)/\1/g')")
        rows=$(grep -c . "$work/board" || true)
        more=
        # That there is nothing counts only with a proof: here, that the list as a whole is not empty.
        [ -n "$jobs" ] || [ "$rows" = 0 ] || more=', "verdict": "empty", "proof": {"url": "'"$board"'", "control": {"query": "the whole list", "results": '"$rows"'}}'
        printf '{"session_id": "%s", "jobs": [%s]%s}' "$session" "$jobs" "$more" > "$work/body"
        status=$(ask /jobs --data-binary "@$work/body")
    else
        printf '{"session_id": "%s", "reason": "the board does not answer"}' "$session" > "$work/body"
        status=$(ask /fail --data-binary "@$work/body")
    fi
    printf '%s: %s\n' "$name" "$status"
done
[ "$status" = 204 ] || { cat "$work/answer" >&2; exit 1; }
