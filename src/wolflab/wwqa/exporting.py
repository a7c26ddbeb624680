"""Exports of questions: a data set for Hugging Face, tasks for lm-evaluation-harness and for Inspect. All
three have the same rows, with the prompts of `asking.prompt` to the byte. Both tools read replies by copies
of `reply_parser.py` and of `thoughts.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, Literal, get_args

import msgspec
import yaml

from .. import __version__
from ..errors import WolflabError
from ..files import read_file
from .answer_reading import answer_words, read_answer
from .asking import prompt
from .evaluating import MAX_TOKENS, TEST_SPLITS
from .items import Form, Item, Split
from .question_files import QuestionFile, read_questions

ExportTarget = Literal["hf", "lm-eval", "inspect"]

_PURPOSE: Mapping[str, str] = {
    "train": "training",
    "validation": "choosing what to keep of a training",
    "situations": "kinds and wordings as in training, other situations",
    "wordings": "wordings that training has none of",
    "kinds": "kinds of questions that training has none of",
    "ruleset": "other rules, in pairs in the same words; the rules always stand in front",
}
_TOLD = {
    True: "the rules in words, the question with its options, and what form the answer is to have",
    False: "the question with its options, and what form the answer is to have; in the split `ruleset` the "
    "rules in words stand in front",
}
_CAVEAT = {
    True: "So the rules stand in front of every question.",
    False: "They stand in front of the split `ruleset` alone; elsewhere a model has to know them.",
}
_FEATURES: Mapping[str, Mapping[str, Any]] = {
    "prompt": {"list": [{"name": "role", "dtype": "string"}, {"name": "content", "dtype": "string"}]},
    "completion": {"list": [{"name": "role", "dtype": "string"}, {"name": "content", "dtype": "string"}]},
    "choices": {"list": "string"},
    "difficulty": {"dtype": "int64"},
    "derivation": {"list": "string"},
    "words": {"list": {"list": "string"}},
}
"""The types of columns that are not plain text, in a card's words."""


def exported(path: Path, to: ExportTarget, rules_text: bool = True, built_with: str = "") -> dict[str, bytes]:
    """The files of an export, by name.

    path: a file of questions with splits. rules_text: put the rules in front (always for the split
    `ruleset`). built_with: the command that made the questions, for a card. WolflabError for questions that
    cannot be exported so.
    """
    file = read_questions(path)
    items = file.items
    _check(file, rules_text)
    splits = {
        split: rows
        for split in (get_args(Split) if to == "hf" else TEST_SPLITS)
        if (rows := [item for item in items if item.split == split])
    }
    if not splits:
        raise WolflabError(
            f"{path}: it has no test questions ({', '.join(TEST_SPLITS)}); `--format hf` takes what it has"
        )
    encode = msgspec.json.Encoder().encode_lines
    made = {
        f"{split}.jsonl": encode(_row(path, item, rules_text) for item in rows)
        for split, rows in splits.items()
    }
    if to == "hf":
        return made | {"README.md": _card(path, splits, rules_text, built_with)}
    return made | (_lm_eval(splits) if to == "lm-eval" else _inspect(splits))


def _check(file: QuestionFile, rules_text: bool) -> None:
    """WolflabError for a file that cannot be exported so."""
    path, items = file.path, file.items
    if file.unusable:
        raise WolflabError(f"{path}, line {file.unusable[0].line}: {file.unusable[0].made}")
    if loose := sum(not item.split for item in items):
        raise WolflabError(
            f"{path}: questions of no split: {loose:,} of {len(items):,}; name a file that "
            "`wolflab wwqa build` made, or give each question a split"
        )
    if unruled := sum(not item.rules for item in items if rules_text or item.split == "ruleset"):
        raise WolflabError(
            f"{path}: questions that do not say which rules they are about: {unruled:,}, so no rules can "
            "stand in front; say it in the file, or leave the rules out with --rules-text no (of the split "
            "`ruleset` they cannot be left out)"
        )
    seen: set[str] = set()
    for item, row in zip(items, file.used, strict=True):
        if item.id in seen:
            raise WolflabError(
                f"{path}, line {row.line}: the same question stands in it before; delete one of them"
            )
        seen.add(item.id)


def _row(path: Path, item: Item, rules_text: bool) -> dict[str, Any]:
    """A question with the columns of every export."""
    reply = item.right_reply
    if not read_answer(item, reply).right:
        raise WolflabError(
            f"{path}: {item.answer[:60]!r} is no answer in the form that is asked for "
            f"({item.question[:60]!r}); mend or delete that question"
        )
    return {
        "id": item.id,
        "prompt": [{"role": "user", "content": prompt(item, rules_text or item.split == "ruleset")}],
        "completion": [{"role": "assistant", "content": reply}],
        "question": item.question,
        "choices": item.choices,
        "answer": item.answer,
        "form": item.form,
        "answer_type": item.answer_type,
        "category": item.category,
        "kind": item.kind,
        "wording": item.wording,
        "difficulty": item.difficulty,
        "cluster": item.cluster,
        "pair": item.pair,
        "rules": _rules(item),
        "derivation": item.derivation,
        "words": sorted(answer_words(item).items()),
    }


