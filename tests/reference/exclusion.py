"""Presence, exclusion and steering, written the slow and obvious way: one clip, one window, one text at a time."""

from __future__ import annotations

import math

import numpy as np


def evidence_of_window(window, concept, background, sharpness, synonym_cosine):
    """How far a concept stands out of the background in one window."""
    scores = [float(np.dot(window.astype(np.float64), text.astype(np.float64))) for text in background]
    mean = sum(scores) / len(scores)
    spread = math.sqrt(sum((score - mean) ** 2 for score in scores) / len(scores))
    rivals = [
        math.exp(sharpness * (score - mean) / spread)
        for score, text in zip(scores, background, strict=True)
        if float(np.dot(concept, text)) < synonym_cosine
    ]
    z = (float(np.dot(window.astype(np.float64), concept.astype(np.float64))) - mean) / spread
    return z - math.log(sum(rivals) / len(rivals)) / sharpness


def best_mean(values, best):
    """Mean of the highest values."""
    chosen = sorted(values, reverse=True)[:best]
    return sum(chosen) / len(chosen)


def exclusion_of_clip(present, absent, parameters):
    """Log-presences of the positives plus weighted log-absences of the negatives of one clip."""
    total = 0.0
    for evidence in present:
        total += math.log(1 / (1 + math.exp(-parameters.slope * (evidence - parameters.present_from))))
    for evidence in absent:
        total += parameters.absence_weight * math.log(
            1 - 1 / (1 + math.exp(-parameters.slope * (evidence - parameters.absent_below)))
        )
    return total


def steered_by_embedding(query, negative, strength, clip):
    """Cosine of a clip with e*, by making e*."""
    moved = np.asarray(query, float) - strength * np.asarray(negative, float)
    return float(moved @ clip / (np.linalg.norm(moved) * np.linalg.norm(clip)))


def nearest_by_loop(matrix, query, k):
    """The k best rows, by comparing one at a time."""
    scored = sorted(((-float(row @ query), place) for place, row in enumerate(matrix)))
    return [place for _, place in scored[:k]]


def rank_of_first_relevant(scores, relevant):
    """1 + how many wrong candidates score at least as high as the best right one."""
    best = max(scores[index] for index in relevant)
    return 1 + sum(1 for index, score in enumerate(scores) if index not in relevant and score >= best)
