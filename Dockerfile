# Thresher in a container. One image works, serves, or does both: its command says which.
#   docker build -t thresher:0.1.0 .
# 3.14 is the Python for which every package needed is a wheel with a known hash.
FROM python:3.14-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /build
RUN python -m venv /opt/thresher
COPY hashes.txt ./
COPY deploy/hashes.txt deploy/
RUN /opt/thresher/bin/pip install --no-deps --require-hashes --only-binary :all: -r hashes.txt -r deploy/hashes.txt
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY src src
# What builds has served: nothing in the image can install or build anything.
RUN /opt/thresher/bin/pip install --no-deps --no-build-isolation . \
 && /opt/thresher/bin/pip uninstall --yes setuptools pip

FROM python:3.14-slim-bookworm
LABEL org.opencontainers.image.title="thresher" org.opencontainers.image.licenses="MIT"
RUN python -m pip uninstall --yes --root-user-action ignore pip \
 && groupadd --gid 10001 thresher \
 && useradd --uid 10001 --gid 10001 --home-dir /project --no-create-home --shell /usr/sbin/nologin thresher \
 && install --directory --owner 10001 --group 10001 /project /data
COPY --from=build /opt/thresher /opt/thresher
# The project is mounted at /project; a database on SQLite lies in the volume /data.
ENV PATH=/opt/thresher/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    THRESHER_DATABASE_URL=sqlite:////data/thresher.db
WORKDIR /project
USER 10001:10001
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
# Of whatever serves. A worker alone is asked otherwise: thresher probe.
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=5)"]
ENTRYPOINT ["thresher"]
CMD ["up", "--host", "0.0.0.0", "--port", "8000", "--no-browser"]
