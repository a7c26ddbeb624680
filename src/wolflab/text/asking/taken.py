"""Everyday words that no role may be called by, because players and prompts need them for what they mean.

A shown name is read back wherever it stands (`disguise`). Were the Seer called "suspect", then "I
suspect player_3" would speak of a Seer. `disguise` looks through the prompts' own words; this page has
the words of talk, which stand in no template. It knows words and nothing of a question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from ..reading import forms

_SMALL = """
a about above after afterwards again against ago all almost also although always am among an and another any
anybody anyone anything apart are around as ascending at away back be because been before behind being below
beside besides between beyond both but by can cannot certainly clearly could definitely did do does done down
during each earlier early either else enough equally especially even ever every everybody everyone everything
exactly except fairly far few fewer finally first five for four from further had hardly has have having he
hence her here hers herself him himself his how however i if in indeed inside instead into is it its itself
just last late lately later least less lest like likely little many may maybe me might mine more most much
must my myself near nearly neither never next nine no nobody none nor not nothing now of off often on once one
only onto or other others otherwise our ours ourselves out outside over perhaps please possibly probably quite
rather really same second seven several shall she should since six so some somebody someone something
sometimes soon still such surely ten than thank thanks that the their theirs them themselves then there
therefore these they third this those though three through thus till to today together tomorrow tonight too
toward towards twice two under unless until up upon us usually very was we well were what whatever when
whenever where wherever whether which while who whoever whole whom whose why will with within without would
yes yesterday yet you your yours yourself
"""
"""Words that hold every sentence together."""

_VERBS = """
abstain accept accuse act add admit agree allow announce answer appear argue ask assume attack avoid back
bandwagon banish be begin believe betray blame bluff bring bury buy call campaign cast cause challenge change
check choose claim clear come commit compare conclude confess confirm connect consider contradict convince
count counterclaim cover cure deal deceive decide deduce defend deflect demand deny determine die disagree
discover discuss distrust do dodge doubt draw elect eliminate end evade examine execute exile exonerate expect
explain expose extract face fake fall feel fight fill find finger fit follow forget frame gain get give go
guess hang happen have heal hear help hesitate hide hold hope hunt hurt identify imply insist inspect
interview investigate join keep kill know lead learn leave lend let lie like listen live look lose lynch make
mean mention mislead miss mistrust move murder name need nominate notice object observe offer oppose out pass
persuade pick plan play point poison post pretend prevent promise propose prosecute protect prove push put
question quit reach reaction read realise realize recall receive reckon recommend refuse refute reject relate
remain remember remove reply report rescue respond rest reveal ride ring rule run save say see seem select
send settle shield show side sit slip sound speak stand start state stay stop strike succeed suggest sum
support suppose survive suspect switch take talk target tell tend thank think tie treat trust try turn
understand urge use vary verify view vote vouch wait wake want warn weigh win wish withhold wonder work worry
"""
"""What players do at this table, in all their forms."""

_IRREGULAR = """
became began begun bought built caught chose chosen died drawn drew dying fallen fell felt forgot forgotten
fought given got heard held hid hidden hurt kept learnt led left lent lied lost meant met misled proven ran
read ridden rode said sat saw seen sent shown sounded spoke spoken stood struck stuck taken thought told took
understood went woke woken won wore written wrote
"""
"""Forms of theirs that follow no rule and are unknown to `verbs.forms`."""

_OTHERS = """
accusation action advice alibi alive ally announcement answer argument asleep attitude awake aware bad badge
ballot behavior behaviour belief best better bit bloc box bus calm candidate card careful case certain chance
chat choice clean clear close clue coalition conclusion confident connection consensus consistent
contradiction conversation correct counter-claim crowd cunning danger dangerous dark dawn day daybreak daytime
dead deal death debate decision deck defence defense defensive details different difficult discovery
discussion doubtful dusk duty election elimination enemy equally evening event everything evidence evil exact
execution explanation eye face fact fair faith false farewell fault fear finger foe frank free friend full
game genuine good ground group guilt guilty half hand hanging hard harmless head heart hello help helpful
hesitation hidden high higher honest hurry idea identity important impression inactive inconsistent
information innocence innocent intention interest investigation issue item judgement key kind last law leader
league liar life list log logic logical long loser loss lot loud low lower loyal lynching main majority mark
match matter mayoral meeting member message midnight mind minority minute mistake moderator moment mood
morning motive mouth move murder narrator neighbor neighbour neutral new news next night nightfall nighttime
noise nominee noon note number obvious old open opening openly opinion opponent opportunity option order
outcome pack pair partner partnership party passive pattern people perfect period person phase piece place
plain plan plea point position possible potion power pressure pretence previous priority private problem proof
public quarter quick quiet reaction ready reason reasonable recommendation record reliability reliable
remaining reply result right risk round row rule rumor rumour safe scum seat secret sense sensible serious set
sheriff short sick side sign signal silence silent simple situation sleep slow small solid sorry sort speaker
speech stage statement step story straight strange strategy strong stupid style succession summary sunrise
sunset support sure suspicion suspicious swing table tactic talkative target task team teammate theory thing
thought threat tie time tone top trap trial trick true trustworthy truth turn unanimous uncertain unknown
unseen useful usual victim victory view voice voter wagon warm wary watchful way weak week white whole winner
winning word world worst worth wrong
"""
"""Nouns and adjectives that the talk turns on. Those that call somebody something else than what he is here
("traitor", "saint") are left free: they are names for roles, and `docs/disguise.md` says what that costs."""


@cache
def words_of_talk() -> frozenset[str]:
    """All of them, in lower case: verbs in every form, nouns in the plural too."""
    verbs = (form for verb in _VERBS.split() for form in forms(verb))
    return frozenset(
        (
            *_SMALL.split(),
            *verbs,
            *_IRREGULAR.split(),
            *_OTHERS.split(),
            *(f"{noun}s" for noun in _OTHERS.split()),
        )
    )


def forms_of(texts: Iterable[str]) -> frozenset[str]:
    """Every word of `texts` in every form that it would have as a verb: "vote" bars "voting" too."""
    found = {word for text in texts for word in re.findall(r"[a-z]{2,}", text.lower())}
    return frozenset(form for word in found if word.isascii() for form in forms(word))


__all__ = ["forms_of", "words_of_talk"]
