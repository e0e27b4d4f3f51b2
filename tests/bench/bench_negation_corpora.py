"""Public corpora of negation, out of domain: ``python -m tests.bench.bench_negation_corpora FOLDER``.

The parser is made for queries about sounds; these corpora are other prose, so what they say is how
far its grammar of absence reaches beyond them. Nothing of them is shipped. FOLDER holds files of one
of two layouts, told apart by what is in them:

* NegEx's test set (Apache licence): number, finding, sentence, ``Affirmed`` or ``Negated``, with tabs between.
  A finding counts as absent when an absent concept or its scope covers it.
* CD-SCO of *SEM 2012: one token a line, blank lines between sentences, token in column 4, and from column 8
  three columns (cue, scope, event) for each negation, ``_`` where there is none, ``***`` for none at all.
  Cues are right when they overlap (partial words such as "un-" are left out: no query writes them), scopes are
  compared token by token and as a whole.

Compared with the naive reading: everything behind the first "no", "not", "never", "without" or "nor" is absent.

Measured on 90 findings (39 negated; 50 sentences of reports 20 to 23 of NegEx's Annotations-1-120.txt), which played
no part in making the grammar: precision 1.00, recall 0.74, F1 0.85, the naive reading 0.97, 0.77, 0.86. Every miss
hangs on words that queries about sounds do not use ("denies" 6, "negative for" 2, "could no longer" 1, "seemed to
have resolved" 1), so the grammar was left as it is. CD-SCO was not at hand, so there is no figure for cues and scopes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from backend.errors import InputError
from backend.negation import parse_query

NAIVE = re.compile(r"\b(?:no|not|never|without|nor)\b", re.IGNORECASE)
Span = tuple[int, int]


@dataclass
class Counts:
    """True and false positives and negatives."""

    right: int = 0
    false: int = 0
    missed: int = 0

    def add(self, gold: bool, read: bool) -> None:
        """One more judgement."""
        self.right += gold and read
        self.false += read and not gold
        self.missed += gold and not read

    def __str__(self) -> str:
        precision = self.right / max(1, self.right + self.false)
        recall = self.right / max(1, self.right + self.missed)
        harmonic = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        return f"precision {precision:.2f}  recall {recall:.2f}  F1 {harmonic:.2f}"


@dataclass
class Finding:
    """One row of NegEx's layout."""

    finding: str
    sentence: str
    negated: bool


