"""Thoughts in a reply are no answer, whatever sets them apart; words that look like marks are words."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from marks import slow_except
from test_text_replies import NOW, SPEAKING, VOTE, VOTING
from text_helpers import ask
from wolflab.rules import Say, pick
from wolflab.text.notes import Candidate
from wolflab.text.questions import (
    AnswerQuestion,
    Choose,
    Judge,
    Propose,
    Question,
    Reflect,
)
from wolflab.text.replies.finish import Finish, FinishReason
from wolflab.text.replies.parse import parse
from wolflab.text.replies.parsed import Decided, Preferred, Problem, Proposals, Verdict, Written
from wolflab.text.replies.thoughts import MARKS, without_thoughts
from wolflab.wwqa.reply_parser import read_reply
from wolflab.wwqa.writing import read_corrected, read_written, written_answer

DRAFT = 'First: {"reasoning": "r", "action": "vote for player_3"}. No.'
FINAL = '{"reasoning": "f", "action": "vote for player_5"}'

BLOCKS = {
    "DeepSeek": ("<think>", "</think>"),
    "DeepSeek, on lines": ("<think>\n", "\n</think>\n\n"),
    "in capitals": ("<THINK>", "</THINK>"),
    "with attributes": ('<think duration="3" done=true>', "</think>"),
    "Nova": ("<thinking>", "</thinking>\n"),
    "EXAONE Deep": ("<thought>\n", "\n</thought>"),
    "Marco-o1": ("<Thought>", "</Thought>"),
    "Hermes": ("<reasoning>", "</reasoning>"),
    "open-webui": ("<reason>", "</reason>"),
    "Reflection": ("<reflection>", "</reflection>"),
    "Claude": ("<scratchpad>", "</scratchpad>"),
    "Claude's artifacts": ("<antThinking>", "</antThinking>"),
    "monologue": ("<inner_monologue>", "</inner_monologue>"),
    "analysis": ("<analysis>", "</analysis>"),
    "chain of thought": ("<chain_of_thought>", "</chain_of_thought>"),
    "thought process": ("<thought_process>", "</thought_process>"),
    "brainstorm": ("<brainstorm>", "</brainstorm>"),
    "redacted": ("<redacted_thinking>", "</redacted_thinking>"),
    "Hunyuan 3": ("<think:opensource>", "</think:opensource>"),
    "Hunyuan 4": ("<think:6124c78e>", "</think:6124c78e>"),
    "Doubao": (
        "<think_never_used_51bce0c785ca2f68081bfa7d91973934>",
        "</think_never_used_51bce0c785ca2f68081bfa7d91973934>",
    ),
    "Seed-OSS": ("<seed:think>", "</seed:think>"),
    "MiniMax M3": ("<mm:think>", "</mm:think>"),
    "LongCat": ("<longcat_think>\n", "\n</longcat_think>"),
    "K2 Horizon": ("<ifm|think>", "</ifm|think>"),
    "K2 Horizon, fast": ("<ifm|think_fast>", "</ifm|think_fast>"),
    "Kimi-VL": ("◁think▷", "◁/think▷"),
    "Magistral": ("[THINK]", "[/THINK]"),
    "Cohere": ("<|START_THINKING|>", "<|END_THINKING|>"),
    "Apertus": ("<|inner_prefix|>", "<|inner_suffix|>"),
    "Solar Open 2": ("<|think:start|>", "<|think:end|>"),
    "bars": ("<|thinking|>", "<|/thinking|>"),
    "PLaMo 3": ("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"),
    "OpenThinker": ("<|begin_of_thought|>", "<|end_of_thought|>"),
    "Kimi K3": ("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
    "Kimi K3, with blanks": ("<|open|> think <|sep|>", "<|close|> think <|sep|>"),
    "Gemma 4": ("<|channel>thought\n", "\n<channel|>"),
    "MedGemma": ("<unused94>thought\n", "<unused95>"),
    "openPangu": ("[unused16]", "[unused17]"),
}
"""Marks before and after thoughts; the end also says that a text began with thoughts."""
PAIRS = {
    "thinking in brackets": ("[THINKING]", "[/THINKING]"),
    "thought in brackets": ("[THOUGHT]", "[/THOUGHT]"),
    "reasoning in brackets": ("[REASONING]", "[/REASONING]"),
    "open-webui": ('<details type="reasoning" done="true" duration="3">\n', "</details>\n"),
}
"""Marks that are some only in pairs."""
OPENED = {
    "Solar Open": ("<|think|>", "<|end|>"),
    "Solar Open, without an end": ("<|think|>", "<|begin|>assistant<|content|>"),
    "Inkling": ("<|content_thinking|>", "<|end_message|>"),
    "harmony": ("<|channel|>analysis<|message|>", "<|end|>"),
    "Muse Glimmer": (" to=self<|message|>", "<|eom|>"),
    "harmony, a call of a tool": (
        "<|channel|>commentary to=functions.see <|constrain|>json<|message|>",
        "<|call|>",
    ),
}
"""Marks whose end is none where nothing has begun."""
LED_TO = {
    "harmony": "<|channel|>analysis<|message|>DRAFT<|end|><|start|>assistant<|channel|>final<|message|>GIVEN",
    "harmony, whole": "<|start|>assistant<|channel|>analysis<|message|>DRAFT<|end|>\n"
    "<|start|>assistant<|channel|>final <|constrain|>json<|message|>GIVEN<|return|>",
    "harmony, an end is missing": "<|channel|>analysis<|message|>DRAFT"
    "<|start|>assistant<|channel|>final<|message|>GIVEN<|return|>",
    "harmony, begun in the prompt": "DRAFT<|end|><|start|>assistant<|channel|>final<|message|>GIVEN",
    "harmony, a preamble": "<|channel|>commentary<|message|>DRAFT<|end|>"
    "<|start|>assistant<|channel|>final<|message|>GIVEN",
    "harmony, several messages": "<|channel|>analysis<|message|>DRAFT<|end|>"
    "<|start|>assistant<|channel|>analysis<|message|>DRAFT<|end|>"
    "<|start|>assistant<|channel|>final<|message|>GIVEN",
    "harmony, a doubled header": "<|channel|>commentary to=assistant"
    "<|channel|>analysis<|message|>DRAFT<|end|>"
    "<|start|>assistant<|channel|>final<|message|>GIVEN",
    "harmony, a header without its end": "<|channel|>analysis DRAFT<|end|><|channel|>final GIVEN",
    "llm-jp": "<|channel|> analysis<|message|> DRAFT<|end|>"
    "<|start|> assistant<|channel|> final<|message|> GIVEN",
    "harmony, two finals": "<|channel|>final<|message|>DRAFT<|end|>"
    "<|start|>assistant<|channel|>final<|message|>GIVEN<|return|>",
    "harmony, a tool's answer": "<|channel|>commentary to=functions.see<|message|>DRAFT<|call|>"
    "<|start|>functions.see to=assistant<|channel|>commentary<|message|>DRAFT<|end|>"
    "<|start|>assistant<|channel|>final<|message|>GIVEN",
    "harmony, others speak on": "<|channel|>final<|message|>GIVEN<|end|>"
    "<|start|>user<|message|>And now? DRAFT<|end|>",
    "harmony without tokens": "analysisDRAFTassistantfinalGIVEN",
    "harmony without tokens, a role before": "assistantanalysisDRAFTassistantfinalGIVEN",
    "harmony without tokens, several": "analysisWe DRAFTassistantanalysisDRAFTassistantfinal\nGIVEN",
    "harmony without tokens, a preamble": "commentaryDRAFTassistantfinalGIVEN",
    "harmony without tokens, begun in the prompt": "DRAFTassistantfinalGIVEN",
    "Muse Glimmer": " to=self<|message|>DRAFT<|eom|><|start|>assistant to=user<|message|>GIVEN<|eot|>",
    "Muse Glimmer, bare": " to=self<|message|>DRAFT<|eom|><|message|>GIVEN<|eot|>",
    "Cohere": "<|START_THINKING|>DRAFT<|END_THINKING|><|START_RESPONSE|>GIVEN<|END_RESPONSE|>",
    "Cohere, the newer": "<|START_THINKING|>DRAFT<|END_THINKING|><|START_TEXT|>GIVEN<|END_TEXT|>",
    "Cohere, an end is missing": "<|START_THINKING|>DRAFT<|START_TEXT|>GIVEN<|END_TEXT|>",
    "Cohere, the answer alone": "DRAFT<|START_RESPONSE|>GIVEN<|END_RESPONSE|>DRAFT",
    "Kimi K3": "<|open|>think<|sep|>DRAFT<|close|>think<|sep|><|open|>response<|sep|>GIVEN"
    "<|close|>response<|sep|><|close|>message<|sep|>",
    "Solar Open": "<|think|>DRAFT<|end|><|begin|>assistant<|content|>GIVEN<|end|>",
    "Inkling": "<|content_thinking|>DRAFT<|end_message|>"
    "<|message_model|><|content_text|>GIVEN<|end_message|>",
    "OpenThinker": "<|begin_of_thought|>\nDRAFT\n<|end_of_thought|>\n\n<|begin_of_solution|>\nGIVEN\n"
    "<|end_of_solution|>",
    "s1": "<|im_start|>think\nDRAFT<|im_start|>answer\nGIVEN",
    "Apriel 1.5": "DRAFT\n[BEGIN FINAL RESPONSE]\nGIVEN\n[END FINAL RESPONSE]\n<|end|>",
    "Apriel 1.6": "Here are my reasoning steps:\nDRAFT\n[BEGIN FINAL RESPONSE]\nGIVEN",
    "Granite 3.2": "Here is my thought process: DRAFT\n\nHere is my response: GIVEN",
    "Granite 3.2, quantised": "Here's my thought process:\nDRAFT\nHere's my response:\nGIVEN",
    "HuatuoGPT-o1": "## Thinking\n\nDRAFT\n\n## Final Response\n\nGIVEN",
    "Cherry Studio": "###Thinking\nDRAFT\n###Response\nGIVEN",
    "Hunyuan-A13B": "<think>\nDRAFT\n</think>\n<answer>\nGIVEN\n</answer>",
    "Hunyuan-A13B, on one line": "<think>DRAFT</think><answer>GIVEN</answer>",
    "R1-Zero, no marks of thoughts": "DRAFT\n<answer>GIVEN</answer>",
    "R1-Zero, no end": "<think>DRAFT</think> <answer>GIVEN",
    "R1-Zero, thoughts without an end": "<think>DRAFT <answer>GIVEN</answer>",
    "R1-Zero, answered twice": "<think>DRAFT</think><answer>DRAFT</answer>\n<answer>GIVEN</answer>",
    "GLM-4.1V": "<think>DRAFT</think><answer><|begin_of_box|>GIVEN<|end_of_box|></answer>",
    "Granite 3.3": "<think>DRAFT</think><response>GIVEN</response>",
    "ERNIE": "DRAFT\n</think>\n\n<response>\nGIVEN\n</response>\n",
    "Reflection": "<thinking>\nHm.\n<reflection>DRAFT</reflection>\nYes.\n</thinking>\n"
    "<output>\nGIVEN\n</output>",
    "Marco-o1": "<Thought>DRAFT</Thought>\n<Output>GIVEN</Output>",
    "LLaVA-CoT": "<SUMMARY>s</SUMMARY>\n<REASONING>DRAFT</REASONING>\n<CONCLUSION>GIVEN</CONCLUSION>",
    "wrapped": "DRAFT\n<final>GIVEN</final>",
    "Gemma 4, an end too many": "<|channel>thought\nDRAFT\n<channel|>GIVEN<channel|>",
    "Gemma 4, an empty block at the end": "<|channel>thought\nDRAFT<channel|>GIVEN"
    "<|channel>thought\n<channel|>",
    "Gemma 4, the end of the turn": "<|channel>thought\nDRAFT<channel|>GIVEN<turn|>",
    "MiniMax M3, an end alone": "</mm:think>GIVEN",
    "nested": "<think>DRAFT <think>DRAFT</think> DRAFT</think>GIVEN",
    "nested, of two kinds": "<thinking>DRAFT<reflection>DRAFT</reflection>DRAFT</thinking>GIVEN",
    "several blocks": "<think>DRAFT</think>\n<think>DRAFT</think>\n[THINK]DRAFT[/THINK]GIVEN",
    "an end twice": "DRAFT</think>DRAFT</think>GIVEN",
    "blocks after the answer": "GIVEN<think>DRAFT</think>",
    "nothing begun after the answer": "GIVEN<think>",
}
"""Where marks say where the answer is, and what goes wrong with them."""


def test_the_documentation_lists_the_marks_of_every_family() -> None:
    page = (Path(__file__).parent.parent / "docs" / "models.md").read_text(encoding="utf-8")
    listed = page.replace("\\|", "|").replace("`", "")
    for family in MARKS:
        first = (*family.begin, *family.answer)[0].replace(":*", ":…").replace("_*", "_…").replace("*", "")
        assert first in listed, family


def told(text: str, draft: str = DRAFT, final: str = FINAL) -> str:
    return text.replace("DRAFT", draft).replace("GIVEN", final)


WITH_ANSWER = {
    **{
        f"{name}: a block": f"{begin}DRAFT{end}GIVEN"
        for name, (begin, end) in (BLOCKS | PAIRS | OPENED).items()
    },
    **{f"{name}: an end alone": f"DRAFT{end}GIVEN" for name, (_, end) in BLOCKS.items()},
    **{f"{name}: blanks around": f"\n {begin}DRAFT{end}\nGIVEN" for name, (begin, end) in BLOCKS.items()},
    **LED_TO,
}
WITHOUT_ANSWER = {
    **{f"{name}: no end": f"{begin}DRAFT" for name, (begin, _) in (BLOCKS | OPENED).items()},
    **{f"{name}: nothing after it": f"{begin}DRAFT{end}" for name, (begin, end) in (BLOCKS | PAIRS).items()},
    **{f"{name}: an end alone": f"DRAFT{end}\n" for name, (_, end) in BLOCKS.items() if name != "Gemma 4"},
    **{f"{name}: after a draft": f"DRAFT\n{begin}Hm, no." for name, (begin, _) in BLOCKS.items()},
    "harmony without tokens": "analysisWe think. DRAFT",
    "harmony without tokens, at once": "analysisDRAFT".replace("DRAFT", '{"action": "vote for player_3"}'),
    "harmony, an analysis after a preamble": "<|channel|>commentary<|message|>DRAFT<|end|>"
    "<|start|>assistant<|channel|>analysis<|message|>Hm.<|end|>",
    "an answer within thoughts that go on": "<think>\n<answer>GIVEN</answer>\nBut no, DRAFT",
}


@pytest.mark.parametrize("text", WITH_ANSWER.values(), ids=WITH_ANSWER)
def test_a_draft_in_thoughts_is_no_answer(text: str) -> None:
    assert parse(VOTING, told(text)) == Decided(pick(4), "f")
    assert read_reply(told(text, "No. No", "Yes"), "Yes").said == "Yes"


@pytest.mark.parametrize("text", WITHOUT_ANSWER.values(), ids=WITHOUT_ANSWER)
def test_thoughts_alone_are_no_answer(text: str) -> None:
    problem = parse(VOTING, told(text))
    assert isinstance(problem, Problem)
    assert problem.usable is None
    assert problem.reason == "the reply holds thoughts and no answer; give the answer after your thoughts"
    cut = parse(VOTING, told(text), Finish(FinishReason.CUT))
    assert isinstance(cut, Problem)
    assert "before the answer began" in cut.reason
    assert not read_reply(told(text, "Yes.", "Yes"), "Yes").readable


HARMONY = LED_TO["harmony"]
PROPOSING = Question(NOW, Propose(VOTE, 2))
JUDGING = Question(NOW, Judge(VOTE, "votes for player_3", (("good", "is it good?"),)))
CHOOSING = Question(NOW, Choose(VOTE, tuple(Candidate(f"vote for player_{n}") for n in (3, 5))))
NEVER = "Does the Guard ever sleep?"
EVER = "May the Guard protect nobody at all?"


def test_all_that_read_replies_read_them_alike() -> None:
    spoken = told(HARMONY, '{"statement": "I trust player_3."}', '{"statement": "I trust player_5."}')
    assert parse(SPEAKING, spoken) == Decided(Say("I trust player_5."), "")
    offered = [
        json.dumps({"candidates": [{"action": f"vote for player_{n}"} for n in two]})
        for two in ((1, 2), (3, 4))
    ]
    proposed = parse(PROPOSING, told(HARMONY, *offered))
    assert proposed == Proposals((Decided(pick(2), ""), Decided(pick(3), "")))
    assert parse(CHOOSING, told(HARMONY, '{"choice": 1}', '{"choice": 2}')) == Preferred(1, "")
    assert parse(JUDGING, told(HARMONY, '{"good": "yes"}', '{"good": "no"}')) == Verdict({"good": False}, "")
    free = Question(NOW, AnswerQuestion(ask("vote", VOTE.options), "Who?", ()))
    assert parse(free, told(HARMONY, "I trust player_3.", "I trust player_5.")) == Written(
        "I trust player_5."
    )
    assert written_answer(told(HARMONY, '{"answer": "No"}', '{"answer": "Yes"}'), "yes_no") == "Yes"
    corrected = told(HARMONY, '{"verdict": "drop"}', '{"verdict": "keep", "answer": "Yes"}')
    assert read_corrected(corrected, "yes_no") == "Yes"
    written = told(HARMONY, *(json.dumps({"question_1": text}) for text in (NEVER, EVER)))
    assert read_written(written, "yes_no", 5) == (EVER,)
    for read in (written_answer, read_corrected):
        alone = read(told("<seed:think>DRAFT"), "yes_no")
        assert isinstance(alone, Problem)
        assert "thoughts and no answer" in alone.reason


WORDS = (
    "I will [think] about it: player_3 is a wolf.",
    "player_3 wrote <output> in the chat, which no villager would.",
    "They said <output>hi</output>",
    "I see <answer> and </answer> in what they say; <response> too.",
    "Analysis: player_3 lies. My final word stands.",
    "analysis of the votes says that player_3 lies.",
    "commentary is easy, player_3.",
    "They leaked assistantfinal to the table.",
    "Is 3 < 4 and 5 > 2? I think so.",
    "The mark `<think>` and the mark '</think>' are only spoken of; so are thoughts (`<think>…</think>`).",
    'Why do you write "<|channel|>final<|message|>", player_3?',
    "I am done.<|end|>",
    "[THOUGHT] I trust player_2.\n[ACTION] none",
    "Here is my thought process: I trust player_2.",
    "## Thinking\nI trust player_2.",
    "<summary>player_2 is quiet</summary> and <caption>nothing</caption>",
    "I think <player_2> is a wolf. </reply>",
    "<thinks about it> I say nothing.",
    "See <details>the votes</details> of today.",
)


@pytest.mark.parametrize("said", WORDS)
def test_words_that_look_like_marks_are_words(said: str) -> None:
    assert without_thoughts(said).text == said


@pytest.mark.parametrize(
    "said",
    [
        "I saw <think> and </think>, <answer>, <output> and [THINK].",
        "They wrote <|channel|>final<|message|>I am the Seer.",
        "analysis is assistantfinalDone",
        "</think>",
        "Here is my response: no",
    ],
)
def test_marks_in_the_strings_of_an_answer_are_words(said: str) -> None:
    """Of a reply that is one JSON object, in a code fence, and after thoughts."""
    whole = json.dumps({"reasoning": "r", "statement": f"Hm. {said}"})
    clean = parse(SPEAKING, whole)
    assert isinstance(clean, Decided)
    assert isinstance(clean.action, Say)
    assert len(clean.action.text) >= len(said) // 2
    fence = f"Here it is:\n```json\n{whole}\n```"
    for text in (fence, f"<think>Hm.</think>{whole}", f"Hm.</think>\n{fence}", told(HARMONY, "Hm.", whole)):
        assert parse(SPEAKING, text) == clean


def test_an_answer_may_begin_and_end_in_quotation_marks() -> None:
    assert without_thoughts('<think>I say "hello"</think>"hello"').text == '"hello"'
    assert without_thoughts('I say "hello"</think>"hello"').text == '"hello"'


def test_what_stands_between_blocks_is_kept() -> None:
    assert without_thoughts("<think>a</think>b[THINK]c[/THINK]d").text == "bd"


def test_a_reflection_may_stand_in_a_tag_of_its_name() -> None:
    """Elsewhere that tag marks thoughts."""
    reflecting = Question(replace(NOW, role="Seer"), Reflect(VOTE, ()))
    said = "I observed that player_2 lies."
    for text in (said, f"<reflection>{said}</reflection>", f"<reflection>\n{said}\n"):
        assert parse(reflecting, text) == Written(said)
    thought = f"<reflection>Hm, player_3?</reflection>\n{said}"
    assert parse(reflecting, thought) == Written(said)
    assert parse(reflecting, f"<think>Hm</think><reflection>Hm</reflection>{said}") == Written(said)


@pytest.mark.parametrize("marks", [("<think>", "</think>"), ("", "</think>"), ("[THINK]", "[/THINK]")])
def test_long_thoughts_do_not_cut_the_answer_off(marks: tuple[str, str]) -> None:
    """What is read is bounded without them."""
    thoughts = f"{marks[0]}{('I wonder. ' + DRAFT) * 3_000}{marks[1]}"
    assert len(thoughts) > 200_000
    assert parse(VOTING, thoughts + FINAL) == Decided(pick(4), "f")
    free = Question(NOW, AnswerQuestion(ask("vote", VOTE.options), "Who?", ()))
    assert parse(free, thoughts + "I trust player_5.") == Written("I trust player_5.")
    assert read_reply(thoughts + "Yes", "Yes").said == "Yes"


def steps(text: str) -> int:
    """How many calls of functions, Python's own included, the reading of a text takes."""
    count = 0

    def counting(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counting)
    try:
        without_thoughts(text)
    finally:
        sys.setprofile(None)
    return count


