# The program with its language model, for `docker run --rm --network none -v "$PWD":/work vocabgap report .`
FROM python:3.12-slim AS build
WORKDIR /src
COPY constraints.txt pyproject.toml README.md LICENSE ./
COPY data/demo data/demo
COPY pipeline pipeline
RUN python -m venv /opt/vocabgap \
    && /opt/vocabgap/bin/pip install --no-cache-dir --disable-pip-version-check '.[embed]' --constraint constraints.txt \
    && /opt/vocabgap/bin/pip uninstall --yes pip

FROM python:3.12-slim
COPY --from=build /opt/vocabgap /opt/vocabgap
RUN useradd --create-home --uid 1000 vocabgap \
    && mkdir /work && chown vocabgap:vocabgap /work
# Caches lie where any user may write, for `--user` names another one; nothing is looked for on a hub.
ENV PATH=/opt/vocabgap/bin:$PATH \
    NUMBA_CACHE_DIR=/tmp/numba \
    XDG_CACHE_HOME=/tmp/cache \
    HF_HUB_OFFLINE=1
USER vocabgap
WORKDIR /work
ENTRYPOINT ["vocabgap"]
CMD ["--help"]
