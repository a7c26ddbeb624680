"""tournament.html: one self-contained page of a tournament. It knows `Standings` and nothing else.

No request leaves the page, and the same standings give the same bytes. Every number stands with its interval
and its n; what no real model played is marked on every table.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING

from ...metrics.tournament import SIDE_PARTS, CellRow, Standings
from ...stats.intervals import Estimate
from ..wording import cut
from . import prose as prose
from .figures import ACCENT, CARD, INK, MUTED, ForestRow, Panel, drawing, forest, on_page
from .numbers import html_table, interval, number, p_value, shown
from .page import FOOTER, page, sections

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
_RESIDUALS = """<p class="lead">How much oftener the village won than the strengths say. Where the
interval leaves out 0, these two meet in a way that no single strength of either explains.</p>"""
_DIFFERENCES = """<p class="lead">First − second, in score against the opponents that both have, deal by
deal on common deals. p is a sign-flip test, corrected by Holm within each part.</p>"""
_SEQUENCES = """<p class="lead">Cells may stop early, so every interval on this page is a confidence
sequence: it holds at every number of deals at once, and therefore where the run stopped. Ratings have
none that does, and are given without.</p>"""
_BESIDE = """<p class="lead">A difference says that the numbers differ, not why: models, prompts and
dates differ too.</p>"""


def render_standings(found: Standings) -> str:
    """The page as text."""
    parts = [
        (anchor, title, body)
        for anchor, title, make in (
            ("matrix", "Win rates", _matrix),
            ("scores", "Scores", _scores),
            ("ratings", "Ratings", _ratings),
            ("differences", "Differences", _differences),
            ("stopping", "Where games stopped", _stopping),
            ("published", "Beside published figures", _published),
        )
        if (body := make(found))
    ]
    sub = f'<p class="sub">{escape(found.description)}</p>' if found.description else ""
    missing = ""
    if found.missing:
        missing = f'<div class="banner">{found.missing} planned games are not over; they are left out.</div>'
    banner = prose.BANNER if found.instrument else ""
    head = f'<header class="top"><div><h1>{escape(found.title)}</h1>{sub}</div></header>'
    return page(found.title, f"{head}\n{banner}{missing}{sections(parts)}{FOOTER}")


# -- sections ---------------------------------------------------------------------------------


def _matrix(found: Standings) -> str:
    rows = []
    for village in found.village:
        cells = [found.cell(village, werewolves) for werewolves in found.werewolves]
        rows.append([escape(village), *(_cell(cell) for cell in cells)])
    heads = ["village ↓ &nbsp; Werewolves →", *map(escape, found.werewolves)]
    drawn = heat_map(found)
    figure = on_page(drawn, _caption(found)) if drawn else ""
    nobody = sum(cell.nobody for cell in found.cells)
    note = f"<p>{nobody} games were won by neither side; they count as not won.</p>" if nobody else ""
    words = _MATRIX + (_SEQUENCES if found.level is not None else "")
    return (
        words + figure + html_table("The village's win rate", heads, rows, instrument=found.instrument) + note
    )


def _cell(cell: CellRow | None) -> str:
    return '<span class="none">–</span>' if cell is None else shown(cell.village_win, "share")


def _scores(found: Standings) -> str:
    rows = [
        [escape(one.name), *(shown(getattr(one, part), "share") for part in SIDE_PARTS)]
        for one in found.scores
    ]
    panels = []
    for part in SIDE_PARTS:
        lines = tuple(ForestRow(one.name, getattr(one, part) or _NOTHING) for one in found.scores)
        panels.append(Panel(PART_NAMES[part], lines, percent=True))
    drawn = forest("scores", panels, "Mean win rate of each entrant on both sides and on each")
    heads = ["entrant", *(PART_NAMES[part] for part in SIDE_PARTS)]
    made = html_table("Mean win rate", heads, rows, instrument=found.instrument)
    return f"{_SCORES}{on_page(drawn)}{made}"


_NOTHING = Estimate(None, None, None, 0, 0, "games")


def _ratings(found: Standings) -> str:
    fit = found.ratings
    if not fit.rows:
        return f"<p>No ratings: {escape(fit.note)}.</p>"
    skills = {(one.name, one.side): f"{one.mu:.1f} ± {one.sigma:.1f}" for one in found.skills}
    rows = []
    for one in sorted(fit.rows, key=lambda r: (r.rank is None, r.rank or 0)):
        ranks = "" if one.ranks is None else f'<span class="ci">{one.ranks[0]} to {one.ranks[1]}</span>'
        rows.append(
            [
                escape(one.name),
                f"{one.rank}{ranks}" if one.rank is not None else "–",
                *(shown(each, "one", True) for each in (one.overall, one.village, one.werewolves)),
                *(skills.get((one.name, side), "–") for side in ("village", "werewolves")),
            ]
        )
    heads = ["entrant", "rank", *(PART_NAMES[part] for part in SIDE_PARTS)]
    heads += ["openskill, village", "openskill, Werewolves"]
    made = html_table("Strengths", heads, rows, instrument=found.instrument)
    side = f"<p>Side: {shown(fit.side, 'one', True)}</p>" if fit.side is not None else ""
    cells = [
        [
            f"{escape(one.village)} vs {escape(one.werewolves)}",
            number(one.fitted, "share"),
            shown(one.residual, "points", True),
        ]
        for one in fit.residuals
    ]
    rest = html_table(
        "What strengths do not explain",
        ["cell", "village wins by strengths", "observed − that"],
        cells,
        instrument=found.instrument,
    )
    return f"{_RATINGS}{made}{side}<details><summary>Cell by cell</summary>{_RESIDUALS}{rest}</details>"


def _differences(found: Standings) -> str:
    made = ""
    for part in SIDE_PARTS:
        rows = [
            [
                f"{escape(one.first)} − {escape(one.second)}",
                shown(one.difference, "points", True),
                p_value(one.p),
                p_value(one.p_holm),
            ]
            for one in found.differences
            if one.part == part
        ]
        if rows:
            heads = ["", "difference", "p", "p (Holm)"]
            made += html_table(PART_NAMES[part].capitalize(), heads, rows, instrument=found.instrument)
    return _DIFFERENCES + made if made else ""


def _stopping(found: Standings) -> str:
    if not found.decisions:
        return ""
    rows = [[escape(one.what), "early" if one.stopped else "at the last deal"] for one in found.decisions]
    level = f"{100 * (found.level or 0):g} %"
    caption = f"By confidence sequences at {level}"
    return html_table(caption, ["what was decided", "stopped"], rows, instrument=found.instrument)


def _published(found: Standings) -> str:
    made = ""
    for name in dict.fromkeys(one.table for one in found.beside):
        kept = [one for one in found.beside if one.table == name]
        first = kept[0]
        rows = [
            [
                f"{escape(one.village)} vs {escape(one.werewolves)}",
                f"{one.value:.{one.digits}f}"
                + (f'<span class="n">{one.n} games</span>' if one.n is not None else ""),
                shown(one.ours, "plain"),
                escape(one.verdict),
            ]
            for one in kept
        ]
        caption = f"{escape(first.title)} ({escape(first.source)}; {escape(first.version)} version)"
        made += html_table(
            caption, ["cell", "published", "ours", "verdict"], rows, instrument=found.instrument, left=(3,)
        )
    return _BESIDE + made if made else ""


# -- the heat map -----------------------------------------------------------------------------


def _range(found: Standings) -> tuple[float, float]:
    """The lowest and the highest win rate."""
    values = [cell.village_win.value for cell in found.cells if cell.village_win.value is not None]
    return min(values, default=0.0), max(values, default=1.0)


def _caption(found: Standings) -> str:
    low, high = _range(found)
    words = f"From {number(low, 'share')} (pale) to {number(high, 'share')} (strong)."
    if found.beside:
        first = found.beside[0]
        words += f" Published: {escape(first.source)} ({escape(first.version)} version)."
    return words


def heat_map(found: Standings) -> str:
    """The win-rate matrix as SVG, "" without a finished game: rows village, columns Werewolves."""
    if all(cell.village_win.value is None for cell in found.cells):
        return ""
    wide, deep = len(found.werewolves), len(found.village)
    alt = "The village's win rate, by who plays the village and who the Werewolves"
    with drawing("tournament", alt, 0.8 + 0.68 * deep) as made:
        axis = made.axes[0]
        _draw(axis, found)
        axis.set_xlim(0, wide)
        axis.set_ylim(deep, 0)
        axis.set_xticks([k + 0.5 for k in range(wide)], [cut(name, 24) for name in found.werewolves])
        axis.set_yticks([k + 0.5 for k in range(deep)], [cut(name, 24) for name in found.village])
        axis.xaxis.set_ticks_position("top")
        axis.xaxis.set_label_position("top")
        axis.set_xlabel("Werewolves")
        axis.set_ylabel("village")
        axis.tick_params(axis="both", length=0, labelcolor=INK)
    return made.svg


def _draw(axis: Axes, found: Standings) -> None:
    from matplotlib.patches import Rectangle

    axis.patch.set_alpha(0)
    for side in ("top", "right", "left", "bottom"):
        axis.spines[side].set_visible(False)
    low, high = _range(found)
    span = high - low
    printed = {(one.village, one.werewolves): one for one in reversed(found.beside)}
    for row, village in enumerate(found.village):
        for column, werewolves in enumerate(found.werewolves):
            cell = found.cell(village, werewolves)
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
