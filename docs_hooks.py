"""What MkDocs is told beyond mkdocs.yml: the navigation, the pages outside docs/, words to search for.

The README is the site's first page. `docs/index.md` lists all pages under headings; the navigation is read
from it, so that the list stands once. Links are written for whoever reads the repository; here they are
turned to where their targets lie on the site.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent
DOCS = ROOT / "docs"
MOVED = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "LICENSE": "LICENSE.txt",
    "CITATION.cff": "CITATION.cff",
    "Dockerfile": "Dockerfile.txt",
    "docs/index.md": "pages.md",
    "src/wolflab/ui/mark.svg": "mark.svg",
    "docs/notebook.ipynb": "notebook.md",
    "examples/train_pettingzoo.py": "train_pettingzoo.py",
}
"""Paths in the repository → on the site, where they are not simply those below docs/."""
ANSWERS = {
    "index.md": ["cite", "install", "docker"],
    "quickstart.md": ["resume", "crash"],
    "own-model.md": ["compare"],
    "models.md": ["ollama", "vllm"],
    "power.md": ["sample size"],
    "tournament.md": ["elo"],
    "data.md": ["pandas"],
    "agents.md": ["agent"],
    "training.md": ["reinforcement"],
    "people.md": ["human"],
    "watching.md": ["lied"],
    "studies.md": ["consent"],
    "behaviours.md": ["deception"],
}
"""Page → words that people search for there, and that its title lacks. They weigh more than titles."""
BACKGROUND = re.compile(r"decisions/|contributing\.md|changes\.md|testing\.md")
"""Pages that the search puts after all others."""
FORBIDDEN = (
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'self' 'unsafe-inline' data: blob:\">"
)
"""No page may load anything from another place; the theme's script would, in very old browsers."""

_LINK = re.compile(r"""(?:(?<=\]\()|(?<=\ssrc=")|(?<=srcset="))([^)"\s#:]+)(#[^)"\s]*)?(?=[)"])""")
"""Where a link leads to, and what a picture is loaded from."""
_FENCE = re.compile(r"^```(\w+)(?: run)? file=(\S+)$", re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The navigation: docs/index.md's headings and their links."""
    config.nav = navigation((DOCS / "index.md").read_text(encoding="utf-8"))
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what lies outside docs/; docs/index.md makes room for the README."""
    files.remove(files.src_uris["index.md"])
    for path, uri in MOVED.items():
        if path.endswith(".ipynb"):
            files.append(File.generated(config, uri, content=page_of(ROOT / path)))
        else:
            files.append(File.generated(config, uri, abs_src_path=str(ROOT / path)))
    return files


def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> Navigation:
    """The mark leads to the first page, which MkDocs finds only outside all tabs."""
    nav.homepage = next(page for page in nav.pages if page.file.src_uri == MOVED["README.md"])
    return nav


def page_of(notebook: Path) -> str:
    """A notebook as Markdown: its words, its code, and what each cell shows."""
    parts = []
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        parts.append(f"```python\n{text}\n```" if cell["cell_type"] == "code" else text)
        for output in cell.get("outputs", ()):
            data = output.get("data", {"text/plain": output.get("text", "")})
            kind = next(kind for kind in ("image/svg+xml", "text/html", "text/plain") if kind in data)
            parts.append(_shown(kind, "".join(data[kind])))
    parts.append(f"[The notebook itself]({notebook.name}), to be opened and changed.")
    return "\n\n".join(parts) + "\n"


def _shown(kind: str, text: str) -> str:
    """What a cell shows, as it stands in Markdown: HTML without empty lines, which would end it."""
    if kind == "text/plain":
        return f"```text\n{text}\n```"
    inside = text[max(0, text.find("<svg")) :]
    inside = re.sub(r"<style.*?</style>", "", inside, flags=re.DOTALL)
    return "<div>" + re.sub(r"\s*\n\s*", " ", inside) + "</div>"


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links as they are on the site; the name of an example's file above it; how the page is searched for."""
    uri = page.file.src_uri
    page.meta["tags"] = ANSWERS.get(uri, [])
    page.meta["search"] = {
        "boost": 0.001 if BACKGROUND.match(uri) else 1,
        "exclude": uri == MOVED["docs/index.md"],  # the list of all pages has everybody's words
    }
    return _FENCE.sub(r'```\1 title="\2"', relinked(markdown, Path(page.file.abs_src_path or ""), uri))


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Forbid what would be loaded from elsewhere."""
    return output.replace("<head>", f"<head>{FORBIDDEN}", 1)


def navigation(index: str) -> list[dict[str, Any]]:
    """Tabs (`##`), groups in them (`###`), pages by the words of their links."""
    tabs: list[dict[str, Any]] = []
    pages: list[dict[str, Any]] = []
    for line in index.splitlines():
        if heading := re.match(r"(###?) (.+)", line):
            pages = []
            if heading[1] == "##":
                tabs.append({heading[2]: pages})
            else:
                next(iter(tabs[-1].values())).append({heading[2]: pages})
        elif link := re.match(r"(?:-|\d+\.) \[(.+?)\]\((.+?)\)", line):
            pages.append({link[1]: place_of(DOCS / link[2])})
    return tabs


def place_of(file: Path) -> str:
    """Where a file of the repository lies on the site."""
    path = file.resolve().relative_to(ROOT).as_posix()
    return MOVED.get(path, path.removeprefix("docs/"))


def relinked(markdown: str, source: Path, uri: str) -> str:
    """`markdown` of the file `source`, which lies at `uri`, with its links as they are on the site."""
    up = "../" * uri.count("/")

    def moved(link: re.Match[str]) -> str:
        target = source.parent / link[1]
        return up + place_of(target) + (link[2] or "") if target.exists() else link[0]

    return _LINK.sub(moved, markdown)
