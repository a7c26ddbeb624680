"""The games of a run: filtered, sorted, in pages. The address has all settings, and can be shared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any, get_args
from urllib.parse import urlencode

from ...errors import WolflabError
from ...lab.runs.read_rows import ReadRows, RunRows
from ...lab.storage.overview import (
    RESULTS,
    SORTS,
    STATUSES,
    STOPPED,
    EndedBy,
    GameEnd,
    GameFilter,
    GameSort,
    ListedGame,
    RunOverview,
    nothing_known,
)
from ...metrics.measure import Measure
from ...metrics.registry import MEASURES, unknown_measure
from ...metrics.rows import GameValue
from ...metrics.summary import COST
from ..report.measures import SECTION_TITLES
from ..report.numbers import NO_NUMBER, UNKNOWN, number
from ..report.report_table import Cell, TableRow
from ..web.refusals import Refused
from ..wording import counted, counted_units, cut, status_in_words
from .frame import browse_page, choices, leading_table, notice_html, page_head, refreshed
from .run_index import IndexedRun, RunIndex, looking, quoted_path
from .run_lists import PAGE, pager

WON: Mapping[EndedBy, str] = {"village": "the village", "werewolves": "the Werewolves", "nobody": "nobody"}
_MOST = 10**9
"""The largest number in an address."""
_HEADS: Mapping[GameSort | str, str] = {
    "game": "game",
    "condition": "condition",
    "deal": "deal",
    "repeat": "repeat",
    "status": "status",
    "won": "won by",
    "rounds": "rounds",
    "seconds": "seconds",
    "calls": "calls",
    "tokens": "tokens",
    "compare": "",
}
_SORT_NAMES: Mapping[GameSort, str] = {
    "game": "number",
    "condition": "condition",
    "deal": "deal",
    "status": "status",
    "rounds": "rounds",
    "seconds": "time it took",
    "tokens": "tokens",
    "measure": "the measure",
}
_CHOSEN = {
    "condition": "condition",
    "deal": "deal",
    "status": "status",
    "result": "won by",
    "model": "model",
    "why": "stopped with",
    "measure": "measure",
    "counted": "games it does not count",
    "baseline": "compared with",
}
"""Fields of an address that choose games, in words."""
_ORDERS = ("up", "down")
_COUNTED = {"yes": "left out"}
_ERROR = 200
"""The most characters of a game's error in a row."""


@dataclass(frozen=True, slots=True)
class GamesAsked:
    """The query of an address: which games, and which page of them."""

    wanted: GameFilter = field(default_factory=GameFilter)
    page: int = 1

    @classmethod
    def read(cls, given: Mapping[str, str]) -> GamesAsked:
        """Read an address's fields. Refused for an invalid value."""
        check_query_fields(given, (*_CHOSEN, "sort", "order", "page"))
        told = {name: value for name, value in given.items() if value}
        status, result, sort = told.get("status"), told.get("result"), told.get("sort", "game")
        for name, value, known in (
            ("status", status, (*STATUSES, STOPPED)),
            ("result", result, RESULTS),
            ("sort", sort, SORTS),
            ("order", told.get("order"), _ORDERS),
            ("counted", told.get("counted"), _COUNTED),
        ):
            if value is not None and value not in known:
                raise Refused(422, f"{name}={value[:80]} means nothing here; use one of {', '.join(known)}")
        _check_needs(told)
        deal = address_number(told, "deal", 0)
        wanted = GameFilter(
            told.get("condition"),
            deal,
            status,
            next((one for one in RESULTS if one == result), None),
            told.get("model"),
            told.get("why"),
            told.get("measure"),
            told.get("counted"),
            told.get("baseline"),
            next(one for one in SORTS if one == sort),
            told.get("order") == "down",
        )
        return cls(wanted, address_number(told, "page", 1) or 1)

    def address(self, **changes: object) -> str:
        """The address with some fields changed; of the first page unless a page is named."""
        page = changes.pop("page", 1)
        wanted = replace(self.wanted, **changes)  # type: ignore[arg-type]
        if wanted.condition is None:
            wanted = replace(wanted, baseline=None)
        if wanted.measure is None:
            sort: GameSort = "game" if wanted.sort == "measure" else wanted.sort
            wanted = replace(wanted, counted=None, sort=sort)
        fields: dict[str, object] = {
            name: value for name in _CHOSEN if (value := getattr(wanted, name)) is not None
        }
        if wanted.sort != "game":
            fields["sort"] = wanted.sort
        if wanted.down:
            fields["order"] = "down"
        if page != 1:
            fields["page"] = page
        return f"games?{urlencode(fields)}" if fields else "games"


