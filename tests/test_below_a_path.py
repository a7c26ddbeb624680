"""Every server behind a proxy that puts a path before it (`proxy_pass`): links, forms, redirects, cookies."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from html import unescape
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import urljoin

import httpx2
import pytest
from starlette.testclient import TestClient

from prefixing import PREFIX, Prefixing
from study_helpers import written
from web_helpers import in_no_time
from wolflab.lab.plans.loading import build
from wolflab.lab.runs import runner
from wolflab.lab.storage.store import Store
from wolflab.lab.studies.people import step_of
from wolflab.ui.browse.browse_app import runs_application
from wolflab.ui.browse.run_index import RunIndex
from wolflab.ui.commands import serve as serving
from wolflab.ui.study.study_app import study_application
from wolflab.ui.study.study_server import StudyServer
from wolflab.ui.web.table_app import application
from wolflab.ui.web.table_server import TableServer

SITE = "http://lab.test"


def loads(page: httpx2.Response) -> list[str]:
    """What a page loads and where it leads, as a browser works it out."""
    found = re.findall(r'(?:href|src)="([^"]*)"', page.text)
    return [urljoin(str(page.url), unescape(link)) for link in found if not link.startswith(("data:", "#"))]


def forms(page: httpx2.Response) -> Iterator[tuple[str, dict[str, str]]]:
    """Address and fields of each form; of options, the first."""
    for action, inner in re.findall(
        r'<form method="post" action="([^"]*)">(.*?)</form>', page.text, re.DOTALL
    ):
        fields: dict[str, str] = {}
        for tag in re.findall(r"<input[^>]*>", inner):
            name, value = re.search(r'name="([^"]*)"', tag), re.search(r'value="([^"]*)"', tag)
            if name:
                fields.setdefault(name[1], value[1] if value else "1")
        yield urljoin(str(page.url), action), fields


def paths(answer: httpx2.Response) -> list[str]:
    """For which paths an answer's cookies are."""
    kept = SimpleCookie()
    for line in answer.headers.get_list("set-cookie"):
        kept.load(line)
    return [cookie["path"] for cookie in kept.values()]


def test_a_study_is_gone_through_to_its_table(tmp_path: Path) -> None:
    """By its forms alone, as a browser without a script sends them."""
    file = written(tmp_path, quiz=0, after_game=[], interview=[], flags=False)

    async def served() -> None:
        server = StudyServer.open(tmp_path / "run", str(file))
        app = study_application(server, ["lab.test"])
        proxy = Prefixing(app)
        transport = httpx2.ASGITransport(app=proxy)
        async with (
            app.router.lifespan_context(app),
            httpx2.AsyncClient(transport=transport, base_url=SITE) as browser,
        ):
            page = await browser.get(f"{PREFIX}/study", follow_redirects=True)
            assert page.url == f"{SITE}{PREFIX}/study/"
            steps = []
            for _ in range(8):
                for link in loads(page):
                    assert (await browser.get(link, follow_redirects=True)).status_code == 200, link
                action, fields = next(iter(forms(page)))
                came = {"referer": str(page.url), "origin": SITE}
                answer = await browser.post(action, data=fields, headers=came)
                assert answer.status_code == 303
                assert all(path.startswith(f"{PREFIX}/") for path in paths(answer))
                to = urljoin(action, answer.headers["location"])
                if "/t/" in to:
                    break
                page = await browser.get(to)
                steps.append(step_of(server.study, server.people.people["p01"]))
            assert steps == ["consent", "about", "rules", "training"]
            assert re.fullmatch(rf"{SITE}{PREFIX}/t/\w+/s/1/", to)
            assert paths(answer) == [to.removeprefix(SITE)]
            table = await browser.get(to)
            for link in loads(table):
                assert (await browser.get(link)).status_code == 200, link
            assert (await browser.post(f"{to}draft", json={"notes": "a note"})).status_code == 200
            assert proxy.missed == []
            await asyncio.sleep(0)
        server.close()

    in_no_time(served())


