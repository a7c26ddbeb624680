"""The report's running text, as HTML. Line breaks inside a text mean nothing."""

BANNER = """<div class="banner"><b>Instrument check.</b> No language model played here: the
seats were held by Wolflab's built-in players, or by agents without a model. The numbers serve to test
the instruments. They say nothing about models.</div>"""

LEADERSHIP = """<p class="lead">Ratio: how far the others believe the Sheriff, relative to how far
they believe each other. DC: the share of the others whose vote turned to the Sheriff's between a
straw poll before it spoke and the real vote.</p>"""

LEADERSHIP_FIGURE = """Points with 95 % intervals over deals. Left, the bar is the middle 95 % of
the Ratio when the label “Sheriff” is permuted among the living. Right, ◇ is DC between two straw
polls with nothing said between them, × is DC towards another player's vote."""

ROLES = """<p class="lead">A Seer is believed as a Seer, Sheriff or not. So each role's Ratio
stands beside the standing of players of that role who are not Sheriff. What is left
is the office's share, as far as the same player sits at all seats: a Sheriff of another model or recipe is
apart by that, too.</p>"""

ERROR = """<p class="lead">Every deal was played in several wordings of the prompts. A number differs between
deals (other cards), between wordings (the same in other words), and for the rest (other draws and replies,
and effects of a wording that depend on the cards). These three columns are standard deviations; the interval
of the second is wide if there are few wordings. The standard error of the value is for other deals and other
wordings. More deals leave the part of the wordings as it is, and more wordings leave the part of the deals.
The last two columns say what the standard error would be; both mean twice the games.</p>
"""

MIX = """<p class="lead">Share of the games that count in which the Sheriff had this role. How far a
Sheriff is believed depends on its role, so void games and chance move Ratio if they move these shares away
from those of the cards.</p>
"""

ROLES_FIGURE = """◇ left: players of that role who are not Sheriff. ◇ right: DC between two straw
polls."""

WORDS = """<p class="lead">Whom the Sheriff recommends is read from its words. The persuasion
rate is the net share won of those who did not mean to vote that way already: (a₁ − a₀) / (1 − a₀).
The recommended player is left out. “Missing” counts days on which the Sheriff recommended nobody,
or several.</p>"""

FORKS = """<p class="lead">A fork plays a game once more from one turn on, with other words there.
<b>Identified persuasion</b> is the share of votes for X where the speaker asks for X, minus that share where
it asks for Y, in the same games: how many vote so because of the words, who would not have voted so anyway.
X is the player whom the statement recommended, if it did. The votes of X, of Y and of the speaker are left
out. <b>Votes that differ</b> between two continuations of one game, in which the same was said, are the noise
of the players.</p>"""

PEOPLE = """<p class="lead">One person sits at the table. Ratio: how far that person believes the Sheriff,
relative to how far it believes the other living players. DC: the share of days on which the person's vote
turned to the Sheriff's. Correlation: how alike the person and the agents rank the players whom both have
judged (002, Table 3). In a study people are few and differ: intervals are over people and deals.</p>"""

ENOUGH = """With this number of people, and the spread that was found, a true value can be distinguished from
a fixed one if it differs by at least this much: {}."""

NOT_ENOUGH = """That is too little to say by how much a value must differ to be distinguished from these."""

LEARNING_FIGURE = """By the place of a game among its person's games, with 95 % intervals over people and
deals. “Change a game” in the table is the slope within people: that people differ, or stop early, makes no
slope."""

ASKED = """<p class="lead">Probes ask players what they think of each of the others, outside the game.
Of guesses of roles, the village side's count: Werewolves know their pack. “By chance” is what drawing from
the cards in play, without one's own, would give; a Seer knows more than the cards. Trust in the Sheriff is
asked before and after its statement; beside it stands trust in the others, which that statement moves
too.</p>"""

BELIEFS = """<p class="lead">Mean reliability m at the vote, from 1 (surely a Werewolf) to 10
(surely not). A row is the role of the players who judge, a column the role of those judged; a
Sheriff stands apart from its role. Red doubts, blue trusts.</p>"""

PLAY = """<p class="lead">Neither side wins when the game stops early: at the round limit, at
an assigned Sheriff's death, or as a player leaves without whom the game stops.</p>"""

DEDUCTION = """<p class="lead">Judgements of the village side in force at each vote. The Brier
score runs from 0 (sure and right) to 2 (sure and wrong); skill is what it gains on knowing only
which cards are in play.</p>"""

DEDUCTION_FIGURE = """Each point is one stated confidence (5 to 10), as large as it is frequent. On the
dashed line players mean what they say; below it they are too sure."""

CONTRASTS = """<p class="lead">Conditions meet the same deals, so they are compared on the deals that both
have; “missing” counts those that only one of the two has. Measures that every game has a value of are
compared deal by deal (a randomisation test); every deal then counts once here and every game once above, so
where deals have unequally many games (void ones are replaced by further deals) a difference is not exactly
that of the two means. Of pooled measures it is the difference of the two numbers; the test lets the
conditions change places in each deal. The p of the primary contrast, if the experiment names one, is not
corrected; p (Holm) is corrected over all other contrasts together. p (equivalent), where the experiment has a
margin for the measure, is small if the difference surely lies within the margin.</p>"""

ALONG_FIGURE = """Points with 95 % intervals. Panels in percent share one scale, every other panel has its
own; a scale need not begin at 0."""

ALONG_BASELINE = """The dashed line, with its interval as a band, is <b>{}</b>. Look whether the points
leave the band, and whether they go on in one direction."""

