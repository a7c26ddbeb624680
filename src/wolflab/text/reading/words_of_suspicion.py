"""Words and turns of phrase of suspicion, by how they are used; what a table tells stands in `text.reading.lexicon`.

An entry ends with a semicolon; see `text.reading.lexicon` for how it is written.
"""

from __future__ import annotations

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

DEEDS_BAD = """
^talk in circles|riddles; ^answer _ question|questions with; ^act like he|she|they; the reason we lost|are|
lost|hanged|lynched|killed|lose; ^get us into; ^align|coordinate|sympathise|sympathize|ally with the wolves|
werewolves|wolf|somebody|someone|others; ^coordinate with; loudest voice against|for; ^go|come after the|
our|a seer|doctor|witch|guard|villager; ^change his|her|their|your mind|minds; wrong about everything|
everyone|everybody; suddenly remembers|claims|has|becomes|knows|wants|appears|changes|switches|forgets|
discovers|decides|agrees|accuses|remembered|claimed|changed|switched|wanted|decided|agreed|forgot; on|
against the real|true|actual seer|doctor|guard|witch; ^want the|our|this village|town|group divided|split|
confused; wagon|push|vote|attack|case|campaign on|against an? innocent|villager|innocents|villagers; ^start|
spread the|a|this wagon|bandwagon|train|push|rush; ^bug|irk|annoy|puzzle|baffle|confuse me|us; ^get|have|
take a free ride|pass; ^want to see someone|somebody|anyone|us|blood|heads|people|innocents; ^need a
scapegoat|distraction|victim; scared|afraid|terrified of what|being|getting|the|exposure; ^vote to kill|
hang|lynch|eliminate our|the|an|a seer|guard|doctor|witch|innocent|villager; ^defend|cover|back|support|save
each other; same way every day|time|round; ^behave|act|do|play worse|worst|badly; ^start|spread a|the|this|
these|that|those rumor|rumour|rumors|rumours|lie|panic|witch-hunt; should|must|has|needs to? answer for;
^freeze up; froze when|up|as|at|completely; ^blow hot and cold; ^protect|cover|shield somebody|someone;
^draw|pull|take|turn|deflect|shift|steer attention|suspicion|heat|eyes|focus|blame away|from|elsewhere|off|
onto; ^react badly|strangely|poorly|weirdly|defensively|nervously|oddly|suspiciously|too|angrily; ^use @|
him|her|them|us|me as|to; ^hide behind @|him|her|them|others|the|us|silence|a; ^kill|strike|murder again|us|
next|more|someone|somebody; only|just started|starts|began talking|speaking|posting; only spoke|speaks|
talks|talked|woke; ^worry|scare|frighten|terrify me|us|you|all|everyone|everybody; ^save|protect|cover _
own? skin|neck|hide|behind|pack; ^counterclaim|counter-claim|cc me; ^play the? fool; ^set up a|another|the|
this mislynch|lynch; ^bring up other|others|everyone; ^give me|us|everyone the creeps|chills|willies; ^fool
us|me|everyone; ^drop|cut|quit|stop|spare the|us|your|this|his|her|with act|drama|nonsense|charade|
theatrics|pretence|pretense|lies|games|bs|crap|excuses|acting|performance|talk; drop the act|mask; ^get him|
her|them|us|you|@|someone|somebody|everyone|villagers|innocents|people|the lynched|hanged|killed|eliminated;
^cost us; ^lead us|to to|the lynch|kill|hang|vote|eliminate|wrong|death|mislynch; ^hand us|the wolves|
werewolves; ^help|aid|assist|serve the|his|her|their wolves|werewolves|pack|wolf|enemy|teammate|teammates|
partner; ^side with the wolves|werewolves|wolf|enemy; ^cozy up; ^suck up; ^butter up; ^ingratiate; ^flatter;
^appease; ^hunt innocents|villagers|townies; ^dig himself|herself|themselves|a; ^trip up|over; ^crack under;
crack|cracks|cracking; ^sweat; ^fumble; ^bluster; ^ramble; ^babble; ^rant; ^whine; ^nitpick; ^gloss over;
^brush off|aside|over; ^shrug off; ^laugh off|it|when|at|about; ^wave away|off; ^handwave; ^ignore;
^overlook his|her|their; ^sidestep; ^tap-dance; ^turn on everyone|everybody|us|his|her|their; ^lash out;
^get so|very|too|really|all|awfully|pretty|quite|unusually defensive|worked|upset|nervous|angry|emotional;
^get defensive|angry|nervous|flustered|upset|touchy|emotional; ^grow|become|turn quiet|silent|defensive|
nervous|evasive|hostile|aggressive|vague; ^go quiet|silent|dark|missing|after anyone|everyone|innocents|
villagers; ^disappear; ^vanish; ^hide; ^come from|out nowhere|of; out of nowhere; out of thin; from nowhere;
^pull _ _? out of; ^plant seeds|a|the|doubt; ^cook up; ^concoct; ^dream up; ^think up; ^make up; ^trump up;
^doctor the|his|her; ^rewrite; ^revise his|her|their; ^edit; ^walk back; ^take back; ^row back; ^go back on;
^renege; ^reverse; ^waver; ^vacillate; ^flip; ^flipped; ^wobble; ^zigzag; ^shift; ^swing with|between|from;
^sway with|like; ^drift; ^follow everyone|others|along|whoever|the leader; ^sponge; ^leech; ^hitchhike;
^rubber-stamp; ^nod along; ^agree too; ^recycle; ^regurgitate; ^rehash; ^contribute nothing|little|zero|
less; ^add nothing|little|zero|noise; ^add zero; noise; ^clutter; ^filibuster; ^run|stall out the|for clock|
time; ^drag out; ^buy|waste time; ^delay; ^block; ^obstruct; ^stonewall; ^withhold; ^hold|keep|hang back _?
information|info|something|things|facts; ^keep secrets|us in|his|her|their own; ^cover; ^whitewash;
^sugarcoat; ^downplay; ^minimise; ^minimize; ^excuse the|a|his|her; ^shield the|a|his|her; ^guilt trip|us;
^guilt-trip; ^shame us|people; ^intimidate; ^threaten; ^push for|hard|so|too|us|an|through|his|her|their|
everyone|an; ^rush; ^hurry; ^force a|the|us|through; ^railroad; ^ram; ^hijack; ^dominate; ^control the|this|
us|our; ^monopolise; ^monopolize; ^shout down; ^drown out; ^talk over; ^interrupt; ^cut off; ^shut down;
^cast himself|herself|themselves; ^paint himself|herself|themselves|others|everyone|innocents|me; ^project;
projection; ^overplayed; ^show his|her|their|your true|teeth|claws|fangs|hand; ^bare _ teeth|fangs; ^let
slip; ^let it slip; ^tip _ hand; ^say too much; ^reveal too|himself|herself|themselves|more; ^incriminate;
^implicate himself|herself|themselves; ^convict; ^damn himself|herself|themselves; ^doom; ^bury himself|
herself|themselves; ^know before; ^know exactly|who|whom|which|things|something|stuff|about the kill|kills|
victim|attack; ^overstep; ^vote off|out|against|for|down an|the|our|a|every|two|three innocent|villager|
villagers|townie|seer|guard|doctor|witch; ^vote villager|villagers|innocent|innocents|town; ^throw games|
the|his|her|their; throwing so; ^bodyblock; ^tear us|the; ^whip up; ^stoke; ^fan the; ^inflame; ^incite;
^agitate; ^provoke; ^bait; ^goad; ^trap; ^trick; ^lure; ^entrap; ^corner us; ^play us|me|you|everyone|
victim|the victim|along|possum; ^act all|like|so|too|as surprised|innocent|shocked|nothing|shy|if; ^pose as;
^masquerade; ^impersonate; ^counterfeit; ^forge; ^sham; ^simulate; ^put on; ^stage a|the|his|her; ^shed
crocodile; ^cry wolf|foul|crocodile; ^protest too; ^object too; ^try too; trying too|way|very|so|awfully
hard|too; ^try so|way|very|awfully hard|too; ^want him|her|them|@|me|us dead|gone|out|silenced; ^crave;
^thirst; ^lick; ^feast; ^eat us; ^devour; ^prey; ^stalk; ^prowl; ^growl; ^snarl; ^hunt with; ^run with the;
^fit too; ^look the part; ^check all|every|too; ^tick all|every|too boxes|box|many; ^talk|spout|speak
nonsense|rubbish|garbage; full of it|lies|nonsense; ^out|expose|betray himself|herself|themselves|themself|
yourself; ^give himself|herself|themselves|it|yourself away; ^steal my; ^owe us|me|everyone an; ^fit the
profile|description|bill|pattern; ^explain himself|herself|themselves away; ^lead the charge|wagon|push|
attack|mob|witch-hunt; ^lead|pull us|the|everyone astray|by|nowhere|wrong|into|away; ^want to get|kill|
silence|remove|eliminate; rid of the|our; ^waste our|everyone's|my|the time; ^go with the flow|crowd|
majority|herd; blindly; ^sit|stay on the fence; ^bend|stretch the truth|facts; ^cover his|her|their|your
tracks; ^drag|pull|throw _ feet; ^backstab; ^sneak; ^snake; ^plot; ^scheme; ^conspire; ^collude; ^meddle;
^exploit; ^gaslight; ^bully; ^pressure everyone|us|people; ^copy; ^mimic; ^hitch; ^piggyback; ^dance around;
^skirt; ^tiptoe; ^beat around; ^grasp at; ^clutch at; ^overplay; ^overdo; ^slander; ^spread rumors|rumours;
^put words; ^cast a; ^feed us; ^string us; ^lie; ^deceive; ^bluff; ^conceal; ^fake; ^pretend; ^dodge;
^deflect; ^evade; ^side-step; ^backpedal; ^duck question|questions|the|my|our|every|direct; ^backtrack;
^waffle; ^flip-flop; ^flipflop; ^squirm; ^panic; ^stumble; ^contradict; ^twist; ^misdirect; ^mislead;
^manipulate; ^steer; ^frame; ^scapegoat; ^betray; ^fabricate; ^invent; ^double-cross; ^avoid; ^stall; ^lurk;
^coast; ^bandwagon; ^parrot; ^echo; ^smear; ^sow; ^overact; ^oversell; ^bus; ^stir; ^muddy; ^derail;
^distract; ^divert; ^redirect; ^obfuscate; ^blend in; ^pile on|onto; ^howl; ^infiltrate; ^jump on|onto|at;
^hop on|onto; ^latch on|onto; ^ride the|a|every|along|my|your|his|her|their; ^tag along; ^float|drift|skate|
slide by|along|through; ^throw _? under the bus; ^throw shade|dirt|suspicion|accusations|mud|blame|names;
^cast suspicion|doubt|doubts|blame|aspersions; ^spread lies|confusion|doubt|doubts|suspicion|chaos|
misinformation; ^fly under the radar; under the radar; ^lay|lie low; laying|lying low; ^sit back; ^hang
back; ^stay|remain quiet|silent; ^stay in the shadows|background; ^keep quiet|silent; ^keep _ head|heads|
profile; ^cover for; ^cover up; ^cover _ tracks|track; ^protect his|her|their|your teammate|partner|buddy|
friend|own|fellow; ^distance himself|herself|themselves|themself|yourself; ^change|switch|swap|shift|alter
his|her|their|your|the story|tune|stories|position|stance|version|account|tone|claim; ^shift the? blame|
focus|suspicion|attention|topic; ^change the? topic|subject; ^reverse course; ^flip on|his|her|their|sides|
position|between|vote|votes|from; ^play _? both sides; ^play dumb|innocent|coy|games|us; ^play a? double|
dangerous game; ^feign; ^act innocent|dumb|surprised; ^hedge; ^sit on the fence; fence-sitting; ^fence-sit;
^sell out; ^slip up; slipped; slip; slip-up; ^back off|down|away; ^wriggle; ^weasel; ^rush to|us|the|into|
our; ^spin a|his|her|their|the|this|tales|stories|lies|everything; ^wear a|the? mask; ^fish for|around|out;
fishing; ^sheep; ^pocket; ^buddy up; ^scramble; ^overreact; ^deny everything; ^attack anyone|everyone|the|
people; ^point fingers; pointing fingers; finger-pointing; ^blame others|everyone|anyone|someone|everybody;
^scream wolf|werewolf|scum|guilty; screams; ^reek; ^stink; ^smell; ^ping; ^raise _? questions; ^raise _? _?
eyebrow|eyebrows|alarm|alarms|flags|suspicion|suspicions|doubts; ^set off _? alarm|alarms|bells; ^ring _?
alarm|alarms; ^ring hollow|false; ^sound hollow|off|rehearsed|scripted|forced|fake; ^feel off|wrong|forced|
scripted|rehearsed|fake|staged; ^rub me|us|people the wrong way; ^put me on edge|guard; ^make me|us nervous|
uneasy|wonder|suspicious|uncomfortable|pause|doubt|worried|worry; ^give me|us pause|chills|bad; ^leave me|us
uneasy|cold|suspicious|uncomfortable; ^creep me|us; ^bother me; ^concern me|us; ^trouble me|us; ^disturb me|
us; ^alarm me|us; ^unsettle me|us; ^scare|frighten|spook me|us; ^strike me|us as odd|strange|off|weird|
wrong|suspicious|fishy|shady; ^stick out; ^stand out; ^catch my eye; caught my eye; ^raise my; ^get caught;
caught; too much; shifting blame; ^fool us|everyone|the|you|people; ^try to hide|save|shift|deflect|frame|
mislead|confuse|distract|blend|steer|deceive|manipulate|fool|look|sound|seem|appear|avoid|control|divide|
silence|discredit; ^want him|her|them|@ dead|gone|out|lynched|killed|eliminated|hanged; changes each|every|
with|whenever|by|all; keeps|kept changing|shifting|pushing|dodging|deflecting; ^want us to fight|doubt|
believe|forget; ^target the|our innocent|villagers|town|seer|doctor|guard; ^get the|our villagers|townsfolk|
seer killed|eliminated; ^work against|with the wolves|werewolves|us; ^work for the wolves|werewolves|pack;
^divide us|the; ^confuse us|the|everyone; ^turn us; ^act|behave|look|sound|seem|talk|play|vote like a|
someone|wolf|werewolf|scum; ^act|behave|look|sound|seem guilty|shady|weird|strange|strangely|weirdly|oddly|
odd|suspiciously|off|funny|nervously|defensively|different|differently|nervous|out; ^seem|look|act|sound
lost|unsure|confused; ^have something|things to hide; something|things|plenty|lots|secret|secrets to hide;
^have blood; blood on; ^know too much; ^know more than; too much information; ^set me|us|@|him|her|them|
everyone up; ^set the stage; ^try to get|kill|lynch|eliminate|hang|push|frame; ^profit|benefit most|from;
from a|the script; ^benefit _? most; ^gain the? most; quick|eager|keen|happy|fast|rushing|rushed|hasty to
accuse|judge|blame|point|lynch|jump|agree|join|condemn|push|pile|throw|hang; ^defend|protect|save|shield|
cover a|the|known|confirmed|our _? wolf|wolves|werewolf; ^hesitate; ^stutter; ^falter; ^flinch; ^fidget;
^tremble; ^freeze up; ^overcompensate; ^want an? easy|quick; ^want us to turn|split; ^fool; ^make _ _ up;
^make that|this|it|everything|things|stuff|results up; ^sell us; ^soften _ stance; ^protect each other;
voting|vote as a bloc|block|team|pair; ^vote together; ^repeat what|everyone; ^agree with everyone|
everybody|whoever; ^go along with everything|everyone|whatever; ^follow the crowd|majority|herd|pack;
^tunnel; ^discredit; ^undermine; ^sabotage; ^silence; story|claim|claims|words|explanation|defence|defense|
reasoning|argument|timeline|account _? _? full of holes; holes; smokescreen; smoke screen; charade; facade;
ploy; an act; a lie; lies; ^have me worried|concerned; ^fall apart; ^crumble; ^collapse; ^unravel;
^contradiction; contradictions; inconsistency; inconsistencies; discrepancy; discrepancies; ^come across as;
^backfire; ^counter-claim; ^speak in riddles; ^tell lies|tales|a; ^make things|stuff|stories|it up;
^overexplain; ^over-explain; ^cherry-pick; ^jump to conclusions; ^bite; ^lean wolf|wolfy|werewolf|scum|evil|
bad|guilty; ^vote with the wolves|wolf;
"""

