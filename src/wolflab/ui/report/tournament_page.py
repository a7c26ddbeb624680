"""tournament.html: one self-contained page of a tournament. It knows `Standings` and `Extras`.

No request leaves the page, and the same standings give the same bytes. Every number has its interval and its
n. Tables without a real model are marked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING

from ...lab.results.extras import Extras
from ...metrics.shapes import Summary
from ...metrics.standings import SIDE_PARTS, VERSUS, CellRow, Standings
from ...stats.intervals import Estimate
from ...stats.ratings import Rating
from ..wording import (
    counted,
    cut_name,
    differing_opponents,
    failing,
    name_shown,
    prediction_in_words,
    trouble_marks,
)
from . import prose, sections
from .answer import answer_section, answer_to_tournament
from .blocks import PagePart, Passage
from .extras import trouble, who_plays
from .figures import ACCENT, CARD, INK, MUTED, ForestRow, Panel, Picture, drawing, forest, on_page
from .links import NO_LINKS, Links
from .numbers import NO_NUMBER, interval, number, number_cell, p_value, published_cell, shown, spent, tiles
from .report_page import PageSection, ReportPage
from .report_table import Cell, ReportTable, TableRow
from .tournament_tables import (
    cost_figure,
    cost_table,
    losses_table,
    rotation_table,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PART_NAMES: Mapping[str, str] = {"both": "both sides", "village": "as village", "werewolves": "as Werewolves"}

_MATRIX = """<p class="lead">Each row's entrant plays every seat of the village, each column's every
Werewolf. The number is the share of games that the village wins; all cells meet the same deals.</p>"""
_SCORES = """<p class="lead">Mean win rate over an entrant's cells, every opponent counting alike,
itself included where it meets itself; on both sides it is the mean of the two. It depends on who else
takes part.</p>"""
_RATINGS = """<p class="lead">Strengths in log odds of a game, from a team Bradley-Terry model: log odds
that the village wins = side + strength of the village's entrant − strength of the Werewolves'. 0 is the
mean of this field. On both sides it is the mean of the two strengths. A rank's range holds for all ranks
together. openskill's ratings (mean ± standard deviation; 25 ± 8.3 before the first game) are updated
game by game, and depend on their order.</p>"""
_ROTATIONS = """<p class="lead">Entrants sit side by side, on both sides of one table; one of them has the
majority of its seats. Every rotation moves them all on by one, and plays the same deals: so everybody sits on
every seat, and holds every card of a deal, equally often.</p>"""
_SEATED = """<p class="lead">The share of an entrant's seats whose side wins: as village, as Werewolves, and
the mean of the two. A game in which it holds two seats of a side counts twice.</p>"""
_MIXED_RATINGS = """<p class="lead">Strengths in log odds of a game, from a team Bradley-Terry model: log
odds that the village wins = side + mean strength over the village's seats − mean strength over the
Werewolves' seats. So a strength is that of an entrant that holds every seat of a side. 0 is the mean of this
field. On both sides it is the mean of the two strengths. A rank's range holds for all ranks together.</p>"""
_SEATED_DIFFERENCES = """<p class="lead">First − second, in win rate over seats, deal by deal on the deals
that all rotations have. p is a sign-flip test, corrected by Holm within each part.</p>"""
_PREDICTION = """<p class="lead">Each pairing of entrants is left out in turn, and its games are predicted
from all others: by two strengths for each entrant, one as village and one as Werewolves; by one strength for
both; by the advantage of the side alone. Smaller losses are better. Always saying 1/2 has a Brier score of
0.25 and a log loss of 0.693.</p>"""
_COST = """<p class="lead">What an entrant's own calls took, for each game and seat, beside its overall
strength. Pareto-optimal: no other entrant is as strong and as cheap, and better in one of the two, by
these estimates. A strength's interval may hold other orders too.</p>"""
_COST_CAPTION = "Filled and joined: Pareto-optimal."
_RESIDUALS = """<p class="lead">How much oftener the village won than the strengths say. Where the
interval leaves out 0, these two meet in a way that no single strength of either explains. A cell in which
one side won all games has no interval. Each interval is at 95 % by itself: of twenty, one leaves out 0 by
chance.</p>"""
_NO_RESIDUALS = """<p>Whether two meet in a way that strengths do not explain can be told with three entrants
or more on each side.</p>"""
_DIFFERENCES = """<p class="lead">First − second, in score against the opponents that both have, deal by
deal on common deals. p is a sign-flip test, corrected by Holm within each part.</p>"""
_SEQUENCES = """<p class="lead">Cells may stop early, so every interval on this page is a confidence
sequence: it holds at every number of deals at once, and therefore where the run stopped. Ratings have
none that does, and are given without.</p>"""
_BESIDE = """<p class="lead">A difference says that the numbers differ, not why: models, prompts and
dates differ too.</p>"""


