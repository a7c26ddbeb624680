"""The lexicon of suspicion and trust: words and turns of phrase, their meaning and whom they are about; no
reading here.

An entry is a row of words: ``a|b`` are alternatives, ``^dodge`` stands for all forms of the verb, a word
with ``?`` may be missing, ``_`` is any word. The meaning of an entry depends on its table:

- a *predicate* is about the player who is or does it: "player_3 **is shady**", "player_3 **dodged**";
- an *attitude* is the speaker's and falls on its object: "I **suspect** player_3";
- a *noun* may stand on either side of the player: "my **doubts** about player_3".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .verbs import forms

PREDICATE, LINKED, ATTITUDE, NOUN, GENERAL = "predicate", "linked", "attitude", "noun", "general"
NEUTRAL = "neutral"
FLIPS, DROPS, NEEDS, KEEPS, EITHER = "flips", "drops", "needs", "keeps", "either"


@dataclass(frozen=True, slots=True)
class LexiconEntry:
    """A turn of phrase. negated: what a negation makes of it.

    "flips": the opposite ("not suspicious" is trust); "drops": nothing ("not watching"); "needs": the entry
    has its meaning only with a negation ("does not add up"); "keeps": a negation belongs to it or changes
    nothing; "either": as "needs", and without a negation the opposite.
    """

    words: tuple[tuple[frozenset[str], bool], ...]
    bad: bool
    kind: str
    negated: str
    strength: int


PREDICATES_BAD = """
deflection; misdirection; evasion; manipulation; fearmongering; fear-mongering; scapegoating; gaslighting;
our problem; the problem here|today|now; half-truth; half-truths; inside|insider knowledge|information|info;
not who|what he|she|they is|are|claims; went|go|goes to|on|against innocent|innocents|villagers|townies;
always on|against villagers|innocents|innocent|town; responsible for; ^deserve|need|warrant|merit a? closer|
second|harder|good|hard|long look; ^lie to?; ^deceive; ^fake; ^invent; ^betray; detrimental; harmful;
damaging; hurting us|the|our; bad for the|us; an? insult; all over the map; playing us; in this|it|that|on
together; on this|it together; thick as thieves; up _ sleeve; not|never saying|telling|speaking the? truth;
economical with; loose with; a motive; motives; no angel; consistent with that|the|what|how? of? a|the?
wolf|werewolf|wolves; wolfish; dodging; at the wolfish end; next stop|target|on|in; not as innocent|good|
clean|harmless as; less than honest|truthful|forthcoming|candid|convincing|innocent|transparent; short of
honest; hard to believe|trust|follow|swallow|justify|explain; difficult to believe|trust|justify|explain;
does|do not inspire|deserve|merit|earn trust|confidence; beyond belief; good for nothing; cold-blooded; two
faces; double game; double life; mask; disguise; in disguise; wolf in; a sham; hogwash; tall tale; fairy
tale; fairytale; fiction; pack of lies; crock; cock and bull; cock-and-bull; poppycock; baloney; malarkey;
bull; crap; a stretch; a reach; reaching; flimflam; fault lines; story _? changed|changes|shifted|shifts;
version _? changed|changes; crocodile tears; playing dumb|both|games|mind; mind games; head games; gaming
us; using us|you; working us; rigging; rigged; orchestrated; orchestrating; engineered; engineering;
mastermind; ringleader; instigator; puppet master; pulling the|all? strings; hunting us|villagers|with;
hungry; bloodthirsty; foaming; salivating; smirking; grinning; unusual; abnormal; out of character; unlike
him|her|them; not like him|her|them; uncharacteristic; uncharacteristically; irregular; illogical;
incoherent; unhelpful; useless; counterproductive; disruptive; destructive; divisive; aggressive; hostile;
combative; confrontational; belligerent; snappy; prickly; touchy; paranoid; overdramatic; dramatic;
theatrical; overacting; melodramatic; over the top; overblown; exaggerated; exaggerating; overcompensating;
overconfident; smug; arrogant; cocky; condescending; dismissive; reluctant; hesitant; unwilling;
uncooperative; unresponsive; withdrawn; detached; absent; invisible; passive; idle; quietest; silent type;
minimal; lacking; deficient; thin excuse; lame; feeble; pathetic; pitiful; half-baked; half-hearted;
halfhearted; lukewarm; canned; generic; vacuous; empty; meaningless; circular; flawed; faulty; premature;
reckless; rash; impulsive; opportunist; self-serving; selfish; egotistical; duplicitous; underhanded;
underhand; crafty; wily; artful; cunning; unscrupulous; unprincipled; corrupt; crooked; twisted; tainted;
compromised; complicit; culpable; implicated; responsible for the|his|her|their|our|this; behind the|all|
this|that|it; to blame; at fault; accountable; answerable; a problem; problematic; an issue; a worry; a
concern; a liability; a suspect; a risk; risky; a snitch; a plant; plotting; a mole; spy; saboteur; mislynch
bait; convenient timing; too good to; happens|happened to; just so happens|happened; magically;
miraculously; saint now; some|lots explaining to; no friend|ally of; bad news; trouble; toxic; a menace;
sellout; turncoat; double agent; agent of; puppet; accomplice; sketch; paper-thin; paper thin; flimsy; on my
radar|list; tops|top|topping my|the list; top of my list; in my crosshairs; be watched|monitored|
scrutinized|scrutinised; ^deserve|need|warrant|merit more|closer|further|some|our|extra|a? scrutiny|
attention|look|watching|pressure|inspection; all over the place; likeliest|likely|top|best|prime|obvious|
strongest candidate|choice|bet|suspect|wolf|werewolf; only speaks|talks|posts|contributes|votes when|if|to|
after; on the fence; bluff; insincerely; unhinged; clueless; misguided; one we are looking|after|hunting|
searching; one we seek|want|need; on thin ice; desperate; desperately; frantic; agitated; tense; flustered;
cornered; twitchy; distraction; diversion; red herring; stunt; damage control; easy|quick|cheap lynch|
mislynch|elimination; bad faith; in league; suspiciously; unnatural; disingenuously; unconvinced; unsettled;
guiltily; deceit; treachery; betrayal; deception; poison to; not who|what he|she|they|you; false prophet|
seer|witch|doctor|guard|claim|claims; dirty; shadiest; sketchiest; fishiest; scummiest; guiltiest; wolfiest;
worst; viper; serpent; vixen; same team; wolves together; in on it; a team; two wolves; manufactured;
filthy; rotten; hollow; ^look|sound|seem|feel awful|bad|terrible|horrible|worse|worst|ugly|grim|rotten|
dirty; ^know more than|about; wolf|werewolf|scum tell|tells|slip|move|play|behaviour|behavior|energy|speech|
logic|posting|talk; likeliest wolf|werewolf|suspect; smoke; up to no good; excuse; excuses; throwing|tossing
baseless|wild|random accusations; known|confirmed wolf|werewolf|scum; guilt; lied; a|the bad one;
suspicious; suspect; sus; suspish; suss; shady; fishy; sketchy; dodgy; wolfy; wolf-like; scummy; evil;
guilty; dishonest; insincere; disingenuous; slippery; slimy; two-faced; cagey; cagy; shifty; sly; sneaky;
devious; conniving; scheming; evasive; vague; noncommittal; non-committal; wishy-washy; inconsistent;
contradictory; hypocritical; opportunistic; manipulative; calculated; calculating; rehearsed; scripted;
forced; staged; fake; phony; phoney; bogus; fabricated; made up; unconvincing; far-fetched; implausible;
wolf-aligned; wolf-sided; wolfing; guiltier; shadier; fishier; dubious; questionable; doubtful;
untrustworthy; unreliable; disloyal; deceitful; deceptive; treacherous; misleading; malicious; sinister;
weird; odd; strange; peculiar; bizarre; erratic; troubling; disturbing; alarming; unsettling; worrying;
worrisome; concerning; telling; damning; incriminating; jittery; nervous; jumpy; unnerving; rattled;
defensive; anxious; panicky; on edge; overeager; over-eager; overly _; pushy; inauthentic; insidious; too|
suspiciously|awfully|strangely|unusually|oddly|conveniently|remarkably|eerily quiet|silent|eager|quick|keen|
convenient|calculated|perfect|helpful|smooth|clean; too hard|neat|nice|calm|fast|easily|polished|clever|
cautious|careful|good|friendly|comfortable|relaxed|confident|sure|certain|aggressive|loud|passive|defensive|
much|happy|ready|slick|tidy|pat|cozy|chummy|agreeable|well|soon; so|very|really|awfully|pretty|quite|rather|
extremely|mighty|suddenly|oddly|went|gone|going quiet|silent; a? bit|little too? quiet|silent|eager|
convenient; convenient; conveniently; off; weirdly; strangely; oddly; wolf; werewolf; werewolves; wolves;
scum; mafia; baddie; baddy; bad guy|guys|one|apple|actor|egg; enemy; liar; liars; fraud; frauds; imposter;
impostor; faker; traitor; culprit; villain; snake; rat; weasel; beast; monster; killer; murderer; predator;
deceiver; manipulator; hypocrite; con artist|man; threat; danger; dangerous; suspects; red flag|flags; not
to be trusted; untrusted; sheep's clothing; playing both sides; working together; in cahoots; part|member of
the pack; the pack; up to something|no; hiding something|things; wolf|wolfy|bad|weird|scum|strange|off
vibes|vibe|energy|read|feeling; teammates|team-mates|packmates|packmate|partners|buddies|buddy|accomplice|
accomplices|co-conspirator; the wrong|evil|dark side; a wolf's game|play|move; fangs; evil intentions; bad
intentions; hidden agenda|agendas|motive|motives; an agenda; ulterior motive|motives;
"""

ACTIONS_BAD = """
scared|afraid|terrified of what|being|getting|the|exposure; ^defend|cover|back|support|save each other;
^behave|act|do|play worse|worst|badly; ^start|spread a|the|this|these|that|those rumor|rumour|rumors|
rumours|lie|panic|witch-hunt; should|must|has|needs to? answer for; ^protect|cover|shield somebody|someone;
^draw|pull|take|turn|deflect|shift|steer attention|suspicion|heat|eyes|focus|blame away|from|elsewhere|off|
onto; ^hide behind @|him|her|them|others|the|us|silence|a; only spoke|speaks|talks|talked|woke; ^worry|
scare|frighten|terrify me|us|you|all|everyone|everybody; ^save|protect|cover _ own? skin|neck|hide|behind|
pack; ^get him|her|them|us|you|@|someone|somebody|everyone|villagers|innocents|people|the lynched|hanged|
killed|eliminated; ^cost us; ^help|aid|assist|serve the|his|her|their wolves|werewolves|pack|wolf|enemy|
teammate|teammates|partner; ^ingratiate; ^flatter; ^appease; crack|cracks|cracking; ^sweat; ^fumble;
^bluster; ^ramble; ^babble; ^rant; ^whine; ^nitpick; ^laugh off|it|when|at|about; ^handwave; ^ignore;
^sidestep; ^tap-dance; ^disappear; ^vanish; ^hide; ^come from|out nowhere|of; ^concoct; ^make up; ^rewrite;
^edit; ^take back; ^renege; ^reverse; ^waver; ^vacillate; ^flip; ^flipped; ^wobble; ^zigzag; ^shift; ^drift;
^sponge; ^leech; ^hitchhike; ^rubber-stamp; ^nod along; ^recycle; ^regurgitate; ^rehash; noise; ^clutter;
^filibuster; ^buy|waste time; ^delay; ^block; ^obstruct; ^stonewall; ^withhold; ^cover; ^whitewash;
^sugarcoat; ^downplay; ^minimise; ^minimize; ^guilt-trip; ^intimidate; ^threaten; ^push for|hard|so|too|us|
an|through|his|her|their|everyone|an; ^rush; ^hurry; ^railroad; ^ram; ^hijack; ^dominate; ^monopolise;
^monopolize; ^interrupt; ^project; projection; ^overplayed; ^incriminate; ^convict; ^doom; ^know exactly|
who|whom|which|things|something|stuff|about the kill|kills|victim|attack; ^overstep; ^vote off|out|against|
for|down an|the|our|a|every|two|three innocent|villager|villagers|townie|seer|guard|doctor|witch; ^throw
games|the|his|her|their; ^bodyblock; ^stoke; ^inflame; ^incite; ^agitate; ^provoke; ^bait; ^goad; ^trap;
^trick; ^lure; ^entrap; ^masquerade; ^impersonate; ^counterfeit; ^forge; ^sham; ^simulate; ^put on; trying
too|way|very|so|awfully hard|too; ^want him|her|them|@|me|us dead|gone|out|silenced; ^crave; ^thirst; ^lick;
^feast; ^devour; ^prey; ^stalk; ^prowl; ^growl; ^snarl; ^run with the; ^out|expose|betray himself|herself|
themselves|themself|yourself; ^give himself|herself|themselves|it|yourself away; ^steal my; ^owe us|me|
everyone an; ^lead|pull us|the|everyone astray|by|nowhere|wrong|into|away; ^want to get|kill|silence|remove|
eliminate; ^go with the flow|crowd|majority|herd; blindly; ^backstab; ^sneak; ^snake; ^plot; ^scheme;
^conspire; ^collude; ^meddle; ^exploit; ^gaslight; ^bully; ^copy; ^mimic; ^hitch; ^piggyback; ^skirt;
^tiptoe; ^overplay; ^overdo; ^slander; ^put words; ^feed us; ^lie; ^deceive; ^bluff; ^conceal; ^fake;
^pretend; ^dodge; ^deflect; ^evade; ^side-step; ^backpedal; ^backtrack; ^waffle; ^flip-flop; ^flipflop;
^squirm; ^panic; ^stumble; ^contradict; ^twist; ^misdirect; ^mislead; ^manipulate; ^steer; ^frame;
^scapegoat; ^betray; ^fabricate; ^invent; ^double-cross; ^avoid; ^stall; ^lurk; ^coast; ^bandwagon; ^parrot;
^echo; ^smear; ^sow; ^overact; ^oversell; ^bus; ^stir; ^muddy; ^derail; ^distract; ^divert; ^redirect;
^obfuscate; ^blend in; ^pile on|onto; ^howl; ^infiltrate; ^jump on|onto|at; ^throw _? under the bus; ^cast
suspicion|doubt|doubts|blame|aspersions; ^stay|remain quiet|silent; ^keep quiet|silent; ^keep _ head|heads|
profile; ^cover for; ^shift the? blame|focus|suspicion|attention|topic; ^change the? topic|subject; ^play _?
both sides; ^feign; ^hedge; fence-sitting; ^fence-sit; slipped; slip; slip-up; ^wriggle; ^weasel; ^fish for|
around|out; fishing; ^sheep; ^pocket; ^scramble; ^overreact; ^point fingers; finger-pointing; ^scream wolf|
werewolf|scum|guilty; screams; ^reek; ^stink; ^smell; ^ping; ^raise _? questions; ^raise _? _? eyebrow|
eyebrows|alarm|alarms|flags|suspicion|suspicions|doubts; ^sound hollow|off|rehearsed|scripted|forced|fake;
^feel off|wrong|forced|scripted|rehearsed|fake|staged; ^make me|us nervous|uneasy|wonder|suspicious|
uncomfortable|pause|doubt|worried|worry; ^give me|us pause|chills|bad; ^creep me|us; ^bother me; ^concern
me|us; ^trouble me|us; ^alarm me|us; ^strike me|us as odd|strange|off|weird|wrong|suspicious|fishy|shady;
^stand out; ^raise my; caught; too much; ^fool us|everyone|the|you|people; ^try to hide|save|shift|deflect|
frame|mislead|confuse|distract|blend|steer|deceive|manipulate|fool|look|sound|seem|appear|avoid|control|
divide|silence|discredit; keeps|kept changing|shifting|pushing|dodging|deflecting; ^want us to fight|doubt|
believe|forget; ^act|behave|look|sound|seem|talk|play|vote like a|someone|wolf|werewolf|scum; ^act|behave|
look|sound|seem guilty|shady|weird|strange|strangely|weirdly|oddly|odd|suspiciously|off|funny|nervously|
defensively|different|differently|nervous|out; ^have something|things to hide; blood on; ^set me|us|@|him|
her|them|everyone up; ^try to get|kill|lynch|eliminate|hang|push|frame; ^profit|benefit most|from; from a|
the script; quick|eager|keen|happy|fast|rushing|rushed|hasty to accuse|judge|blame|point|lynch|jump|agree|
join|condemn|push|pile|throw|hang; ^defend|protect|save|shield|cover a|the|known|confirmed|our _? wolf|
wolves|werewolf; ^hesitate; ^stutter; ^falter; ^flinch; ^fidget; ^tremble; ^overcompensate; ^want an? easy|
quick; ^fool; ^make _ _ up; ^make that|this|it|everything|things|stuff|results up; ^soften _ stance;
^protect each other; voting|vote as a bloc|block|team|pair; ^vote together; ^repeat what|everyone; ^agree
with everyone|everybody|whoever; ^follow the crowd|majority|herd|pack; ^tunnel; ^discredit; ^undermine;
^sabotage; ^silence; story|claim|claims|words|explanation|defence|defense|reasoning|argument|timeline|
account _? _? full of holes; holes; smokescreen; charade; facade; ploy; a lie; lies; ^fall apart; ^crumble;
^collapse; ^unravel; ^contradiction; contradictions; inconsistency; inconsistencies; discrepancy;
discrepancies; ^come across as; ^backfire; ^counter-claim; ^tell lies|tales|a; ^overexplain; ^over-explain;
^cherry-pick; ^jump to conclusions; ^bite;
"""

LACKS = """
^add up; ^make any? sense; ^be true|possible|believable; ^hold up|water|together; ^check out; ^ring true;
^convince me|us|anyone|anybody;
"""

LACKS_ONLY = """
^vote for|against|out a|the|any|known|confirmed|actual wolf|werewolf|wolves; ^back up? any|anything|his|her|
their|it|them|this|that|a|one; ^explain|justify|account|back|support|prove|clarify himself|herself|
themselves|why|how|his|her|their|it|anything|any; ^give a|any|us|me|one|reasons|reason|straight; ^hold;
^survive; ^defend|deny; ^care; ^earn; ^inspire; ^impress; ^satisfy; ^compute; ^track; ^answer; ^contribute;
^explain; ^fit; ^say|offer|give|share|add|bring|provide much|anything|a|one|single|any|useful|something|
real|its; ^participate; ^engage;
"""

LACKS_AFTER = """
have|has|had|with|got nothing|zero|little to back|support|show|offer|add|contribute|say; ^have yet to; ^make
no|zero|little|absolutely sense; ^not match|align; ^say|contribute|offer|give|share|add|bring|provide|do|
explain|commit|risk us|to? absolutely|almost|basically|practically|literally|next|pretty|remarkably|very|so|
precious|surprisingly|suspiciously|us? to|much? nothing|little; ^fail to; ^lack; ^ignore my|our|the|every|
direct|all; without|no _? reason|reasons|reasoning|evidence|explanation|explanations|proof|justification|
basis|argument; ^have|has no answer|explanation|alibi|defence|defense; ^fool|
trick|deceive|con me|us|anyone|nobody;
"""

ATTITUDES_BAD = """
disappointed in|by|with; ^worry|trouble|bother|concern|scare|frighten|unsettle|disturb|puzzle|alarm me|us _?
about; ^look|go|push|press|hunt for? at|after @; ^look|check|dig|peer at|into|under @|him|her|them; ^lean
toward|towards voting|wolf|him|her|them|@; ^peg; ^finger; ^spot; do not let @|him|her|them; hard|difficult|
tough|trouble|harder time? to? believe|believing|trust|trusting|buy|buying|swallow|swallowing; signs|roads|
evidence|fingers|arrows|clues|everything|facts|instincts|instinct|gut point|points|pointing|pointed|lead|
leads|says to|toward|towards|at; ^have a? problem|issue|issues|beef with; ^side-eye; ^suspect; ^distrust;
^mistrust; ^doubt; ^accuse; ^fear; ^blame; ^dislike; uneasy|nervous|worried|concerned|uncomfortable|anxious|
unsure|unhappy|alarmed|troubled|bothered|disturbed about|with|by|around|over; question|questioning|
questioned; ^condemn; gut|instinct|instincts|intuition|nose _? says|tells|points|screams|is; bet _? on;
^lean wolf|scum|evil|red|bad|wolfy on|for?; bad|weird|strange|terrible|nagging|uneasy|funny|awful|sinking|
strong|creepy|worst feeling|feelings|vibe|vibes|sense|hunch about|on|from|with|that; side-eye; side-eyeing;
^catch|caught _? in? a? lie;
"""

WATCHED = """
^hold _ against; looking at @|him|her|them; ^watch; ^monitor; ^observe; ^scrutinize; ^scrutinise; ^scrutiny;
eye on; eyes on; close eye; eyeing; closer|hard|long|second|careful|good|serious look at|into; ^look into|
closer; attention on|to|toward|towards; focus on|our|my|more|closely; ^focus; ^pressure; ^press; careful|
cautious|beware|aware with|of|about|around; caution|vigilance|care regarding|about|toward|towards|with|
around|concerning; ^beware; ^note; ^interrogate; on my radar|list; ^target;
"""

ATTITUDES_NEED = """
^trust; ^swallow; ^credit; ^like; ^buy; sold on; fooled by; convinced by|of|about; ^accept; ^love; fan of;
"""

NOUNS_BAD = """
fingerprints|paw|paws|claws|prints; stain; scent; smell; stench; whiff; the wolf; suspicion|suspicions
about|on|of|regarding|concerning; doubts; doubt; concerns; reservations; misgivings; suspicion; worries;
suspicions; distrust; mistrust; my suspect|suspects|target|pick|guess|scumread; top|main|prime|number|
biggest|first|strongest|primary|best|only|chief|leading|remaining|other one? suspect|suspects|suspicion|
target|guess|pick|candidate|wolf|choice; eyebrow|eyebrows; silence; guilt; sign of guilt; the accuracy of;
something|anything|somethin _? _? fishy|off|wrong|odd|weird|strange|shady|suspicious|rotten; sus|suspect|
suspects|suspicion|wolf|scum|kill|hit|lynch list|pile|pool|team|bucket|radar|sus; number one|1 sus|suspect|
target; sus;
"""

LINKED_BAD = """
impossible; his|her|their partner|teammate|buddy|packmate|accomplice; the partner|teammate|accomplice; pure?
fantasy; pure invention|fiction|nonsense; false; untrue; weak; thin; shaky; nonsense; bs; garbage; baseless;
bad; wrong; low; ridiculous; absurd; ugly; hollow;
"""

GENERALITIES = """
one|single|possible reason|explanation|motive|conclusion for|behind that|this|it; funny|interesting|
convenient|curious|odd|strange|weird|amusing|fascinating|suspicious how|that; what a coincidence|show|
performance|act|story; nice|good|cute|great try|acting|act|performance|show|attempt; pull the other; how
convenient|very|original|noble|touching; so-called; wolf|werewolf|wolves|werewolves|scum would|do|does|will|
love|loves|always|often|usually|like|talk|talks|play|plays|act|acts|behave|behaves|hide|hides|say|says|try|
tries|move|thing|work|operate|behaviour|behavior|tactic|tactics|play|strategy|tell|trick|tricks|move|moves|
logic|talk;
"""

LOST = """
^stop trusting|believing|buying|defending; ^trust least|the? least;
"""

ATTITUDES_GOOD = """
^put _? trust|faith on|in; ^take @|him|her|them at; ^share my house; ^speak up? for; ^keep @|him|her|them
alive|safe|around; ^stand|back by? @; ^follow @; ^trust|believe a|one|any single? word; ^take _ word; got|
have nothing against; ^have no reason to doubt|suspect|distrust|question|accuse|fear|disbelieve; ^trust;
^believe in? @|him|her|them|his|their|you|your|every|both|everything|what; ^vouch; ^defend; ^support;
^spare; leave @ alone; ^let @ live|be|off; ^stand by|behind|with; ^side with; ^clear; ^rule out; ^town-read;
^townread; comfortable with; ^exonerate; ^protect; ^respect; ^buy;
"""

PREDICATES_GOOD = """
catches|caught|catching|spotted|unmasked us? a|the|two|our|another|every wolf|werewolf|wolves|liar;
straight|honest|clear|full answer|answers; ^give us|me|you|everyone? straight|honest|clear|good|full answer|
answers|reasons|reasoning; the village 's? interests|interest|best|good; golden; ruled out; what|who he|she|
they says|say|claims|claim he|she|they; ^prove himself|herself|themselves|reliable|right|honest|trustworthy|
true; being|been|gets|getting|got|was set up; being|been|gets|getting|got bullied|hounded|wronged|
railroaded|blamed|mobbed; ^expose|nail us? a|the|two|our|another wolf|werewolf; ^give|bring|hand us a|the|
two wolf|wolves; has|have|earned|earn|deserves|deserve|gained|won|gets|got my|our|full|complete|total|
utmost|every|all full|complete|total|utmost|every|entire|own? trust|confidence|faith|support|backing|
respect; the last person|one|player; no angel of death; a saint; straight as; straight arrow|shooter|up|
talker; true blue; true to _ word; as good as; good as gold; a keeper; spotless; blameless; faultless;
guiltless; unblemished; stainless; upright; upstanding; honourable; honorable; principled; dependable;
steadfast; faithful; devoted; dedicated; selfless; brave; courageous; heroic; a hero; thoughtful;
insightful; perceptive; constructive; productive; cooperative; collaborative; level-headed; levelheaded;
even-handed; fair-minded; balanced; measured; rational; sensible; reasonable; coherent; cogent;
well-reasoned; well-argued; sharp; diligent; hardworking; engaged; invested; forthright; frank; upfront;
up-front; up front; open; openly; unguarded; authentic; heartfelt; earnest; believable; bona fide; kosher;
an open book; right side; one of the good; among the good|righteous|innocent|innocents; on the level; good
intentions|intent|heart; in good; best interests|interest; interest of the village|town; helping us|the|
village|town; works|working|worked for|with the|us village|town|us; ^seek|want|search|hunt|look the|for
truth|wolves|werewolves; ^save|protect|shield me|us|the village|lives|my; hunting wolves|the|for wolves;
wolf hunting; solving; trying to help|solve; ^try to help|solve; acquitted; exonerated; vindicated;
absolved; off the hook; the clear; nothing to hide|fear; being|been|gets|getting|got framed|scapegoated|
smeared|railroaded|misread|targeted; clean bill; clean record|slate; cleared himself|herself|themselves;
^clear himself|herself|themselves; above board; no threat; villagerish; proven|confirmed innocent|villager|
town; villagery|towny; worth trusting|believing; can|could be trusted; no wolf|werewolf|scum|baddie|liar|
traitor; anything but evil|guilty|suspicious|wolf; innocence; did|done nothing wrong|bad|suspicious; right
about|on; trustworthy; trusted; innocent; cleared; proven; wolf|wolves|werewolves target|victim|kill|prey;
town|village|good|trust|trusted|safe|green|clear|innocent pile|list|bucket|camp|column|pool|circle; out of
the|my|our pool|list; straight with; nothing wrong|bad; decent; genuine; honest; sincere; transparent;
consistent; forthcoming; straightforward; candid; credible; plausible; legit; legitimate; truthful;
reliable; loyal; harmless; human; townie; townsperson; townsfolk; towny; townish; villagery; villager;
civilian; village-aligned; village-sided; pro-village; pro-town; a? good guy|person|player|egg|side|team|
one|folk|people; not a? wolf|werewolf|wolves|werewolves|scum; on our|the|my side|village's; on the village|
good|town|right side; with us; one of us|ours|the good; our ally; ally; allies; real deal|thing|one;
confirmed; tells|telling|told|speaking|spoke the truth; ^tell the truth; above suspicion; in the clear;
beyond suspicion|doubt; off my list|radar; ^ring true; ^check out; ^read|lean|look|seem|sound town|village|
villager|good|innocent|genuine|human|clean|fine|honest|villagery; real|true|actual|genuine|our|the|confirmed
seer|doctor|guard|witch|sheriff|villager|prophet; the benefit of the doubt; has|have|earned|earn|deserves|
deserve|gained|won _? trust|confidence; convincing; well-intentioned; well-meaning; good intentions|faith|
instincts; pure; ^prove _? innocence;
"""

LINKED_GOOD = """
chill; cool; based; useful; valuable; valid; accurate; smart; clever; wise; kind; nice; sweet; calm; real;
strong; compelling; persuasive; clear-headed; undoubted; off; plain; straight; untouchable; ordinary;
unremarkable; shy; good; fine; clear; clean; solid; safe; alright; all right; okay; ok; town; village;
helpful; sound; green; logical; reasonable; sensible; friendly; true;
"""

NOUNS_GOOD = """
kudos|props|hats|thanks|cheers|bravo to|off; full marks for|to; fair play to; town read; townread; villager|
village|villagery|town|towny|good|human|innocent|clean|strong read|vibes|vibe|energy|feel|feeling; no doubt|
doubts|suspicion|suspicions|concerns _? _? about|on|of;
"""

IGNORED = """
sure of it|that|this|course; ^change my mind|opinion; i|we have|had nothing to|more; what happened|happens
to?; to be frank|honest|fair|clear|sure|blunt|precise; ^make up my|his|her|our|their|your mind|minds;
^defend yourself|himself|herself|themselves; good morning|evening|day|luck|point|points|question|idea|game|
afternoon|night|job|to; fine with|by; trust me; ^clear my|up|the|that|this|things; ^change my;
"""

_TABLES = (
    (LOST, True, NOUN, KEEPS, 2),
    (IGNORED, True, NEUTRAL, DROPS, 1),
    (LINKED_BAD, True, LINKED, FLIPS, 2),
    (GENERALITIES, True, GENERAL, KEEPS, 2),
    (LINKED_GOOD, False, LINKED, FLIPS, 2),
    (PREDICATES_BAD, True, PREDICATE, FLIPS, 2),
    (ACTIONS_BAD, True, PREDICATE, DROPS, 2),
    (LACKS, True, PREDICATE, EITHER, 2),
    (LACKS_ONLY, True, PREDICATE, NEEDS, 2),
    (LACKS_AFTER, True, PREDICATE, KEEPS, 2),
    (ATTITUDES_BAD, True, ATTITUDE, FLIPS, 2),
    (WATCHED, True, ATTITUDE, DROPS, 1),
    (ATTITUDES_GOOD, False, ATTITUDE, FLIPS, 2),
    (ATTITUDES_NEED, True, ATTITUDE, NEEDS, 2),
    (PREDICATES_GOOD, False, PREDICATE, FLIPS, 2),
    (NOUNS_BAD, True, NOUN, FLIPS, 2),
    (NOUNS_GOOD, False, NOUN, KEEPS, 2),
)


def _entries() -> Iterator[LexiconEntry]:
    for table, bad, kind, negated, strength in _TABLES:
        for row in re.sub(r"(?<=\|)\s+", "", table).split(";"):
            slots = []
            for word in row.split():
                optional, word = word.endswith("?"), word.rstrip("?")
                options: set[str] = set()
                inflected = word.startswith("^")
                for option in word.lstrip("^").split("|"):
                    options.update(forms(option) if inflected else (option,))
                slots.append((frozenset(options), optional))
            if slots:
                yield LexiconEntry(tuple(slots), bad, kind, negated, strength)


def _index() -> dict[str, tuple[LexiconEntry, ...]]:
    by_word: dict[str, list[LexiconEntry]] = {}
    for entry in _entries():
        for options, optional in entry.words:
            for word in options:
                by_word.setdefault(word, []).append(entry)
            if not optional:
                break
    return {word: tuple(sorted(rows, key=lambda e: -len(e.words))) for word, rows in by_word.items()}


LEXICON = _index()
"""Every word that may open an entry, to those entries, the longest first."""


def match(entry: LexiconEntry, tokens: list[str], at: int, word: int = 0) -> int:
    """The end of `entry`, from its `word` on, if `tokens` have it from `at` on; else 0."""
    for number in range(word, len(entry.words)):
        options, optional = entry.words[number]
        here = at < len(tokens) and (tokens[at] in options or "_" in options)
        if optional:
            end = match(entry, tokens, at + 1, number + 1) if here else 0
            return end or match(entry, tokens, at, number + 1)
        if not here:
            return 0
        at += 1
    return at