@dataclass
class Sentence:
    """One sentence of CD-SCO's layout: tokens, and for each negation its cue and scope as token places."""

    tokens: list[str] = field(default_factory=list)
    negations: list[tuple[set[int], set[int]]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Tokens with single spaces."""
        return " ".join(self.tokens)

    @property
    def places(self) -> list[Span]:
        """Character span of every token in ``text``."""
        spans, start = [], 0
        for token in self.tokens:
            spans.append((start, start + len(token)))
            start += len(token) + 1
        return spans


def negex_rows(lines: Iterable[str]) -> Iterator[Finding]:
    """Rows whose sentence holds the finding; quotation marks of the spreadsheet are taken off."""
    for line in lines:
        cells = [" ".join(cell.strip().strip('"').split()) for cell in line.rstrip("\n").split("\t")]
        if len(cells) >= 4 and cells[3] in ("Affirmed", "Negated"):
            yield Finding(cells[1].lower(), cells[2].lower(), cells[3] == "Negated")


def cdsco_sentences(lines: Iterable[str]) -> Iterator[Sentence]:
    """Sentences; a cue that is part of a word is left out with its negation."""
    rows: list[list[str]] = []
    for line in [*lines, ""]:
        if cells := line.split():
            rows.append(cells)
        elif rows:
            yield _sentence(rows)
            rows = []


def _sentence(rows: list[list[str]]) -> Sentence:
    made = Sentence([row[3] for row in rows])
    for first in range(7, max(len(row) for row in rows) - 2, 3):
        cue = {place for place, row in enumerate(rows) if row[first] != "_"}
        whole = all(rows[place][first].lower() == rows[place][3].lower() for place in cue)
        scope = {place for place, row in enumerate(rows) if row[first + 1] != "_"}
        if cue and whole:
            made.negations.append((cue, scope))
    return made


def absent_spans(sentence: str) -> tuple[list[Span], list[Span]]:
    """Spans of the cues and of the scopes that the parser finds; none where it refuses the sentence."""
    try:
        query = parse_query(sentence)
    except InputError:
        return [], []
    cues = [(concept.cue_start, concept.cue_end) for concept in query.negatives]
    scopes = [concept.scope or (concept.start, concept.end) for concept in query.negatives]
    return cues, [*scopes, *((concept.start, concept.end) for concept in query.negatives)]


def naive_spans(sentence: str) -> tuple[list[Span], list[Span]]:
    """The first cue, and everything behind it."""
    found = NAIVE.search(sentence)
    return ([found.span()], [(found.end(), len(sentence))]) if found else ([], [])


def measure_negex(rows: Iterable[Finding]) -> dict[str, Counts]:
    """Whether each finding is read as absent, by the parser and by the naive reading."""
    counts = {"parser": Counts(), "naive": Counts()}
    for row in rows:
        start = row.sentence.find(row.finding)
        if start < 0:
            continue
        end = start + len(row.finding)
        for name, read in (("parser", absent_spans), ("naive", naive_spans)):
            covered = any(first < end and start < last for first, last in read(row.sentence)[1])
            counts[name].add(row.negated, covered)
    return counts


def measure_cdsco(sentences: Iterable[Sentence]) -> dict[str, Counts]:
    """Cues, tokens in scope, and whole scopes."""
    counts = {f"{name} {part}": Counts() for name in ("parser", "naive") for part in ("cues", "scope tokens", "scopes")}
    for sentence in sentences:
        places = sentence.places
        gold_cues = [cue for cue, _ in sentence.negations]
        gold_scope = set().union(*(scope for _, scope in sentence.negations))
        for name, read in (("parser", absent_spans), ("naive", naive_spans)):
            cue_spans, scope_spans = read(sentence.text)
            cues = [_tokens(places, [span]) for span in dict.fromkeys(cue_spans)]
            scope = _tokens(places, scope_spans) - set().union(*cues)
            for cue in gold_cues:
                counts[f"{name} cues"].add(True, any(cue & one for one in cues))
            for one in cues:
                if not any(one & cue for cue in gold_cues):
                    counts[f"{name} cues"].add(False, True)
            for place in range(len(places)):
                counts[f"{name} scope tokens"].add(place in gold_scope, place in scope)
            if gold_scope or scope:
                counts[f"{name} scopes"].right += scope == gold_scope
                counts[f"{name} scopes"].false += bool(scope) and scope != gold_scope
                counts[f"{name} scopes"].missed += bool(gold_scope) and scope != gold_scope
    return counts


def _tokens(places: list[Span], spans: Iterable[Span]) -> set[int]:
    """Tokens that the spans touch."""
    return {place for place, (a, b) in enumerate(places) if any(first < b and a < last for first, last in spans)}


def main() -> None:
    """Measure every file of the folder."""
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit("Name the folder that holds the corpora; none is shipped.")
    for path in sorted(Path(sys.argv[1]).iterdir()):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
        rows, sentences = list(negex_rows(lines)), []
        if rows:
            negated = sum(row.negated for row in rows)
            print(f"\n{path.name}: {len(rows)} findings, {negated} negated")
            found = measure_negex(rows)
        else:
            sentences = [one for one in cdsco_sentences(line for line in lines if "\t" in line or not line)]
            print(
                f"\n{path.name}: {len(sentences)} sentences, {sum(len(one.negations) for one in sentences)} negations"
            )
            found = measure_cdsco(sentences)
        for name, counts in found.items():
            print(f"  {name:22s} {counts}")


if __name__ == "__main__":
    main()
