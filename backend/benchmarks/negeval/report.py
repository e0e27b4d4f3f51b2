"""Tables in the paper's form, figures, and every item as one line of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from backend.benchmarks.negeval.figures import write_figures
from backend.benchmarks.negeval.run import CandidateSet, Result
from backend.reports.document import Block, markdown
from backend.reports.jsonable import json_text
from backend.reports.tables import Table
from backend.retrieval.steering import DEFAULT_LAMBDA

SCORERS = ("raw", "steered", "exclusion")
PUBLISHED = (
    "Published for LAION-CLAP and M2D-CLAP: MCQ-Neg negation 0.2-7.1 %, average 22-45 %; negated-query margin +0.018, "
    "affirmative-query margin +0.072, their correlation 0.76; normalised affinity 1.07, polarity/content 0.30, "
    "scope permutation 0.70, content swap 0.58, bag of concepts 0.82."
)


def write_report(result: Result, folder: Path) -> list[Path]:
    """Write negeval.json, tables.md, item lists and figures into a folder, and say which files they are."""
    folder.mkdir(parents=True, exist_ok=True)
    record = result.record()
    written = [
        _text(folder / "negeval.json", json_text(record)),
        _text(folder / "tables.md", tables(record)),
    ]
    written.append(_lines(folder / "retrieval.jsonl", (row for one in result.sets for row in _retrieval_rows(one))))
    written.append(_lines(folder / "mcq.jsonl", (row for one in result.sets for row in _question_rows(one))))
    if result.pairs:
        written.append(_lines(folder / "pairs.jsonl", result.pairs))
    return written + write_figures(record, blocks(record), folder)


def _text(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8")
    return path


def _lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    return _text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def _retrieval_rows(one: CandidateSet) -> Iterable[dict[str, Any]]:
    for item in one.retrieval:
        row = asdict(item)
        row["relevant"] = [one.concepts[index].id for index in item.relevant]
        yield {"set": one.name, **row}


def _question_rows(one: CandidateSet) -> Iterable[dict[str, Any]]:
    for place, question in enumerate(one.questions):
        concepts = one.concepts[question.clip]
        yield {
            "set": one.name,
            "clip": question.clip_id,
            "kind": question.kind,
            "present": concepts.present,
            "absent": concepts.absent,
            "options": [
                {"text": option.text, "affirmed": option.present, "negated": option.absent}
                for option in question.options
            ],
            "answer": question.answer,
            "chosen": {name: int(choice[place]) for name, choice in one.chosen.items()},
        }


def tables(record: Mapping[str, Any]) -> str:
    """Tables I to V as Markdown."""
    return markdown(blocks(record))


def blocks(record: Mapping[str, Any]) -> list[Block]:
    """Tables I to V, percentages with 95 % intervals, and what is to be known about them."""
    encoder, collection = record["encoder"], record["collection"]
    parts: list[Block] = [
        f"# NegEval: {collection['name']}, {encoder['id']} ({encoder['weights']})",
        f"{counted(collection['clips'], 'clip')}, "
        f"{counted(len(collection['skipped']), 'row')} left out; seed {record['options']['seed']}; "
        f"calibrated on {record['calibrated on']}. In brackets: 95 % bootstrap intervals. {PUBLISHED}",
        *(f"Note: {note}" for note in record["notes"]),
    ]
    for name in ("clips", "mixtures"):
        if "retrieval" in record.get(name, {}):
            parts += _retrieval_table(name, record[name]["retrieval"])
        if "multiple choice" in record.get(name, {}):
            parts += _choice_table(name, record[name]["multiple choice"])
        parts += _sweep_table(name, record.get(name, {}))
    if "controlled pairs" in record:
        parts += _pair_table(record["controlled pairs"])
    return parts


def counted(number: int, one: str, many: str = "") -> str:
    """ "1 clip", "2 clips", "2 queries"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _cell(measure: Mapping[str, float]) -> str:
    return f"{100 * measure['value']:.1f} ({100 * measure['low']:.1f}-{100 * measure['high']:.1f})"


def _grid(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    return Table(tuple(header), [dict(zip(header, row, strict=True)) for row in rows])


def _retrieval_table(name: str, table: Mapping[str, Any]) -> list[Block]:
    ranks = [k for k in (1, 5, 10) if k < table["candidates"]]
    rows = [
        [form, scorer, *(_cell(table[form][scorer][f"R@{k}"]) for k in ranks)]
        for form in ("standard", "template", "fluent")
        for scorer in SCORERS
        if scorer in table[form]
    ]
    counts = f"{counted(table['queries'], 'query', 'queries')}, {counted(table['candidates'], 'candidate')}"
    title = f"## Table I: Retrieval-Neg over {name} ({counts}, %)"
    return [title, _grid(["query", "scorer", *(f"R@{k}" for k in ranks)], rows)]


def _choice_table(name: str, table: Mapping[str, Any]) -> list[Block]:
    kinds = ("affirmation", "negation", "hybrid", "average")
    rows = [[scorer, *(_cell(table[scorer][kind]) for kind in kinds)] for scorer in SCORERS]
    return [
        f"## Table II: MCQ-Neg over {name} ({counted(table['questions'], 'question')}, chance 25 %, %)",
        _grid(["scorer", *kinds], rows),
    ]


def _sweep_table(name: str, section: Mapping[str, Any]) -> list[Block]:
    rows = []
    if section.get("retrieval", {}).get("candidates", 0) > 5:
        for form in ("template", "fluent"):
            rows.append(
                [f"R@5 {form}", *(f"{100 * m['value']:.1f}" for m in section["retrieval"][form]["sweep R@5"].values())]
            )
    if "multiple choice" in section:
        sweep = section["multiple choice"]["sweep average"]
        rows.append(["MCQ average", *(f"{100 * measure['value']:.1f}" for measure in sweep.values())])
    if not rows:
        return []
    lambdas = list(
        (section.get("multiple choice") or {}).get("sweep average") or section["retrieval"]["fluent"]["sweep R@5"]
    )
    return [
        f"## Table III: steering over {name}, by lambda (the paper uses {DEFAULT_LAMBDA}, %)",
        _grid(["", *lambdas], rows),
    ]


def _pair_table(record: Mapping[str, Any]) -> list[Block]:
    rows = [
        [
            scorer,
            "{value:+.4f} ({low:+.4f} to {high:+.4f})".format(**record["negated margin"][scorer]),
            _cell(record["target preferred"][scorer]),
        ]
        for scorer in SCORERS
    ]
    text = record["text side"]
    figures = [
        [
            name,
            "undefined" if value is None else f"{value:.2f}" if isinstance(value, float) else f"{value['value']:.2f}",
        ]
        for name, value in text.items()
    ]
    correlation = "undefined" if record["margin correlation"] is None else f"{record['margin correlation']:.2f}"
    wanted = "{value:+.4f} ({low:+.4f} to {high:+.4f})".format(**record["affirmative margin"])
    return [
        f"## Tables IV and V: {counted(record['pairs'], 'controlled pair')}",
        _grid(["scorer", "negated-query margin", "target preferred (%)"], rows),
        f"Affirmative-query margin {wanted}; correlation of raw margins {correlation}; "
        f"presence of Y higher where Y is: {_cell(record['presence of Y higher where Y is'])} %.",
        _grid(["text side", "mean"], figures),
    ]
