"""Labelled clips: read once, embedded once, kept on disk.

csv_table           a table of text, checked, through pandas
label_tables        which sounds each clip of a table has: every layout, the only reader
sound_files         which file a name in a table means
layouts             a folder, a table or ``demo`` as a Collection of clips that can be ranked
collection          the records, and exact search
store               a Collection embedded: with progress, resumed; embedding_store is its folder on disk
ready               embeddings that were computed elsewhere
composition_sources what an analysis of combinations can be made of; label_options, hierarchy: which labels it uses
demo                the collection ``demo``: 60 recordings and 8 scenes in ``data/``
demo_scenes         the set ``demo-scenes``: 600 scenes of ten sounds, rendered for Compose from those recordings
"""
