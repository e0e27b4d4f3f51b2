"""Ridge regression without intercept, and what it predicts for combinations it has not seen, without refitting.

With S = U diag(s) V' the hat matrix is H = U diag(s^2 / (s^2 + lambda)) U'. A prediction that
leaves rows g out is r_g - (I - H_gg)^-1 (r_g - (H R)_g); for one row that is
((H R)_i - h_ii r_i) / (1 - h_ii). One factorisation of S therefore serves every row, every
split and every permutation of R (paper III-B; the closed form is textbook ridge algebra).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

Floats = NDArray[np.float64]

LAMBDA_GRID: Floats = np.logspace(-6.0, 8.0, 50)
"""The paper's 50 values (IV-A)."""
SPARSE_BELOW = 0.2
"""Share of ones in S under which products with it are taken sparsely."""
SAFE_LEVERAGE = 0.999
"""Leverage under which predictions through S are as good as those through U."""


@dataclass(frozen=True, eq=False)
class Factor:
    """S and its thin singular value decomposition, independent of lambda.

    Attributes
    ----------
    membership : np.ndarray, shape (q, n), float64
    left, right : np.ndarray, shapes (q, k) and (k, n), float64
        U and V', k = min(q, n).
    singular : np.ndarray, shape (k,), float64
    """

    membership: Floats
    left: Floats
    singular: Floats
    right: Floats

    def ridge(self, penalty: float) -> Ridge:
        """The regression at one lambda, which must be positive."""
        if not penalty > 0:
            raise ValueError(f"lambda is {penalty}; it must be positive, or a rank-deficient S has no unique answer.")
        return Ridge(self, float(penalty))


def factorise(membership: ArrayLike) -> Factor:
    """Decompose S, (q, n), once."""
    membership = np.asarray(membership, dtype=np.float64)
    left, singular, right = np.linalg.svd(membership, full_matrices=False)
    return Factor(membership, left, singular, right)


