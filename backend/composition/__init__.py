"""Is a scene the sum of its sounds? Additive reconstruction of combinations that were left out (paper A).

From labels and embeddings to the answer::

    from backend.composition import LabelledEmbeddings, compose

    data = LabelledEmbeddings(ids, embeddings, labels)   # N names, (N, D) floats, N lists of label names
    report = compose(data, seed=0)
    print(report.headline)
    report.record()                                     # the same numbers as the command line's compose.json

The parts, each usable alone: ``combine`` (design matrix and means), ``factorise`` and ``Ridge`` (closed-form
leave-one-out, blocks, permutations), ``prepare`` and ``evaluate`` (five metrics), ``linear_cka``,
``canonical_correlations``, ``label_overlap``, ``repeated_holdout``; ``LabelledEmbeddings`` in, ``Report`` out.
``backend.collections`` reads labels and embeddings from files.
"""

from backend.composition.analysis import compose
from backend.composition.baselines import label_overlap, p_values, permuted_leave_one_out
from backend.composition.cca import CanonicalCorrelations, canonical_correlations
from backend.composition.combinations import Combinations, LabelledEmbeddings, combine
from backend.composition.holdout import Holdout, draw_split, repeated_holdout
from backend.composition.metrics import METRICS, Metrics, Target, evaluate, linear_cka, prepare
from backend.composition.report import LeaveOneOut, Report
from backend.composition.ridge import LAMBDA_GRID, Factor, PenaltyChoice, Ridge, choose_penalty, factorise

__all__ = [
    "LAMBDA_GRID",
    "METRICS",
    "CanonicalCorrelations",
    "Combinations",
    "Factor",
    "Holdout",
    "LabelledEmbeddings",
    "LeaveOneOut",
    "Metrics",
    "PenaltyChoice",
    "Report",
    "Ridge",
    "Target",
    "canonical_correlations",
    "choose_penalty",
    "combine",
    "compose",
    "draw_split",
    "evaluate",
    "factorise",
    "label_overlap",
    "linear_cka",
    "p_values",
    "permuted_leave_one_out",
    "prepare",
    "repeated_holdout",
]