LACKS = """
^add up; ^make any? sense; ^be true|possible|believable; ^hold up|water|together; ^sit right|well|easy|
easily; ^check out; ^stack up; ^line up; ^match up; ^ring true; ^feel|seem|sound|look right; ^convince me|
us|anyone|anybody;
"""

LACKS_ONLY = """
^match what|his|her|their|the|with;
^vote against|for each other; ^accuse|attack|question|suspect each other;
^vote for|against|out a|the|any|known|confirmed|actual wolf|werewolf|wolves; ^back up? any|anything|his|her|
their|it|them|this|that|a|one; ^vote wolf|wolves; ^keep _ _? story|stories|facts straight; ^try to defend|
explain|answer|help|deny|hide|argue|convince; ^add anything|much|value|a|up; ^explain|justify|account|back|
support|prove|clarify himself|herself|themselves|why|how|his|her|their|it|anything|any; ^give a|any|us|me|
one|reasons|reason|straight; ^stand up; ^hold; ^survive; ^help|aid us|the|village|anyone; ^defend|deny;
^care; ^look|meet me|us|anyone|anybody|people; ^make|take eye; ^earn; ^inspire; ^impress; ^satisfy;
^reassure me|us; ^cut it; ^compute; ^track; ^follow from|logically; ^answer; ^contribute; ^explain; ^fit;
^say|offer|give|share|add|bring|provide much|anything|a|one|single|any|useful|something|real|its; ^speak|
talk up|much|at|all|once; ^commit to?; ^participate; ^engage; ^own up; ^take a|any stand|stance|position|
side|responsibility;
"""

