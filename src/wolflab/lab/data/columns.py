"""The data tables and their columns. docs/data.md is checked against it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from ...metrics.measure import Measure, Unit
from ...metrics.registry import MEASURES
from ...text.replies.finish import FinishReason

ColumnKind = Literal["integer", "number", "text", "yes or no"]
DataValue = int | float | str | bool | None
DataRow = dict[str, DataValue]
"""A row: column → value."""


class Column(NamedTuple):
    """One column. unit: "" without one. All columns except those of `PLACE` may be empty."""

    name: str
    kind: ColumnKind
    meaning: str
    unit: str = ""


PLACE = (
    Column("game", "integer", "the game's number in the run, from 1"),
    Column("condition", "text", "the condition that it belongs to"),
    Column("deal", "integer", "the deal: games of one deal have the same cards"),
    Column("repeat", "integer", "the repeat of that deal"),
    Column("counts", "yes or no", "whether the game counts: it is done, and not void"),
)
"""The first columns of every table except `people`."""


def _seat(name: str, words: str) -> tuple[Column, Column, Column]:
    """The columns of a player: seat, name and role. words: describe the player."""
    first = f"{name}_" if name else ""
    return (
        Column(f"{first}seat", "integer", f"{words}: the seat, from 0"),
        Column(f"{first}player", "text", f"{words}: what the player is called in the game"),
        Column(f"{first}role", "text", f"{words}: the role"),
    )


_ASK = (
    Column("ask", "text", "the ask's id: round/kind/seat"),
    Column("round", "integer", "the round (a night and the day after it), from 1"),
)

_WHAT_FOR = (
    Column(
        "asker",
        "text",
        "who asks: a game (game/3), a judge or monitor (item/…), or the test whether a server repeats its "
        "words (asked twice/…)",
    ),
    *_ASK,
    Column("kind", "text", "what was asked"),
    *_seat("", "whose decision it serves"),
    Column("step", "text", "the step within the agent's work: act, deduce/3 …"),
)

_USED = (
    Column("prompt_tokens", "integer", "tokens of prompts", "tokens"),
    Column("cached_tokens", "integer", "those of them that came from the server's cache", "tokens"),
    Column("completion_tokens", "integer", "tokens of replies", "tokens"),
    Column("cost", "number", "by the price of the model; empty where that is not known of all of it", "USD"),
    Column("estimated", "yes or no", "whether tokens may be estimated: a server did not count all of them"),
)

_SITTING = (
    Column("person", "text", "who of a study sat there, by the study's own name for them"),
    Column("session", "integer", "in which of their visits they began the game, from 1"),
    Column("game_index", "integer", "the index of the game among theirs, from 1; 0 for a training game"),
)
"""The person of a study; empty without one."""

TABLES: Mapping[str, tuple[Column, ...]] = {
    "games": (
        *PLACE,
        Column("state", "text", "done, void, unfinished, failed or planned"),
        Column("error", "text", "why a game is not over"),
        Column("winner", "text", "village, werewolves or nobody"),
        Column("reason", "text", "why the game ended"),
        Column("rounds", "integer", "how many were begun", "rounds"),
        Column("seats", "integer", "how many play", "players"),
        Column("alive", "integer", "how many live at the end", "players"),
        Column("seconds", "number", "how long it took to play", "seconds"),
        Column("erased", "yes or no", "whether words of people were erased"),
        Column(
            "calls", "integer", "how many were made to language models; of a run of none, to all", "calls"
        ),
        *_USED,
        Column("latency", "number", "how long these calls took together", "seconds"),
        *_SITTING,
        Column(
            "trained",
            "yes or no",
            "whether that person had trained with these cards; empty for no study, or where it is not known",
        ),
        Column("wording", "integer", "the number of the wording of its prompts; 0: as written"),
        Column("parent", "integer", "of a fork: the game that it goes on from"),
        Column("fork_turn", "text", "of a fork: the ask's id of the turn from which it goes on"),
        Column("fork_change", "text", "of a fork: none, say, silent, stance, other-seat or other-sheriff"),
        Column("continuation", "integer", "of a fork: the number of the continuation, from 0"),
        Column("x_seat", "integer", "of a fork: the seat whose name is {x}"),
        Column("y_seat", "integer", "of a fork: the seat whose name is {y}"),
    ),
    "players": (
        *PLACE,
        *_seat("", "the player"),
        Column("side", "text", "village or werewolves"),
        Column("model", "text", "who plays, at the beginning: the model's name"),
        Column("recipe", "text", "and the recipe's"),
        Column("won", "yes or no", "whether its side won; empty where neither did"),
        Column("left_round", "integer", "the round in which the player left; empty for a survivor"),
        Column("left_by", "text", "night, vote or shot"),
        *_SITTING,
    ),
    "days": (
        *PLACE,
        Column("round", "integer", "the round, from 1"),
        Column("alive", "integer", "how many live at dawn", "players"),
        Column("died", "integer", "how many died in the night before", "players"),
        *_seat("sheriff", "the Sheriff when the vote was counted"),
        Column("statements", "integer", "how many the discussion has, silence left out", "statements"),
        Column("votes", "integer", "how many voted for a player", "votes"),
        *_seat("voted_out", "who was voted out"),
    ),
    "votes": (
        *PLACE,
        *_ASK,
        Column("kind", "text", "vote, elect (of a Sheriff), or a straw poll: straw, straw2 …"),
        *_seat("", "who votes"),
        *_seat("target", "for whom; empty where for nobody"),
        Column("target_wolf", "yes or no", "whether the target is a Werewolf"),
        Column("weight", "integer", "how many votes it counts for, by the role of whoever votes", "votes"),
        Column("invalid", "text", "why the reply could not be used, and a stand-in was taken"),
    ),
    "statements": (
        *PLACE,
        Column("round", "integer", "the round"),
        Column("position", "integer", "its place among all statements of the game, from 1"),
        Column("phase", "text", "discussion, election or last words"),
        *_seat("", "who speaks"),
        Column("person", "yes or no", "whether a person said it"),
        Column("text", "text", "the words; empty for silence, and for a person's words without `texts`"),
        Column(
            "unread", "yes or no", "whether it could not be read, since it is not English; empty for silence"
        ),
        Column("pasted", "yes or no", "whether a study's person pasted something; empty without `signals`"),
        Column("away", "number", "how long the page was out of sight meanwhile; likewise", "seconds"),
    ),
    "contradictions": (
        *PLACE,
        Column("round", "integer", "the round"),
        Column("position", "integer", "the statement's place among all statements of the game, from 1"),
        *_seat("", "who speaks"),
        Column(
            "kind", "text", "what contradicts what the speaker knows: role, result, accusation or defence"
        ),
        *_seat("about", "whose role or side the words are about"),
        Column("why", "text", "the evidence, in a sentence"),
        Column("listeners", "integer", "the audience without that player", "players"),
        Column(
            "judging", "integer", "those of them who judged that player before and on the next day", "players"
        ),
        Column(
            "reliability_before",
            "number",
            "their mean judgement of that player before the statement",
            "1 to 10",
        ),
        Column("reliability_after", "number", "their mean last judgement on the next day", "1 to 10"),
        Column(
            "audience",
            "integer",
            "living players who heard it, without the speaker's fellow Werewolves",
            "players",
        ),
        Column(
            "judging_speaker",
            "integer",
            "those of them who judged the speaker before and on the next day",
            "players",
        ),
        Column("speaker_before", "number", "their mean judgement of the speaker before it", "1 to 10"),
        Column("speaker_after", "number", "their mean last judgement of it on the next day", "1 to 10"),
    ),
    "judgements": (
        *PLACE,
        *_ASK,
        Column("kind", "text", "what was asked when the judgement was made"),
        *_seat("", "who judges"),
        *_seat("target", "who is judged"),
        Column("guess", "text", "the role that is guessed; empty where trust alone is asked for"),
        Column(
            "confidence", "integer", "how sure it is: 5 is a guess; 0 where none was asked for", "5 to 10"
        ),
        Column(
            "reliability",
            "integer",
            "m: 1 is surely a Werewolf, 10 surely not; empty where a role alone is asked for",
            "1 to 10",
        ),
        Column("correct", "yes or no", "whether the guess is the role; empty where no role is guessed"),
        Column(
            "at_vote",
            "yes or no",
            "whether it was made for the vote, as those of Ratio are; no for straw polls",
        ),
        Column("reasoning", "text", "the reason that the player gave"),
    ),
    "decisions": (
        *PLACE,
        *_ASK,
        Column("kind", "text", "what was asked: vote, statement, kill, see …"),
        Column("probe", "yes or no", "whether it was asked outside the game"),
        *_seat("", "who decides"),
        Column("action", "text", "pick, pass, say, lead or answer; empty where a probe got no usable reply"),
        *_seat("target", "who was picked"),
        Column("answer", "yes or no", "of a question with yes or no"),
        Column("invalid", "text", "why the reply could not be used, and a stand-in was taken"),
        Column("mistakes", "integer", "how many replies could not be used, repeated asks counted", "replies"),
        Column("several_answers", "integer", "how many gave several answers; the last was taken", "replies"),
        Column("candidates", "integer", "how many actions were proposed before one was taken", "actions"),
        Column("candidates_asked", "integer", "how many were asked for; fewer may have come", "actions"),
        Column("reasoning", "text", "the reasoning that came with the action"),
        Column(
            "shared", "yes or no", "of a fork: whether it has the decision from its parent or by its change"
        ),
    ),
    "candidates": (
        *PLACE,
        *_ASK,
        Column("kind", "text", "what was asked"),
        *_seat("", "who proposes"),
        Column("candidate", "integer", "its index among the candidates, from 0"),
        Column("action", "text", "the action in words"),
        Column("reasoning", "text", "the reason given for it"),
        Column("chosen", "yes or no", "whether it was taken"),
        Column("probability", "number", "what the policy gave it; empty without a policy", "0 to 1"),
        Column("value", "number", "what the policy's critic expected", "rewards"),
        Column(
            "propensity",
            "number",
            "its probability in the draw, after temperature and exploration; empty if nothing was drawn, or "
            "if the record does not tell it",
            "0 to 1",
        ),
        Column("own_choice", "yes or no", "whether the model itself chose it; empty without exploration"),
        Column("explored", "yes or no", "whether exploration drew the choice"),
        Column("stand_in", "yes or no", "whether the model's choice was unusable: the first one was taken"),
    ),
    "calls": (
        Column("game", "integer", "the game's number; empty if the call belongs to no game"),
        *PLACE[1:],
        *_WHAT_FOR,
        Column("attempt", "integer", "0, and one more for each time that it was asked again"),
        Column("model", "text", "the model's name"),
        *_USED,
        Column("latency", "number", "how long the server took until the reply was whole", "seconds"),
        Column("tier", "text", "in which tier of its service the server answered; empty: the usual one"),
        Column("finish", "text", f"how the call ended: {', '.join(FinishReason)}"),
        Column("finish_detail", "text", "the same in a sentence, where the server or Wolflab said more"),
    ),
    "attempts": (
        Column("game", "integer", "the game's number; empty if the attempt belongs to no game"),
        *PLACE[1:],
        *_WHAT_FOR,
        Column("attempt", "integer", "of the call: 0, and one more for each time that it was asked again"),
        Column("model", "text", "the model's name"),
        Column("reason", "text", "why the attempt brought no reply: timed out, connection lost …"),
        Column("maybe_billed", "yes or no", "whether it is not known that it was paid for"),
        Column("prompt_tokens", "integer", "tokens of the prompt; where it is not known, at most", "tokens"),
        Column("completion_tokens", "integer", "tokens of a reply; where it is not known, at most", "tokens"),
        Column("unlimited", "yes or no", "whether nothing limited the reply, so that it may be more"),
        Column("cost", "number", "by the price of the model; empty where that is not known", "USD"),
    ),
    "people": (
        Column("person", "text", "the study's own name for them"),
        Column("cell", "text", "what is fixed for them: the cell's name"),
        Column("condition", "text", "the condition that they play"),
        Column("row", "integer", "their row of the Latin square in their cell, from 0"),
        Column(
            "sessions", "integer", "how often they came, after half an hour or more without a word", "visits"
        ),
        Column("tries", "integer", "at the quiz, until it was right; empty before the first", "tries"),
        Column("step", "text", "the last step that is done: consent, about, game/2 …; debrief: all are"),
        Column("left", "text", "why they have left: stopped at a step, screened out or withdrawn"),
        Column("may_quote", "yes or no", "whether their words may be quoted; empty where they have not said"),
        Column("games", "integer", "how many of their games are over", "games"),
        Column("abandoned", "integer", "how many were broken off, and planned again", "games"),
    ),
    "answers": (
        Column("game", "integer", "the game's number; empty for an answer about no game"),
        *PLACE[1:],
        Column("person", "text", "who answers, by the study's own name for them"),
        Column("step", "text", "where it was asked: about, number/2, after/2, interview"),
        Column(
            "game_index",
            "integer",
            "of which of their games, from 1; empty for none",
        ),
        Column("kind", "text", "question, number (typed for the cards) or flag (a statement is marked)"),
        Column("question", "text", "the question's words; empty for a number and a flag"),
        Column("answer", "text", "of a flag its kind; empty for words that somebody typed, without `texts`"),
        Column("position", "integer", "of a flag: the statement's place among all of the game, from 1"),
        *_seat("target", "of a flag: who said it"),
    ),
}
"""Table → its columns."""

TEXTS: Mapping[str, tuple[Column, ...]] = {
    "calls": (
        Column("prompt", "text", "the messages as JSON: pairs of role and text; empty where none were kept"),
        Column("reply", "text", "the reply; empty for a person's, which stands in `statements`"),
    )
}
"""Columns that a table has only with `texts`."""

_UNITS: Mapping[Unit, str] = {"share": "0 to 1", "out_of": "0 to 1", "points": "-1 to 1", "usd": "USD"}


def _of_measure(measure: Measure) -> Column:
    return Column(measure.name, "number", f"{measure.label}: {measure.says}", _UNITS.get(measure.unit, ""))


_OF_GAMES = {column.name for column in TABLES["games"]}
OF_MEASURES: Mapping[str, tuple[Column, ...]] = {
    "games": tuple(_of_measure(one) for one in MEASURES.values() if one.name not in _OF_GAMES),
    "days": tuple(_of_measure(one) for one in MEASURES.values() if one.by_day is not None),
}
"""The measures that a table has as columns, behind its own: in `games` those whose name is not taken by a
column that says the same, such as `rounds`; in `days` those that are means over days.
"""


def columns_of(table: str, texts: bool = False) -> tuple[Column, ...]:
    """The columns of a table. texts: include prompts and replies."""
    return TABLES[table] + OF_MEASURES.get(table, ()) + (TEXTS.get(table, ()) if texts else ())