def standings_page(
    standings: Standings,
    extras: Extras = Extras(),  # noqa: B008 (frozen)
    tournament: str = "",
    summary: Summary | None = None,
    links: Links = NO_LINKS,
) -> ReportPage:
    """The page as an object. tournament: the file that was run. summary: of its games. links: of its
    cells.
    """

    def replies(_: Standings) -> PagePart:
        if summary is None:
            return ""
        took = "" if standings.instrument else tiles(spent(summary, bool(extras.estimated)))
        return took + Passage() + sections.replies(summary)

    def answer(found: Standings) -> PagePart:
        return answer_section(answer_to_tournament(found, lambda name: name_shown(extras, name)))

    strength, played, open_scores = "Strength", "What was played", "" if not standings.cells else "Strength"
    parts = tuple(
        PageSection(anchor, title, body, under)
        for anchor, title, under, make in (
            ("answer", "Answer", "", answer),
            ("matrix", "Win rates", "", lambda found: _matrix(found, extras, links) if found.cells else ""),
            ("scores", "Scores", open_scores, lambda found: _scores(found, extras)),
            ("ratings", "Ratings", strength, lambda found: _ratings(found, extras)),
            ("differences", "Differences", strength, lambda found: _differences(found, extras)),
            ("prediction", "Which model predicts", strength, _prediction),
            ("cost", "Cost beside strength", strength, lambda found: _cost(found, extras)),
            (
                "published",
                "Comparison with published figures",
                strength,
                lambda found: _published(found, extras),
            ),
            ("who", "Who plays", played, lambda found: who_plays(extras, found.instrument)),
            ("rotations", "Who sat where", played, lambda found: _rotations(found, extras)),
            ("stopping", "Where games stopped", played, _stopping),
            ("replies", "Games, replies and cost", played, replies),
            ("tournament", "What was run", played, lambda _: sections.what_was_run(tournament)),
            ("reading", "How to read this page", "About", _reading),
        )
        if (body := make(standings))
    )
    sub = f'<p class="sub">{escape(standings.description)}</p>' if standings.description else ""
    missing = ""
    if standings.missing:
        left_out = counted(standings.missing, "planned game")
        missing = f'<div class="banner">Left out, because not over yet: {left_out}.</div>'
    banner = prose.BANNER if standings.instrument else ""
    head = f'<header class="top"><div><h1>{escape(standings.title)}</h1>{sub}</div></header>'
    return ReportPage(
        standings.title,
        f"{head}\n{banner}{trouble(extras)}{missing}",
        parts,
        prefix="tournament-",
        instrument=standings.instrument,
    )


# -- sections ---------------------------------------------------------------------------------


def _rotations(standings: Standings, extras: Extras) -> PagePart:
    return _ROTATIONS + rotation_table(standings, extras) if standings.rotations else ""