LACKS_AFTER = """
have|has|had|with|got nothing|zero|little to back|support|show|offer|add|contribute|say; nothing to back up?
his|her|their|it|this|that; ^have yet to; ^make no|zero|little|absolutely sense; ^have|has no credibility|
consistency; short on|of substance; ^not match|align; ^say|contribute|offer|give|share|add|bring|provide|do|
explain|commit|risk us|to? absolutely|almost|basically|practically|literally|next|pretty|remarkably|very|so|
precious|surprisingly|suspiciously|us? to|much? nothing|little; ^refuse to; ^fail to; ^neglect to; ^lack;
nowhere to be; ^never commit; ^never answer; ^ignore my|our|the|every|direct|all; without|no _? reason|
reasons|reasoning|evidence|explanation|explanations|proof|justification|basis|argument; ^have|has no answer|
explanation|alibi|defence|defense;
"""

ATTITUDES_BAD = """
^keep coming|circling|returning back? to; scumread|wolfread|wolf-read|scumreading|wolfreading on?;
^put _? money on; ^put everything on; disappointed in|by|with; ^smell a|something wolf|fur|rat|fishy|
rotten|funny|off; ^sense a|something|danger|deception|guilt|evil wolf|off|wrong; put it past @|him|her|
them|you; ^worry|trouble|bother|concern|scare|frighten|unsettle|disturb|puzzle|alarm me|us _? about; ^look|
go|push|press|hunt for? at|after @; ^look|check|dig|peer at|into|under @|him|her|them; ^lean toward|towards
voting|wolf|him|her|them|@; ^have|has bone|bones to pick; ^see a wolf|werewolf|liar in; ^peg; ^finger; ^pin
it|this|that? on; wolf in @; ^spot; do not let @|him|her|them; hard|difficult|tough|trouble|harder time?
to? believe|believing|trust|trusting|buy|buying|swallow|swallowing; signs|roads|evidence|fingers|arrows|
clues|everything|facts|instincts|instinct|gut point|points|pointing|pointed|lead|leads|says to|toward|
towards|at; ^have a? problem|issue|issues|beef with; ^call bs|bull|nonsense on; ^lose|lost trust|faith in;
^side-eye; ^suspect; ^distrust; ^mistrust; ^doubt; ^accuse; ^fear; ^blame; ^dislike; suspicious of|about|
toward|towards; wary of; leery of; sceptical|skeptical of|about; dubious about|of; uneasy|nervous|worried|
concerned|uncomfortable|anxious|unsure|unhappy|alarmed|troubled|bothered|disturbed about|with|by|around|
over; worry|worried about; ^worry me|us|you|all|everyone; question|questioning|questioned; ^condemn; point|
pointing _? finger|fingers at|to|toward|towards; ^smell a rat; gut|instinct|instincts|intuition|nose _?
says|tells|points|screams|is; bet _? on; money is? on; ^lean on|towards|toward; ^lean wolf|scum|evil|red|
bad|wolfy on|for?; ^zero in; ^sniff out; bad|weird|strange|terrible|nagging|uneasy|funny|awful|sinking|
strong|creepy|worst feeling|feelings|vibe|vibes|sense|hunch about|on|from|with|that; creeped out by;
side-eye; side-eyeing; wolf|scum|bad read; ^see through; ^catch|caught _? in? a? lie; caught lying; cannot
stand;
"""

