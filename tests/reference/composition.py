"""Slow twins of backend.composition, written from the paper's formulas: refits, loops and eigenproblems."""

from __future__ import annotations

import numpy as np
import scipy.linalg


def refit(membership, means, penalty, training):
    """W by the normal equations, in the numerically honest form of an augmented least-squares problem."""
    n = membership.shape[1]
    design = np.vstack([membership[training], np.sqrt(penalty) * np.eye(n)])
    target = np.vstack([means[training], np.zeros((n, means.shape[1]))])
    return np.linalg.lstsq(design, target, rcond=None)[0]


def leave_out(membership, means, penalty, groups):
    """Each group of rows predicted from a fit on all rows outside it."""
    predicted = np.full_like(means, np.nan)
    for group in groups:
        training = [row for row in range(len(means)) if row not in set(group)]
        weights = refit(membership, means, penalty, training)
        for row in group:
            predicted[row] = membership[row] @ weights
    return predicted


def mean_cosine(actual, predicted):
    total = 0.0
    for r, x in zip(actual, predicted, strict=True):
        size = np.linalg.norm(r) * np.linalg.norm(x)
        total += float(r @ x) / size if size > 0 else 0.0
    return total / len(actual)


def relative_frobenius(actual, predicted):
    return np.linalg.norm(predicted - actual, "fro") / np.linalg.norm(actual, "fro")


def softmax(row):
    shifted = np.exp(row - row.max())
    return shifted / shifted.sum()


def kl_bits(actual, predicted):
    divergences = []
    for r, x in zip(actual, predicted, strict=True):
        p, q = softmax(r), softmax(x)
        divergences.append(sum(pj * np.log2(pj / qj) for pj, qj in zip(p, q, strict=True)))
    return float(np.mean(divergences))


def cka(actual, predicted):
    """HSIC(K, L) / sqrt(HSIC(K, K) HSIC(L, L)) with the centring matrix written out."""
    q = len(actual)
    centring = np.eye(q) - np.ones((q, q)) / q
    kernel, other = centring @ actual @ actual.T @ centring, centring @ predicted @ predicted.T @ centring
    return np.trace(kernel @ other) / np.sqrt(np.trace(kernel @ kernel) * np.trace(other @ other))


def hits(actual, predicted, k, distance):
    """Share of rows whose own actual row is among the k best of a full ranking."""
    found = 0
    for row, x in enumerate(predicted):
        if distance == "cosine":
            scores = [float(x @ r) / (np.linalg.norm(x) * np.linalg.norm(r)) for r in actual]
        else:
            scores = [-float(np.linalg.norm(x - r)) for r in actual]
        found += row in np.argsort(scores)[::-1][:k]
    return found / len(actual)


def five_metrics(actual, predicted, distance="cosine"):
    return np.array(
        [
            mean_cosine(actual, predicted),
            relative_frobenius(actual, predicted),
            cka(actual, predicted),
            kl_bits(actual, predicted),
            hits(actual, predicted, 5, distance),
        ]
    )


def label_overlap(members, means, held_out=None):
    """Jaccard-weighted mean over training combinations, set by set."""
    wanted = range(len(members)) if held_out is None else held_out
    predicted = []
    for i in wanted:
        training = [j for j in range(len(members)) if (j != i if held_out is None else j not in set(held_out))]
        weights = [len(members[i] & members[j]) / len(members[i] | members[j]) for j in training]
        if sum(weights) == 0:
            weights = [1.0] * len(training)
        predicted.append(sum(w * means[j] for w, j in zip(weights, training, strict=True)) / sum(weights))
    return np.array(predicted)


def canonical_correlations(first, second):
    """Hotelling's eigenproblem: eigenvalues of Sxx^+ Sxy Syy^+ Syx are the squared correlations."""
    x, y = first - first.mean(axis=0), second - second.mean(axis=0)
    sxx, syy, sxy = x.T @ x, y.T @ y, x.T @ y
    inverse_x, inverse_y = np.linalg.pinv(sxx, rcond=1e-10), np.linalg.pinv(syy, rcond=1e-10)
    squares = scipy.linalg.eigvals(inverse_x @ sxy @ inverse_y @ sxy.T).real
    rank = min(np.linalg.matrix_rank(x), np.linalg.matrix_rank(y))
    return np.sqrt(np.clip(np.sort(squares)[::-1][:rank], 0, 1))
