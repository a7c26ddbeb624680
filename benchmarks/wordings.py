"""How far the wording of a prompt moves a model on this machine, in one decision.

    python benchmarks/wordings.py WEIGHTS [--deals 4] [--wordings 5] [--same-names]

WEIGHTS is what stands after `hf/`. In each deal the first Werewolf is asked whom to kill in the first night,
in each wording. Its reply is begun for it, up to the name of a player, and the probabilities of the players
are read off the next token. Printed are the likeliest player of each deal and wording, how often it is
another than in wording 0 and how often the one that the prompt lists first, and the components of variance of
one number: the probability of the first player, in the order of seats, who may be chosen. --same-names: only
phrasings and orders differ.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np

from wolflab.agents.memory import remember, situation
from wolflab.lab.plans.wordings import rules_in_wording
from wolflab.match import Draws
from wolflab.match.draws import draw_of_deal
from wolflab.models.weights import LoadedWeights, load_weights
from wolflab.rules import CHANCE, DOCTOR, Ask, Log, Pick, Ruleset, pick
from wolflab.rules.engine import begin, step
from wolflab.stats.clusters import ClusteredSums, Floats
from wolflab.stats.components import error_components
from wolflab.stats.intervals import quotient
from wolflab.text.asking.acting import options_in_words
from wolflab.text.asking.options import label, labels
from wolflab.text.asking.prompts import messages
from wolflab.text.questions import Decide, Question


def first_kill(rules: Ruleset, deal: int) -> tuple[Question, Ask]:
    """The question to the first Werewolf in the first night."""
    now, log = begin(rules), Log(rules)
    log.extend(now.events)
    while now.asks[0].seat == CHANCE:
        drawn = [draw_of_deal(ask, now.state, Draws(f"1/{deal}"), None) for ask in now.asks]
        now = step(now.state, drawn)
        log.extend(now.events)
    ask = next(ask for ask in now.asks if ask.kind == "kill")
    view = log.view(ask.seat)
    return Question(situation(view, remember(view, prune=False), ask, "append"), Decide(ask)), ask


def probabilities(weights: LoadedWeights, question: Question, ask: Ask) -> dict[int, float]:
    """Seat → how probable the model's choice of it is, among the options."""
    import torch

    chat = [{"role": message.role, "content": message.content} for message in messages(question)]
    text = weights.tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    begun = text + '{"reasoning": "", "action": "'
    each: list[list[int]] = [
        weights.tokenizer.encode(f"{begun}{label}", add_special_tokens=False)
        for label in labels(ask, question.situation.ruleset)
    ]
    shared = next(k for k, ids in enumerate(zip(*each, strict=False)) if len({*ids}) > 1)
    with torch.no_grad():
        logits: Any = weights.model(torch.tensor([each[0][:shared]])).logits[0, -1]
    chosen = torch.softmax(logits[[ids[shared] for ids in each]], 0).tolist()
    seats = [option.seat for option in ask.options or () if isinstance(option, Pick)]
    return dict(zip(seats, chosen, strict=True))


def main(name: str, deals: int, wordings: int, same_names: bool) -> None:
    """Ask, and print as the module says."""
    weights, first, moved, leading = load_weights(name), np.zeros((deals, wordings)), 0, 0
    for deal in range(deals):
        likeliest: list[int] = []
        told: list[str] = []
        for wording in range(wordings):
            rules = rules_in_wording(DOCTOR, wording, not same_names)
            question, ask = first_kill(rules, deal)
            found = probabilities(weights, question, ask)
            best = max(found, key=lambda seat: found[seat])
            likeliest.append(best)
            told.append(f"seat {best} ({found[best]:.2f})")
            first[deal, wording] = found[min(found)]
            leading += options_in_words(ask, rules, "own")[0] == label(pick(best), ask.kind, rules)
        moved += sum(best != likeliest[0] for best in likeliest)
        print(f"deal {deal}: {', '.join(told)}", flush=True)
    print(f"another player than in wording 0: {moved} of {deals * (wordings - 1)}")
    print(f"the player that is listed first: {leading} of {deals * wordings}")
    _print_components(first)


def _print_components(values: Floats) -> None:
    sums = np.stack([values, np.ones_like(values)], axis=-1)
    linear = ClusteredSums.of(sums).linearised(quotient)
    parts = None if linear is None else error_components(linear)
    if parts is None:
        return
    low, high = math.sqrt(parts.draws_low), math.sqrt(parts.draws_high)
    print(
        f"probability of the first player, {np.mean(values):.2f}; standard deviation between deals "
        f"{math.sqrt(parts.between_deals):.2f}, between wordings {math.sqrt(parts.between_draws):.2f} "
        f"({low:.2f} to {high:.2f}), rest {math.sqrt(parts.rest):.2f}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("weights")
    parser.add_argument("--deals", type=int, default=4)
    parser.add_argument("--wordings", type=int, default=5)
    parser.add_argument("--same-names", action="store_true")
    given = parser.parse_args()
    main(given.weights, given.deals, given.wordings, given.same_names)