WATCHED = """
^put? some|more|a|the? pressure|heat|spotlight on; ^hold _ against; looking at @|him|her|them; ^point at @|
him|her|them; ^watch; ^monitor; ^observe; ^scrutinize; ^scrutinise; ^scrutiny; eye on; eyes on; close eye;
eyeing; closer|hard|long|second|careful|good|serious look at|into; look|looking closely|hard|harder|
closely|more|carefully at?|closely|into; ^look into|closer; attention on|to|toward|towards; focus on|our|
my|more|closely; ^focus; ^pressure; ^press; ^investigate further; ^delve into; ^keep tabs; careful|
cautious|beware|aware with|of|about|around; caution|vigilance|care regarding|about|toward|towards|with|
around|concerning; ^beware; ^note; under scrutiny|suspicion; ^interrogate; on my radar|list; in my sights;
^target;
"""

ATTITUDES_NEED = """
^trust; ^believe a|one|any|in? word|story|bit|@|him|her|them; ^want @|him|her|them around|near|leading;
^rule out; ^fall for; ^swallow; ^credit; ^take _ seriously|word; ^care for; ^get|read along; ^feel good|
great|right|comfortable|safe|easy about|with|around; ^like; ^buy; sold on; impressed with|by; fooled by;
happy with|about; comfortable with; convinced by|of|about; ^accept; ^love; fan of; satisfied with|by;
^listen to;
"""