def _matrix(standings: Standings, extras: Extras, links: Links) -> PagePart:
    rows: list[TableRow] = []
    for village in standings.village:
        cells = [standings.cell(village, werewolves) for werewolves in standings.werewolves]
        shown_here = name_shown(extras, village)
        rows.append([shown_here, *(_cell(cell, extras, links) for cell in cells)])
    met = (name_shown(extras, name) for name in standings.werewolves)
    heads = ["village ↓ \u00a0 Werewolves →", *met]
    drawn = _heat_map(standings, extras)
    figure: PagePart = "" if drawn is None else on_page(drawn, _caption(standings))
    nobody = sum(cell.nobody for cell in standings.cells)
    were = f"{counted(nobody, 'game')} {'was' if nobody == 1 else 'were'} won by neither side"
    note = f"<p>{were}; that counts as not won.</p>" if nobody else ""
    lead = _MATRIX + (_SEQUENCES if standings.level is not None else "")
    table = ReportTable("The village's win rate", heads, rows, instrument=standings.instrument)
    return lead + figure + table + note


def _cell(cell: CellRow | None, extras: Extras, links: Links) -> Cell:
    if cell is None:
        return NO_NUMBER
    found = shown(cell.village_win, "share")
    to = links.games(cell.name, status="done") if found.numbers else ""
    return replace(found, marks=trouble_marks(extras, cell.name), to=to)


def _entrant(name: str, extras: Extras) -> Cell:
    return Cell(name_shown(extras, name), marks=trouble_marks(extras, name))


def _scores(standings: Standings, extras: Extras) -> PagePart:
    rows: list[TableRow] = [
        [_entrant(score.name, extras), *(shown(getattr(score, part), "share") for part in SIDE_PARTS)]
        for score in standings.scores
    ]
    panels = []
    for part in SIDE_PARTS:
        lines = tuple(
            ForestRow(name_shown(extras, score.name), getattr(score, part) or _NOTHING)
            for score in standings.scores
        )
        panels.append(Panel(PART_NAMES[part], lines, percent=True))
    drawn = forest("scores", panels, "Mean win rate of each entrant on both sides and on each")
    heads = ["entrant", *(PART_NAMES[part] for part in SIDE_PARTS)]
    caption = f"Mean win rate. {differing_opponents(standings)}".removesuffix(". ")
    made = ReportTable(caption, heads, rows, instrument=standings.instrument)
    return (_SEATED if standings.rotations else _SCORES) + on_page(drawn) + made


_NOTHING = Estimate(None, None, None, 0, 0, "games")


def _ratings(standings: Standings, extras: Extras) -> PagePart:
    fit = standings.ratings
    if not fit.rows:
        return f"<p>No ratings: {escape(fit.note)}.</p>"
    skills = {(skill.name, skill.side): f"{skill.mu:.1f} ± {skill.sigma:.1f}" for skill in standings.skills}
    rows: list[TableRow] = []
    for rating in sorted(fit.rows, key=lambda r: (r.rank is None, r.rank or 0)):
        rows.append(
            [
                _entrant(rating.name, extras),
                _rank(rating),
                *(
                    shown(estimate, "one", True)
                    for estimate in (rating.overall, rating.village, rating.werewolves)
                ),
                *(skills.get((rating.name, side), "–") for side in ("village", "werewolves") if skills),
            ]
        )
    heads = ["entrant", "rank", *(PART_NAMES[part] for part in SIDE_PARTS)]
    heads += ["openskill, village", "openskill, Werewolves"] if skills else []
    made = ReportTable("Strengths", heads, rows, instrument=standings.instrument)
    side = f"<p>Side: {_in_line(shown(fit.side, 'one', True))}</p>" if fit.side is not None else ""
    if standings.rotations:
        return _MIXED_RATINGS + made + side
    return _RATINGS + made + side + _unexplained(standings, extras)