def _check_needs(told: Mapping[str, str]) -> None:
    """Refuse a measure that is none, and what needs a measure or a condition without it."""
    name = told.get("measure")
    if name is not None and (unknown := unknown_measure(name[:80])):
        raise Refused(422, unknown)
    needs = next(
        (one for one, asks in (("sort", "measure"), ("counted", "yes")) if told.get(one) == asks), None
    )
    if told.get("baseline") and not told.get("condition"):
        raise Refused(422, "baseline is compared with a condition; choose one too: condition=NAME")
    if name is None and needs is not None:
        raise Refused(422, f"{needs}={told[needs]} is about a measure; choose one too, such as measure=dc")


def address_number(given: Mapping[str, str], name: str, least: int) -> int | None:
    """A number of an address; None if it is absent. Refused if it is not a number."""
    text = given.get(name)
    if text is None or text == "":
        return None
    if not (text.isascii() and text.isdecimal() and least <= int(text[:12]) <= _MOST):
        raise Refused(422, f"{name}={text[:80]} is no whole number from {least} to {_MOST:,}")
    return int(text)


def check_query_fields(given: Mapping[str, str], known: Sequence[str]) -> None:
    """Refuse an address with an unknown field: the page would not be what was asked for."""
    for name in given:
        if name not in known:
            raise Refused(422, f"{name[:80]} is not known here; an address may have {', '.join(known)}")


def games_form(
    overview: RunOverview, conditions: Mapping[str, object], measures: Sequence[Measure], asked: GamesAsked
) -> str:
    """The form for choosing games, as HTML. conditions: by name. measures: those to choose from."""
    wanted = asked.wanted

    def named(names: Mapping[str, str]) -> list[tuple[str, str]]:
        return [("", "any"), *names.items()]

    models = named({name: name for name in overview.models()})
    statuses = named({**{one: status_in_words(one) for one in STATUSES}, STOPPED: "stopped, with a reason"})
    by_section: dict[str, list[tuple[str, str]]] = {}
    for measure in measures:
        by_section.setdefault(SECTION_TITLES[measure.section], []).append((measure.name, measure.label))
    counted_by = [("", "shown"), *_COUNTED.items()]
    of_measures = [
        choices("Measure", "measure", [("", "none")], wanted.measure or "", by_section),
        choices("Games it does not count", "counted", counted_by, wanted.counted or ""),
    ]
    fields = [
        choices("Condition", "condition", named({name: name for name in conditions}), wanted.condition or ""),
        choices("Status", "status", statuses, wanted.status or ""),
        choices("Won by", "result", named({name: WON[name] for name in RESULTS}), wanted.result or ""),
        choices("Model", "model", models, wanted.model or "") if len(models) > 2 else "",
        '<label>Deal <input name="deal" inputmode="numeric" size="6" '
        f'value="{"" if wanted.deal is None else wanted.deal}"></label>',
        *(of_measures if measures else []),
        choices("Sorted by", "sort", [(one, _SORT_NAMES[one]) for one in SORTS], wanted.sort),
        choices("Order", "order", [("", "upwards"), ("down", "downwards")], "down" if wanted.down else ""),
    ]
    for name, value in (("why", wanted.why), ("baseline", wanted.baseline)):
        if value is not None:
            fields.append(f'<input type="hidden" name="{name}" value="{escape(value)}">')
    return (
        f'<form class="choose" action="games" method="get">{"".join(fields)}'
        '<button type="submit">Show games</button></form>'
    )