NOUNS_BAD = """
question mark|marks; fingerprints|paw|paws|claws|prints; black mark; stain; scent; smell; stench; whiff;
bad|cold|weird|strange|funny|odd|uneasy|nasty taste|smell|aftertaste; most|best|strong|stronger|strongest|
good|solid|growing|damning case|evidence|argument|suspicion against|about|on; cloud over; clouds over;
shadow|spotlight on|over; heat on; focus on; target on; top of; head of; high on my|the|our list; next on
my|the|our list; sights|sight on; finger|fingers|arrows|signs|clues|trail|tracks at|to|toward|towards;
wolf|wolves is|are between; the wolf; suspicion|suspicions about|on|of|regarding|concerning; doubts; doubt;
concerns; reservations; misgivings; suspicion; worries; suspicions; distrust; mistrust; my suspect|
suspects|target|pick|guess|scumread; top|main|prime|number|biggest|first|strongest|primary|best|only|chief|
leading|remaining|other one? suspect|suspects|suspicion|target|guess|pick|candidate|wolf|choice; wolf
candidate|read|pick|suspect; eyebrow|eyebrows; the finger; list of suspects; suspect list; at the top of _
list; top of _ list; threat to; silence; guilt; sign of guilt; the accuracy of; something|anything|somethin
_? _? fishy|off|wrong|odd|weird|strange|shady|suspicious|rotten; alarm bells; not right; the culprit; red
flag|flags; sus|suspect|suspects|suspicion|wolf|scum|kill|hit|lynch list|pile|pool|team|bucket|radar|sus;
number one|1 sus|suspect|target; sus;
"""

