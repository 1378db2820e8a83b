#!/bin/sh
# Build the image, start each compose file with a project that has nothing to do, wait until all is healthy, and
# remove it again. Needs Docker with compose; what needs none is checked by tests/house/test_deploy.py.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
docker info >/dev/null 2>&1 || { echo "No container runtime answers here: docker info" >&2; exit 2; }
if [ -e "$here/project" ]; then
    echo "$here/project is there already: this check makes and removes it; move it away" >&2
    exit 2
fi
POSTGRES_PASSWORD=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
export POSTGRES_PASSWORD
project=thresher-check-$$

compose() { docker compose --project-name "$project" -f "$here/$file" "$@"; }
end() {
    for file in compose.yaml compose.postgres.yaml; do compose down --volumes --timeout 60 >/dev/null 2>&1 || true; done
    rm -rf "$here/project"
}
trap end EXIT INT TERM

mkdir "$here/project"
printf 'apps: [jobs]\nfetch: {contact: me@example.com}\n' >"$here/project/thresher.yaml"

file=compose.yaml
compose build
compose run --rm thresher admin create check --generate
compose up --detach --wait --wait-timeout 120
compose exec thresher thresher status
compose down --volumes --timeout 60

file=compose.postgres.yaml
compose run --rm migrate
compose run --rm serve admin create check --generate
compose up --detach --wait --wait-timeout 120 --scale worker=2
compose exec serve thresher status
echo "The image works, on SQLite and on PostgreSQL."