@pytest.mark.parametrize("prefix", ["", PREFIX, "/a/b.c"])
def test_cookies_of_a_table_are_for_its_path_as_the_browser_sees_it(tmp_path: Path, prefix: str) -> None:
    app = application(TableServer(tmp_path), ["lab.test"])
    with TestClient(app, base_url=SITE) as browser:
        seats = [{"kind": "person"}] + [{"kind": "agent"}] * 6
        made = browser.post(
            "/tables", json={"rules": "doctor", "seats": seats}, headers={"referer": f"{SITE}{prefix}/"}
        )
        table = f"{prefix}/t/{made.json()['code']}/"
        assert paths(made) == [table]
        joined = browser.post(
            f"/t/{made.json()['code']}/join", json={"name": "Ann"}, headers={"referer": f"{SITE}{table}"}
        )
        assert sorted(paths(joined)) == [f"{table}host/", f"{table}s/0/"]
        left = browser.post(
            f"/t/{made.json()['code']}/s/0/enter",
            json={"secret": joined.json()["secret"]},
            headers={"referer": f"{SITE}{table}s/0/"},
        )
        assert sorted(paths(left)) == [f"{table}host/", f"{table}s/0/"]
    for odd in ("", "nonsense", f"{SITE}/a;b/", f"{SITE}/a b/t/ABCDEF/"):
        with TestClient(app, base_url=SITE) as browser:
            made = browser.post("/tables", json={"rules": "doctor", "seats": seats}, headers={"referer": odd})
            assert paths(made) == [f"/t/{made.json()['code']}/"], "what is no address says nothing"


def test_links_that_are_printed_have_the_path() -> None:
    hosts, url = serving._names("127.0.0.1", 8000, ["lab.test/a/lab/", "lab.test:8443"], True)
    assert url == "https://lab.test/a/lab/"
    assert {"localhost:8000", "lab.test", "lab.test:8443"} <= {*hosts}
    assert not any("/" in host for host in hosts)


def test_no_script_of_a_table_asks_beside_the_path() -> None:
    """Every address that a script writes from "/" on goes through `place.js`, or through `request`."""
    static = Path(__file__).parent.parent / "src/wolflab/ui/web/static"
    for file in sorted(static.glob("*.js")):
        text = re.sub(r"/\*[\s\S]*?\*/|^ *//.*$", "", file.read_text("utf-8"), flags=re.MULTILINE)
        for line in text.splitlines():
            led = re.search(
                r"""(href=|location\.assign\(|location\.origin\}|fetch\(|location\.host\})""", line
            )
            if led and not re.search(r"\bat\(|wayTo\(|lobby\(|#|base64", line):
                raise AssertionError(f"{file.name}: {line.strip()}")


def test_every_link_between_pages_of_runs_stays_below_the_path(tmp_path: Path) -> None:
    plan = {"name": "few", "rules": "doctor", "deals": 2, "players": {"others": {"recipe": "random"}}}
    with Store.create(tmp_path / "few", build(plan)) as store:
        assert runner.play_run(store)
    proxy = Prefixing(runs_application(RunIndex([tmp_path]), ["lab.test"], "token"))
    browser = TestClient(proxy, base_url=SITE)
    first = browser.get(f"{PREFIX}/enter?access=token")
    assert first.url == f"{SITE}{PREFIX}/"
    todo, seen = [str(first.url), f"{SITE}{PREFIX}/no/such/page"], set()
    while todo:
        link = todo.pop().partition("#")[0]
        if link in seen or len(seen) > 60:
            continue
        seen.add(link)
        page = browser.get(link)
        assert page.status_code == (404 if "no/such" in link else 200), link
        if "html" in page.headers["content-type"] and "replay/" not in link:
            todo += loads(page)
    kinds = ("/r/", "games", "compare", "replay/1.html", "static/browse.css", "static/live.js")
    assert all(any(kind in link for link in seen) for kind in kinds)
    assert proxy.missed == []