@dataclass(frozen=True, eq=False)
class Ridge:
    """S factorised, and one lambda."""

    factor: Factor
    penalty: float

    @cached_property
    def shrinkage(self) -> Floats:
        """s^2 / (s^2 + lambda), (k,)."""
        power = self.factor.singular**2
        return power / (power + self.penalty)

    @cached_property
    def leverage(self) -> Floats:
        """h_ii, (q,): how much each combination determines its own fit."""
        return np.einsum("ik,k,ik->i", self.factor.left, self.shrinkage, self.factor.left)

    @cached_property
    def inverse(self) -> Floats:
        """(S'S + lambda I)^-1 restricted to the row space of S, (n, n); enough, for it only ever meets S'."""
        right = self.factor.right
        return (right.T / (self.factor.singular**2 + self.penalty)) @ right

    @cached_property
    def alone(self) -> NDArray[np.bool_]:
        """Combinations that share no source with any other: left out, their prediction is exactly zero."""
        occurs = self.factor.membership != 0
        return ~np.any(occurs & (occurs.sum(axis=0) > 1), axis=1)

    @cached_property
    def _rows(self) -> sparse.csr_matrix | Floats:
        membership = self.factor.membership
        dense = np.count_nonzero(membership) > SPARSE_BELOW * membership.size
        return membership if dense else sparse.csr_matrix(membership)

    def contributions(self, means: Floats) -> Floats:
        """W = (S'S + lambda I)^-1 S'R, (n, m): what each source adds, wherever it occurs."""
        weights = self.factor.singular / (self.factor.singular**2 + self.penalty)
        return (self.factor.right.T * weights) @ (self.factor.left.T @ means)

    def fitted(self, means: Floats) -> Floats:
        """H R, (q, m): the in-sample reconstruction."""
        return (self.factor.left * self.shrinkage) @ (self.factor.left.T @ means)

    def leave_one_out(self, means: Floats) -> Floats:
        """Every row predicted from a fit on all the others, (q, m)."""
        means, leverage = np.asarray(means, dtype=np.float64), self.leverage[:, None]
        predicted = (self.fitted(means) - leverage * means) / (1.0 - leverage)
        predicted[self.alone] = 0.0
        return predicted

    def contributions_without(self, means: Floats, row: int) -> Floats:
        """W fitted on all combinations but one, (n, m).

        A refit, not a rank-one change of ``contributions``: where a leverage is near 1 that divides by
        almost nothing, and one combination at a time is cheap.
        """
        others = np.delete(np.arange(len(means)), row)
        weights = factorise(self.factor.membership[others]).ridge(self.penalty).contributions(means[others])
        # A source of this combination alone is unknown without it; rounding must not say otherwise.
        weights[~np.any(self.factor.membership[others] != 0, axis=0)] = 0.0
        return weights

    def leave_block_out(self, means: Floats, rows: NDArray[np.int64], fitted: Floats | None = None) -> Floats:
        """Rows g predicted from a fit on all rows outside g, (len(rows), m).

        ``fitted`` may hand over ``fitted(means)`` where several blocks are left out of the same means.
        """
        means, rows = np.asarray(means, dtype=np.float64), np.asarray(rows, dtype=np.int64)
        fitted = self.fitted(means) if fitted is None else fitted
        left = self.factor.left[rows]
        hat = (left * self.shrinkage) @ left.T
        actual = means[rows]
        predicted = actual - np.linalg.solve(np.eye(len(rows)) - hat, actual - fitted[rows])
        occurs = self.factor.membership != 0
        in_training = occurs.sum(axis=0) > occurs[rows].sum(axis=0)
        predicted[~np.any(occurs[rows] & in_training, axis=1)] = 0.0
        return predicted

    def leave_one_out_shuffled(self, means: Floats, order: NDArray[np.int64]) -> Floats:
        """Leave-one-out of ``means[order]`` against S, with the rows put back into the order of ``means``.

        Shuffling R against S is shuffling S against R: H is the same matrix with its rows and
        columns exchanged. No metric depends on the order of the rows, so whatever is known of
        ``means`` need not be computed again for each permutation. S itself has few ones, which
        makes it much cheaper than U; where a leverage is near 1 only U is accurate enough, for the
        division by 1 - h_ii magnifies every rounding.
        """
        row_of = np.argsort(order)
        leverage = self.leverage[row_of]
        if self.leverage.max() < SAFE_LEVERAGE:
            rows = self._rows[row_of]
            predicted = np.asarray(rows @ (self.inverse @ (rows.T @ means)))
        else:
            left = self.factor.left[row_of]
            predicted = (left * self.shrinkage) @ (left.T @ means)
        predicted -= leverage[:, None] * means
        predicted *= (1.0 / (1.0 - leverage))[:, None]
        predicted[self.alone[row_of]] = 0.0
        return predicted


@dataclass(frozen=True, eq=False)
class PenaltyChoice:
    """The lambda that predicts a validation split best, and the whole curve.

    Attributes
    ----------
    penalty : float
    grid, errors : np.ndarray, shape (50,), float64
        Lambda and the mean squared error per element of the validation rows.
    validation : np.ndarray, int64
        Which combinations were held out.
    """

    penalty: float
    grid: Floats
    errors: Floats
    validation: NDArray[np.int64]

    @property
    def at_edge(self) -> bool:
        """Whether the best value is the grid's first or last."""
        return self.penalty in (self.grid[0], self.grid[-1])


def choose_penalty(membership: Floats, means: Floats, validation: NDArray[np.int64]) -> PenaltyChoice:
    """Lambda by mean squared error on held-out combinations, the smaller of equals (paper IV-A)."""
    membership, means = np.asarray(membership, dtype=np.float64), np.asarray(means, dtype=np.float64)
    training = np.setdiff1d(np.arange(len(membership)), validation)
    factor = factorise(membership[training])
    scores = membership[validation] @ factor.right.T
    projected = factor.left.T @ means[training]
    errors = np.empty(len(LAMBDA_GRID))
    for index, penalty in enumerate(LAMBDA_GRID):
        weights = factor.singular / (factor.singular**2 + penalty)
        errors[index] = np.mean(np.square((scores * weights) @ projected - means[validation]))
    return PenaltyChoice(float(LAMBDA_GRID[np.argmin(errors)]), LAMBDA_GRID, errors, validation)
