#!/bin/sh
# Build the image, run it alone, start each compose file with a project that has nothing to do, wait until all is
# healthy, and remove it again. DOCKER names another program that speaks as docker does, such as podman. Without
# compose the image alone is checked, and that is said. Exit code 2: nothing could be tried here.
# tests/house/test_deploy.py runs this where a container runtime answers.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
docker=${DOCKER:-docker}
image=thresher:0.1.0
name=thresher-check-$$
seconds=120

$docker info >/dev/null 2>&1 || { echo "No container runtime answers here: $docker info" >&2; exit 2; }
for base in $(sed -n 's/^FROM \([^ ]*\).*/\1/p' "$root/Dockerfile" | sort -u); do
    $docker image inspect "$base" >/dev/null 2>&1 || $docker pull "$base" >/dev/null 2>&1 || {
        echo "$base is not here and cannot be pulled: $docker pull $base" >&2
        exit 2
    }
done
if [ -e "$here/project" ]; then
    echo "$here/project is there already: this check makes and removes it; move it away" >&2
    exit 2
fi
POSTGRES_PASSWORD=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
THRESHER_PORT=0 # any that is free
export POSTGRES_PASSWORD THRESHER_PORT

compose() { $docker compose --project-name "$name" -f "$here/$file" "$@"; }
end() {
    $docker rm --force --volumes "$name" >/dev/null 2>&1 || true
    for file in compose.yaml compose.postgres.yaml; do compose down --volumes --timeout 60 >/dev/null 2>&1 || true; done
    rm -rf "$here/project"
}
trap end EXIT
trap 'exit 1' INT TERM

# What asks an image that serves whether it is well, as its HEALTHCHECK does.
healthy() {
    tries=0
    until $docker exec "$name" python -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/readyz', timeout=5)" 2>/dev/null; do
        tries=$((tries + 1))
        [ "$tries" -lt "$seconds" ] || { $docker logs "$name" >&2; echo "The container did not get ready in time" >&2; exit 1; }
        sleep 1
    done
}

mkdir "$here/project"
printf 'apps: [jobs]\nfetch: {contact: me@example.com}\n' >"$here/project/thresher.yaml"
chmod -R a+rX "$here/project"

# The image alone, as narrow as the compose files make it.
$docker build --tag "$image" "$root"
$docker run --rm "$image" --version
$docker create --name "$name" --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges \
    --volume "$here/project:/project:ro" "$image" up --port 8000 --no-browser
$docker start "$name"
healthy
$docker exec "$name" thresher status
$docker exec "$name" thresher probe
$docker stop -t 45 "$name"
code=$($docker inspect --format '{{.State.ExitCode}}' "$name")
[ "$code" = 0 ] || { echo "The container ended with $code, not in peace" >&2; exit 1; }
echo "The image works alone, and ends in peace."

if ! $docker compose version >/dev/null 2>&1; then
    echo "There is no compose here ($docker compose version): the compose files were not started."
    exit 0
fi

file=compose.yaml
compose build
compose run --rm thresher admin create check --generate
compose up --detach --wait --wait-timeout "$seconds"
compose exec thresher thresher status
compose down --volumes --timeout 60

file=compose.postgres.yaml
compose run --rm migrate
compose run --rm serve admin create check --generate
compose up --detach --wait --wait-timeout "$seconds" --scale worker=2
compose exec serve thresher status
echo "The compose files work, on SQLite and on PostgreSQL."
