"""Words and turns of phrase of trust, and those that tell nothing; see `text.reading.lexicon` for the tables.

An entry ends with a semicolon; see `text.reading.lexicon` for how it is written.
"""

from __future__ import annotations

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