ALONG_SHARED = """The points of one figure may share deals, and what was drawn for one may be part of
what was drawn for the next: neighbours then move together, and overlapping intervals do not show that
two points are equal. Differences stand, deal by deal, under “Differences between conditions” where they
were asked for."""

BEHAVIOURS = """<p class="lead">What the players of each side say and do beyond the rules, counted by
patterns on text and record. A pattern counts what can be seen, never what was meant, and is no better
than what it reads. Longer games hold more of everything: compare conditions on the same deals.
Definitions, examples and limits: <code>docs/behaviours.md</code>. Point at a behaviour's name for its
definition.</p>"""

BEHAVIOURS_FIGURE = """How often a game, with 95 % intervals. All panels of a figure have the same scale,
beginning at 0."""

UNSEEN = """Not seen in any game (games: {}):"""

UNSEEN_AT_MOST = """Each may still show in up to {} (upper ends of the 95 % intervals)."""

UNSEEN_OF = """{} of the games of {}"""

UNSEEN_FEW = """Too few games of {} to tell."""

TRUST = """<p class="lead">Trust of one player in another, as a statement or a reflection of that day
exhibits it (003's Trust Relationship Table). Pairs with trust: the share of ordered pairs of the
living. Established: there today and not the day before (on day 1: all). Dissolved: there the day before
and gone, both still living. Reciprocal: pairs that trust each other. These three are numbers a game.
Day d averages only the games that reached day d, so later days are of other, longer games, and a line
that rises or falls need not be a change within any of them.</p>"""

TRUST_FIGURE = """By day, with 95 % intervals, conditions side by side. A point is smaller where fewer
games reached its day, and hollow where there is no interval. Days that fewer than five deals reached
stand in the tables alone."""

REASONABLE = """<p class="lead">Replies that could be used and show no behaviour of the families
“failure” and “hallucination”. The paper's shares (003, Fig. 4) were judged by a person, who also sees
what no rule does; the two are not the same measure. <code>wolflab annotate sample RUN</code> draws the
blinded sample for such a judgement.</p>"""

REASONABLE_FIGURE = """With 95 % intervals; the scale need not begin at 0."""

ADVICE = """<p class="lead">Decisions with advice: of players with experience, the share for which past
games gave a suggestion. Votes passed: of the village side. Advice followed: 1 − (passed when advised to
act) / (passed without advice). It is 0 if such advice changes nothing, and 1 if nobody who is so
advised passes; without votes of both kinds, or if nobody passes without advice, it cannot be
told.</p>"""

ADVICE_FIGURE = """Points with 95 % intervals; the dashed line is advice without effect. Advice comes in
situations of its own kind, so “advice followed” compares votes that may differ in more than the advice. The
panels share one scale, with 0 on it."""

TROUBLE = """What is counted there says more of replies than of play: (unusable) stands behind these names.
Every such reply, and why:
<code>wolflab errors RUN</code>"""

INTERVIEWS = """<p class="lead">Whoever claims a role that it does not hold, as far as its words are read
rightly, is asked for its reason, outside the game (003, A.4). Nothing of it reaches a player. Longer games
hold more interviews.</p>"""

INTERVIEW_QUOTES = """<p class="lead">What had been said, and the reason given for it. One of each kind in
turn, drawn by lot. A reason is what a player tells about itself, not what made it speak.</p>"""

GROWING = """<p class="lead">The pool grows with the games played, and is taken anew at barriers. Later
points are of other deals, so that a line may rise or fall with the cards: look whether it leaves the other
condition's, which played the same deals.</p>"""

GROWING_FIGURE = """Who learns: {}, from a pool taken anew {}. Points with 95 % intervals, barriers put
together where one alone has too few deals; they stand at their mean. The scale need not begin at 0."""

PLANTED = """<p class="lead">Effects of a known size were put into the players on purpose. Recovered means
that the interval holds what was put in, and leaves 0 out unless that is what was put in.</p>"""

PLANTED_FIGURE = "● what the analysis found, with its 95 % interval; ◇ what was put in."

BESIDE = """<p class="lead">A condition stands beside a row if the same model or recipe plays in it,
whatever the condition is called. Where other seats or the rules are not as there, that
is said under the row. The sources print no
spread. For shares it follows from their n; for Ratio and DC their games are assumed to scatter as ours do.
Their DC is set beside ours divided by N, which their released code computes.</p>"""

REPLIES = """Replies that could not be used: of model calls (retries included; of turns, where no
model is called), and decisions for which the rules' stand-in was applied. Void games count too."""

READING = (
    (
        "Interval",
        """95 %. Games of one deal share cards, so deals are the independent units, not games. Shares
        have Wilson's interval with the number of cases that their variance between deals comes to, and
        Student's t; other numbers have Student's interval. Where the experiment says
        stratify: sheriff_side, games with a Werewolf as Sheriff are weighted to the share of Werewolves
        among the seats; the unweighted number stands beside. Fewer than five deals give no interval.""",
    ),
    (
        "n, missing",
        """n is what was measured, missing what could not be. Void, unfinished and failed games are
        counted, and enter no average.""",
    ),
    (
        "Days",
        """Only days whose vote was counted enter. A day without a straw poll has no DC, one
        without judgements no Ratio.""",
    ),
    (
        "Reliability m",
        """From the guessed role and a confidence of 5 to 10: 11 − confidence for “Werewolf”, else
        the confidence. Players that never deduce answer a separate question, 1 to 10, before the
        vote.""",
    ),
)