def games_page(index: RunIndex, run: IndexedRun, asked: GamesAsked) -> str:
    """The page."""
    counts, wanted, notices = index.counts(run), asked.wanted, ""
    try:
        kept: RunRows | None = index.rows(run)
    except WolflabError as error:
        kept = None
        untold = "Who won is not told" if wanted.measure is None else "Who won and the measure are not told"
        notices = notice_html(f"{untold}: {error}")
    end_of = nothing_known if kept is None else kept.ends
    unpriced = wanted.measure == COST and bool(index.cost(run).models)
    if unpriced:
        notices += notice_html("The cost of a game is not known, because not all of its models have a price.")
    value_of = (
        nothing_known if kept is None or wanted.measure is None or unpriced else kept.values(wanted.measure)
    )
    with looking(run) as overview:
        if wanted.result is not None or wanted.sort == "rounds":
            notices += _all_read(end_of, overview, run, wanted, "it is not known who won")
        if wanted.counted is not None or wanted.sort == "measure":
            notices += _all_read(value_of, overview, run, wanted, "the value is not known")
        total = overview.count(wanted, end_of, value_of)
        pages = max(1, -(-total // PAGE))
        page = min(asked.page, pages)
        shown = overview.page(wanted, (page - 1) * PAGE, PAGE, end_of, value_of)
        for reading, statuses in ((end_of, ("done",)), (value_of, ("done", "void"))):
            if isinstance(reading, ReadRows):
                reading.look(overview, [game.id for game in shown if game.status in statuses])
        form = games_form(overview, counts.by, () if kept is None else kept.measures, asked)
    measure = None if wanted.measure is None else MEASURES[wanted.measure]
    rows = [_row(game, end_of(game.id), measure, value_of(game.id)) for game in shown]
    words = (1,) if measure is None else (2,)
    first = (page - 1) * PAGE + 1
    caption = f"Games {first:,} to {first + len(shown) - 1:,} of {total:,}" if shown else "No games"
    table = (
        leading_table(caption, _heads(asked), rows, words) if rows else notice_html("No game is like that.")
    )
    steps = pager(page, pages, lambda n: asked.address(page=n))
    live = not counts.finished
    body = page_head("Games", _chosen(asked)) + form + notices + refreshed(table, live) + steps
    return browse_page(f"Games of {run.name}", body, [("../../", "All runs"), ("./", run.name)], live)


def _all_read(
    reading: object, overview: RunOverview, run: IndexedRun, wanted: GameFilter, untold: str
) -> str:
    """Read the rows that a filter or an order needs. Returns a notice, if some cannot be read."""
    condition = wanted.condition if wanted.baseline is None else None
    missing = reading.look(overview, condition=condition) if isinstance(reading, ReadRows) else 0
    if not missing:
        return ""
    return notice_html(
        f"Of {counted(missing, 'game')} {untold}: other measures were counted when they were "
        f"played. This counts them: wolflab report {quoted_path(run)}"
    )


def _chosen(asked: GamesAsked) -> str:
    """The active filters, each with a link that removes it."""
    said = []
    for name, words in _CHOSEN.items():
        value = getattr(asked.wanted, name)
        if value is not None:
            lift = escape(asked.address(**{name: None}))
            shown = escape(cut(_in_words(name, value), _ERROR))
            said.append(
                f"{words} <b><bdi>{shown}</bdi></b> "
                f'(<a href="{lift}">any<span class="unseen"> {words}</span></a>)'
            )
    return "; ".join(said) or "all of them"


def _in_words(name: str, value: Any) -> str:
    """The value of one of these filters."""
    match name:
        case "status":
            return status_in_words(value)
        case "result":
            return WON[value]
        case "measure":
            return MEASURES[value].label
        case "counted":
            return _COUNTED[value]
    return str(value)


def _heads(asked: GamesAsked) -> list[Cell | str]:
    """The heads. A sortable one links to that order, and the second time to the reverse."""
    words_of = dict(_HEADS)
    hints: dict[str, str] = {}
    if asked.wanted.measure is not None:
        measure = MEASURES[asked.wanted.measure]
        words_of = {"game": "game", "measure": measure.label, **words_of}
        hints = {"measure": measure.says}
    heads: list[Cell | str] = []
    for key, words in words_of.items():
        sort = next((one for one in get_args(GameSort) if one == key), None)
        if sort is None:
            heads.append(words)
            continue
        now = asked.wanted.sort == sort
        arrow = (" ↓" if asked.wanted.down else " ↑") if now else ""
        to = asked.address(sort=sort, down=now and not asked.wanted.down)
        heads.append(Cell(words + arrow, to=to, hint=hints.get(key, "")))
    return heads


def _row(game: ListedGame, end: GameEnd | None, measure: Measure | None, value: GameValue | None) -> TableRow:
    over = game.status in ("done", "void")
    error = (cut(game.error, _ERROR),) if game.error and not over else ()
    return [
        Cell(str(game.id), to=f"replay/{game.id}.html"),
        *([] if measure is None else [_value_cell(game.id, measure, value) if over else NO_NUMBER]),
        Cell(game.condition, to=f"games?{urlencode({'condition': game.condition})}"),
        Cell(str(game.deal), to=f"games?{urlencode({'deal': game.deal})}"),
        str(game.repeat),
        Cell(status_in_words(game.status), under=error, look="yes" if error else ""),
        "–" if end is None else WON[end.by],
        "–" if end is None else str(end.rounds),
        f"{game.seconds:.1f}" if game.seconds is not None else "–",
        number(game.calls, "count"),
        number(game.tokens, "large"),
        Cell("compare", to=f"compare?a={game.id}") if over else "",
    ]


def _value_cell(game: int, measure: Measure, value: GameValue | None) -> Cell:
    """A measure in a finished game, with a link to what it counts there. value: None if it is not known."""
    if value is None:
        return Cell(UNKNOWN)
    if not value.n:
        return NO_NUMBER
    text = "no value" if value.value is None else number(value.value, measure.unit)
    if measure.signed and value.value is not None and value.value > 0:
        text = f"+{text}"
    to = f"replay/{game}.html#{urlencode({'as': 'moderator', 'measure': measure.name})}"
    return Cell(text, under=() if value.units == "games" else (counted_units(value.n, value.units),), to=to)
