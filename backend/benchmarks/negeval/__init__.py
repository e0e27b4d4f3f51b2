"""NegEval-Audio for any labelled or captioned collection (negation paper, sections III and VI, appendix A).

concepts   which sounds a clip has, and which plausible ones it certainly lacks
wording    queries and options as text
items      Retrieval-Neg queries and MCQ-Neg questions, checked by construction
pairs      controlled target and distractor clips that differ in one overlaid sound
scores     raw, steered and exclusion scores of all of them
measures   recall, accuracy, margins, with seeded bootstrap intervals
run        the whole benchmark; report and figures write it down
"""

DEFAULT_PAIRS, MOST_PAIRS = 500, 10_000
"""Controlled pairs that are made, and how many may be asked for."""
DEFAULT_CLIPS = 400
"""Clips that give queries and questions."""