LINKED_BAD = """
impossible; his|her|their partner|teammate|buddy|packmate|accomplice; the partner|teammate|accomplice; pure?
fantasy; pure invention|fiction|nonsense; false; untrue; weak; thin; shaky; nonsense; bs; garbage; baseless;
bad; wrong; low; ridiculous; absurd; ugly; hollow;
"""

GENERALITIES = """
put my finger on; tells|telling|shows me|us|you|everyone who|what the wolf|werewolf|liar is; one|single|
possible reason|explanation|motive|conclusion for|behind that|this|it; funny|interesting|convenient|curious|
odd|strange|weird|amusing|fascinating|suspicious how|that; what a coincidence|show|performance|act|story;
nice|good|cute|great try|acting|act|performance|show|attempt; pull the other; how convenient|very|original|
noble|touching; a likely story; so-called; nobody|no-one innocent|honest|good would|does|acts; meets the
eye; real|true|actual|genuine seer|doctor|guard|witch|villager|prophet would|does|will|should|could;
villager|townie|innocent|townsperson|villagers|townies|innocents|townsfolk has|have|had no|nothing;
villager|townie|innocent|townsperson|villagers|townies|innocents|townsfolk would|does|do|will|should|could
not|never|hardly; innocent|good|honest person|player|one|people would|does|do|will not|never; wolf|werewolf|
wolves|werewolves|scum would|do|does|will|love|loves|always|often|usually|like|talk|talks|play|plays|act|
acts|behave|behaves|hide|hides|say|says|try|tries|move|thing|work|operate|behaviour|behavior|tactic|tactics|
play|strategy|tell|trick|tricks|move|moves|logic|talk; not how|what|something _? a|an|any|the? honest|real|
true|genuine|good|innocent? villager|villagers|townie|town|townsfolk|innocent|innocents|townsperson|seer|
doctor|witch|guard;
"""

LOST = """
^lose|lost|losing my|our|all|any trust|faith|confidence|credibility; trust in @ is|has gone|shaken|broken|
vanished|evaporated; no longer trust|believe|buy|support|back|vouch; used to trust|believe|back|support;
^stop trusting|believing|buying|defending; ^trust least|the? least; ^trust @ least|less|any; trust|believe
less;
"""

FOOLING = """
^fool|trick|deceive|con me|us|anyone|nobody; nobody|no-one buys|believes|trusts|likes; nobody is buying|
falling|believing;
"""

LETS = """
onto you|@|him|her|them|his|your; ^fall for @|his|her|their|your; ^see through @|him|her|them|his|you|your;
had|have|has enough of; tired|sick of; let @ fool|trick|mislead|distract|deceive|manipulate|confuse|divide|
off|get|hide|sway|slip|escape|walk|control|lead; ^fall for; let|lets|letting @ get away;
"""