def _unexplained(standings: Standings, extras: Extras) -> PagePart:
    """For each cell, how far the village's wins are from what the strengths predict."""
    residuals = standings.ratings.residuals
    if not residuals:
        return _NO_RESIDUALS
    cells: list[TableRow] = [
        [
            name_shown(extras, f"{cell.village}{VERSUS}{cell.werewolves}"),
            number_cell(cell.fitted, "share"),
            shown(cell.residual, "points", True),
        ]
        for cell in residuals
    ]
    by_cell = ReportTable(
        "What strengths do not explain",
        ["cell", "village wins by strengths", "observed − that"],
        cells,
        instrument=standings.instrument,
    )
    return f"<details><summary>Cell by cell</summary>{_RESIDUALS}" + by_cell + "</details>"


def _prediction(standings: Standings) -> PagePart:
    said = f"<p>{escape(prediction_in_words(standings.prediction))}</p>"
    if not standings.prediction.pairings:
        return said if standings.prediction.skipped else ""
    return _PREDICTION + losses_table(standings) + said


def _cost(standings: Standings, extras: Extras) -> PagePart:
    if not standings.frontier.rows:
        return ""
    drawn = cost_figure(standings, extras)
    figure: PagePart = "" if drawn is None else on_page(drawn, _COST_CAPTION)
    return _COST + figure + cost_table(standings, extras)


def _rank(rating: Rating) -> Cell:
    """An entrant's rank with its range."""
    if rating.rank is None:
        return NO_NUMBER
    low, high = rating.ranks or (None, None)
    ends = "" if rating.ranks is None else f"{low} to {high}"
    return Cell(str(rating.rank), ends, numbers={"": rating.rank, "low": low, "high": high})


def _in_line(cell: Cell) -> str:
    """A number in a sentence, as HTML."""
    return escape(f"{cell.text} ({'; '.join(cell.lines[1:])})")


def _differences(standings: Standings, extras: Extras) -> PagePart:
    made = Passage()
    for part in SIDE_PARTS:
        rows: list[TableRow] = [
            [
                f"{name_shown(extras, difference.first)} − {name_shown(extras, difference.second)}",
                shown(difference.difference, "points", True),
                p_value(difference.p),
                p_value(difference.p_holm),
            ]
            for difference in standings.differences
            if difference.part == part
        ]
        if rows:
            heads = ["", "difference", "p", "p (Holm)"]
            caption = PART_NAMES[part][0].upper() + PART_NAMES[part][1:]
            made += ReportTable(caption, heads, rows, instrument=standings.instrument)
    lead = _SEATED_DIFFERENCES if standings.rotations else _DIFFERENCES
    return lead + made if made else ""


def _stopping(standings: Standings) -> PagePart:
    if not standings.decisions:
        return ""
    rows: list[TableRow] = [
        [decision.what, "early" if decision.stopped else "at the last deal"]
        for decision in standings.decisions
    ]
    level = f"{100 * (standings.level or 0):g} %"
    caption = f"By confidence sequences at {level}"
    return ReportTable(caption, ["what was decided", "stopped"], rows, instrument=standings.instrument)


def _published(standings: Standings, extras: Extras) -> PagePart:
    made = Passage()
    for name in dict.fromkeys(figure.table for figure in standings.beside):
        kept = [figure for figure in standings.beside if figure.table == name]
        first = kept[0]
        rows: list[TableRow] = [
            [
                Cell(
                    name_shown(extras, f"{figure.village}{VERSUS}{figure.werewolves}"),
                    under=(figure.otherwise,) if figure.otherwise else (),
                ),
                published_cell(
                    figure.value,
                    figure.digits,
                    figure.n,
                    "" if figure.n is None else counted(figure.n, "game"),
                ),
                shown(figure.ours, "plain"),
                figure.verdict,
            ]
            for figure in kept
        ]
        caption = f"{first.title} ({first.source}; {first.version} version)"
        heads = ["cell", "published", "ours", "verdict"]
        made += ReportTable(caption, heads, rows, instrument=standings.instrument, left=(3,))
    return _BESIDE + made if made else ""


