# A leaderboard: `vcrgen leaderboard serve`, from the wheel, without root. See docs/leaderboard-service.md, "Container".
FROM python:3.12-slim-bookworm AS build
WORKDIR /source
RUN pip install --no-cache-dir build==1.*
COPY . .
RUN python -m build --wheel --outdir /wheels

FROM python:3.12-slim-bookworm
ENV PYTHONUNBUFFERED=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN groupadd --gid 10001 vcr && useradd --uid 10001 --gid vcr --home-dir /srv/vcr --create-home --shell /usr/sbin/nologin vcr
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir "$(echo /wheels/*.whl)[serve,postgres]"
RUN install --directory --owner=vcr --group=vcr /srv/vcr/board
USER 10001:10001
WORKDIR /srv/vcr
# The board, and the sets that it scores; a container is thrown away, these are not.
VOLUME ["/srv/vcr/board"]
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health', timeout=8)"]
ENTRYPOINT ["vcrgen"]
CMD ["leaderboard", "serve", "/srv/vcr/board", "--host", "0.0.0.0", "--port", "8000"]
