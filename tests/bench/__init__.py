"""Benchmarks: ratios against a named alternative in the same run. ``make bench`` runs them all."""
