"""What the package index, Docker and a citation get: wheel and sdist in a bare environment, and files of the
form that their readers expect.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest
import yaml

from wolflab import __version__

ROOT = Path(__file__).parent.parent
INSTRUCTIONS = {"FROM", "COPY", "RUN", "USER", "WORKDIR", "ENTRYPOINT"}


def test_the_citation_is_of_this_package() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    package = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert cited["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= cited.keys()
    assert cited["license"] == package["license"]
    assert [one["name"] for one in cited["authors"]] == [one["name"] for one in package["authors"]]
    assert cited["keywords"] == package["keywords"]


def test_the_dockerfile_copies_what_is_there_and_runs_without_root() -> None:
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    steps = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    assert {name for name, _ in steps} == INSTRUCTIONS
    assert steps[0][0] == "FROM"
    assert steps[-1] == ["ENTRYPOINT", '["wolflab"]']
    assert ["USER", "wolflab"] in steps
    sent = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    for name, words in steps:
        for source in words.split()[:-1] if name == "COPY" else []:
            assert (ROOT / source).exists(), source
            assert f"!{source}" in sent, f"{source} is not sent to Docker"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_an_installed_package_runs_in_a_bare_environment(kind: str, tmp_path: Path) -> None:
    """Needs the package index: dependencies are installed as for anybody."""
    venv.create(tmp_path / "env", with_pip=True)
    python, wolflab = tmp_path / "env/bin/python", tmp_path / "env/bin/wolflab"

    def done(*words: object) -> str:
        ended = subprocess.run(
            [*map(str, words)], cwd=tmp_path, capture_output=True, text=True, timeout=900, check=False
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    done(python, "-m", "pip", "install", "-q", "build")
    done(python, "-m", "build", f"--{kind}", "--outdir", tmp_path / "dist", ROOT)
    (made,) = (tmp_path / "dist").iterdir()
    done(python, "-m", "pip", "install", "-q", made)
    assert __version__ in done(wolflab, "--version")
    told = done(wolflab, "run", "quickstart", "--set", "deals=4", "--out", "first")
    assert "report: first/report.html" in told
    assert (tmp_path / "first" / "report.html").is_file()
    listed = done(python, "-c", "import wolflab; print(wolflab.open_run('first').summary.title)")
    assert re.search("planted", listed)
    assert sys.prefix not in listed