def _reading(standings: Standings) -> str:
    """How to read intervals and n, as on an experiment's page; confidence sequences are explained above."""
    interval, counts, *_ = prose.READING
    return sections.reading_section([counts] if standings.level is not None else [interval, counts])


# -- the heat map -----------------------------------------------------------------------------


_TICK = 24
"""The most characters of a name beside the map."""


def _range(standings: Standings) -> tuple[float, float]:
    """The lowest and the highest win rate."""
    values = [cell.village_win.value for cell in standings.cells if cell.village_win.value is not None]
    return min(values, default=0.0), max(values, default=1.0)


def _caption(standings: Standings) -> str:
    low, high = _range(standings)
    caption = f"From {number(low, 'share')} (pale) to {number(high, 'share')} (strong)."
    if standings.beside:
        first = standings.beside[0]
        caption += f" Published: {escape(first.source)} ({escape(first.version)} version)."
    return caption


def _heat_map(
    standings: Standings,
    extras: Extras = Extras(),  # noqa: B008 (frozen)
) -> Picture | None:
    """The win-rate matrix as a figure, None without a finished game: rows village, columns Werewolves."""

    def ticks(names: Sequence[str]) -> list[str]:
        return [cut_name(name_shown(extras, name), _TICK) for name in names]

    if all(cell.village_win.value is None for cell in standings.cells):
        return None
    wide, deep = len(standings.werewolves), len(standings.village)
    alt = "The village's win rate, by who plays the village and who the Werewolves"
    with drawing("tournament", alt, 0.8 + 0.68 * deep) as made:
        axis = made.axes[0]
        _draw(axis, standings, extras)
        axis.set_xlim(0, wide)
        axis.set_ylim(deep, 0)
        axis.set_xticks([k + 0.5 for k in range(wide)], ticks(standings.werewolves))
        axis.set_yticks([k + 0.5 for k in range(deep)], ticks(standings.village))
        axis.xaxis.set_ticks_position("top")
        axis.xaxis.set_label_position("top")
        axis.set_xlabel("Werewolves")
        axis.set_ylabel("village")
        axis.tick_params(axis="both", length=0, labelcolor=INK)
    return made.done


def _draw(axis: Axes, standings: Standings, extras: Extras) -> None:
    from matplotlib.patches import Rectangle

    axis.patch.set_alpha(0)
    for side in ("top", "right", "left", "bottom"):
        axis.spines[side].set_visible(False)
    low, high = _range(standings)
    span = high - low
    printed = {(figure.village, figure.werewolves): figure for figure in reversed(standings.beside)}
    for row, village in enumerate(standings.village):
        for column, werewolves in enumerate(standings.werewolves):
            cell = standings.cell(village, werewolves)
            if cell is None or cell.village_win.value is None:
                axis.text(column + 0.5, row + 0.5, "–", ha="center", va="center", color=MUTED)
                continue
            value = cell.village_win.value
            corner = (column + 0.02, row + 0.03)
            strong = 0.05 + 0.55 * ((value - low) / span if span > 0 else 0.0)  # words stay readable on it
            axis.add_patch(Rectangle(corner, 0.96, 0.94, facecolor=ACCENT, alpha=strong, linewidth=0))
            axis.add_patch(Rectangle(corner, 0.96, 0.94, fill=False, edgecolor=CARD, linewidth=1))
            axis.text(column + 0.5, row + 0.36, f"{value:.2f}", ha="center", va="center", fontweight="bold")
            under = interval(cell.village_win, "one").replace(" to ", "–")
            under += "\nunusable replies" if failing(extras, cell.name) else ""
            beside = printed.get((village, werewolves))
            if beside is not None:
                under += f"\npublished {beside.value:.{beside.digits}f}"
            axis.text(
                column + 0.5,
                row + 0.68,
                under,
                ha="center",
                va="center",
                fontsize=7.5,
                color=INK,
                linespacing=1.2,
            )