def _rules(item: Item) -> str:
    if isinstance(item.rules, str):
        return item.rules
    if item.rules.keys() == {"preset"}:
        return str(item.rules["preset"])
    return msgspec.json.encode(item.rules, order="sorted").decode()


def filled(template: str, **values: object) -> bytes:
    """A text of `templates/` with its fields filled."""
    text = files("wolflab.wwqa").joinpath(f"templates/{template}.txt").read_text(encoding="utf-8")
    return Template(text).substitute(values).encode()


# -- Hugging Face -----------------------------------------------------------------------------


def _card(path: Path, splits: Mapping[str, Sequence[Item]], rules_text: bool, built_with: str) -> bytes:
    items = [item for inside in splits.values() for item in inside]
    told = sorted({f"`{_rules(item) or 'unknown'}`" for item in items if item.split != "ruleset"})
    if others := {_rules(item) for item in splits.get("ruleset", ())}:
        told.append(f"{len(others)} other rulesets in the split `ruleset`")
    return filled(
        "hf.md",
        front=yaml.safe_dump(_front(splits), sort_keys=False).rstrip(),
        n=f"{len(items):,}",
        version=__version__,
        table=_table(splits),
        told=_TOLD[rules_text],
        built_with=f"`{built_with}`" if built_with else "the questions do not say which command made them",
        rules="; ".join(told),
        digest=sha256(read_file(path)).hexdigest(),
        command=f"wolflab wwqa export {path.name} --format hf --rules-text {'yes' if rules_text else 'no'}",
        derived=f"{sum(bool(item.derivation) for item in items):,}",
        caveat=_CAVEAT[rules_text],
    )


def _front(splits: Mapping[str, Sequence[Item]]) -> dict[str, Any]:
    """A card's front matter: files, columns and their types."""
    n = sum(map(len, splits.values()))
    sizes = {1_000: "n<1K", 10_000: "1K<n<10K", 100_000: "10K<n<100K"}
    columns = list(_row(Path(), Item(question="", answer="Yes"), False))
    features = [{"name": name, **_FEATURES.get(name, {"dtype": "string"})} for name in columns]
    return {
        "license": "mit",
        "language": ["en"],
        "pretty_name": "Questions on the rules of Werewolf",
        "task_categories": ["question-answering"],
        "size_categories": [next((size for most, size in sizes.items() if n < most), "100K<n<1M")],
        "configs": [
            {
                "config_name": "default",
                "data_files": [{"split": split, "path": f"{split}.jsonl"} for split in splits],
            }
        ],
        "dataset_info": {"features": features},
    }


def _table(splits: Mapping[str, Sequence[Item]]) -> str:
    """The contents of each split, as a Markdown table."""
    heads = ("split", "for", "questions", "Yes", "No", "choice", "open", "about rules", "kinds", "clusters")
    lines = [heads, ("---",) * 2 + ("---:",) * (len(heads) - 2)]
    for split, items in splits.items():
        forms = Counter(item.answer if item.form == "yes_no" else item.form for item in items)
        counts = [len(items), *(forms[form] for form in ("Yes", "No", "choice", "open"))]
        counts += [sum(item.category == "rule" for item in items)]
        counts += [len({item.kind for item in items}), len({item.cluster for item in items})]
        lines.append((f"`{split}`", _PURPOSE[split], *map(str, counts)))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


# -- tools that evaluate ----------------------------------------------------------------------


def _lm_eval(splits: Mapping[str, Sequence[Item]]) -> dict[str, bytes]:
    made = {}
    for split, items in splits.items():
        metrics = "\n".join(
            f"  - {{metric: acc_{form}, aggregation: mean, higher_is_better: true}}"
            for form in get_args(Form)
            if any(item.form == form for item in items)
        )
        made[f"wwqa_{split}.yaml"] = filled("lm_eval.yaml", row=split, max_tokens=MAX_TOKENS, metrics=metrics)
    group = {"group": "wwqa", "task": [f"wwqa_{split}" for split in splits]}
    made |= {"wwqa.yaml": yaml.safe_dump(group, sort_keys=False).encode(), "utils.py": filled("lm_eval.py")}
    return made | _page_and_parser("lm_eval.md", splits)


def _inspect(splits: Mapping[str, Sequence[Item]]) -> dict[str, bytes]:
    tasks = "\n\n\n".join(
        f'@task\ndef wwqa_{split}():\n    """{_PURPOSE[split].capitalize()}."""\n    return row("{split}")'
        for split in splits
    )
    task = filled("inspect.py", tasks=tasks, max_tokens=MAX_TOKENS)
    return {"wwqa.py": task} | _page_and_parser("inspect.md", splits)


def _page_and_parser(template: str, splits: Mapping[str, Sequence[Item]]) -> dict[str, bytes]:
    """The files for both tools: a page on the tasks, and copies of the parser of replies."""
    page = filled(
        template,
        n=f"{sum(map(len, splits.values())):,}",
        tasks="1 task" if len(splits) == 1 else f"{len(splits)} tasks",
        names=", ".join(f"`wwqa_{split}` ({len(items):,})" for split, items in splits.items()),
        max_tokens=MAX_TOKENS,
    )
    parser = {"wolflab.wwqa": "reply_parser.py", "wolflab.text.replies": "thoughts.py"}
    copies = {name: files(package).joinpath(name).read_bytes() for package, name in parser.items()}
    return {"README.md": page, **copies}
