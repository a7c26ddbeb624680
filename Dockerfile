# Wolflab's command in a container. Runs are written to the folder that is mounted at /runs:
#
#   docker build -t wolflab .
#   docker run --rm -v "$PWD/runs:/runs" wolflab run quickstart --out /runs/first
#
# Keys come from the environment (docker run --env-file), never from the image.
FROM python:3.11-slim

COPY pyproject.toml README.md LICENSE /src/
COPY src /src/src
COPY experiments /src/experiments
RUN pip install --no-cache-dir /src && rm -r /src && useradd --create-home wolflab && install -d -o wolflab /runs

USER wolflab
WORKDIR /runs
ENTRYPOINT ["wolflab"]