LONG: dict[str, Callable[[int], str]] = {
    **{
        mark: lambda n, mark=mark: mark * (n // len(mark))  # type: ignore[misc]
        for mark in (
            "<think>",
            "</think>",
            "<answer>",
            "<think></think>",
            "<answer></answer>\n",
            "<",
            "{",
            "[THOUGHT]",
            "<|START_RESPONSE|>",
            "<think><|START_TEXT|>",
            "<|channel|>analysis<|message|>",
            "<|channel|>commentary<|message|><|end|>",
            "assistantfinal{",
            '{"</think>',
            '{"a": "</think>"}',
            "`<think>`",
            "<channel|>",
            "\n",
        )
    },
    "answers": lambda n: "<answer>\n" * (n // 20) + "</answer>" + " " * (n // 2) + "x",
    "thoughts and answers": lambda n: "<think>\n<answer>\n" * (n // 40) + "</answer>" + " " * (n // 2) + "x",
    "one block": lambda n: f"<think>{'hm ' * (n // 3)}</think>{FINAL}",
}


@pytest.mark.parametrize("name", slow_except(["<think>", "{", "answers"], LONG))
def test_megabytes_of_marks_are_read_in_steps_that_grow_with_their_length(name: str) -> None:
    """(Whatever took a time that grows with the square would not come to an end here.)"""
    text = LONG[name]
    without_thoughts(text(5_000_000 if name in ("<think>", "one block") else 1_000_000))
    few, many = steps(text(50_000)), steps(text(200_000))
    assert many <= 4.5 * few + 200
