"""What the evaluation asks: classes and their captions, synonyms, and the sentences of the negation probe.

All of it was fixed before the weights that ship were trained, and none of it is read by the training.
"""

from __future__ import annotations

TEMPLATES = ("{}", "the sound of {}", "i can hear {}")
"""A class is the normalised mean of these three embeddings."""

ESC10_CLASSES = {
    "dog_bark": "a dog barking",
    "rain": "rain falling",
    "sea_waves": "sea waves crashing on the shore",
    "baby_cry": "a baby crying",
    "clock_tick": "a clock ticking",
    "person_sneeze": "a person sneezing",
    "helicopter": "a helicopter flying",
    "chainsaw": "a chainsaw cutting wood",
    "rooster": "a rooster crowing",
    "fire_crackling": "a crackling fire",
}
"""Folder of ESC-10 and its caption."""

ESC10_SYNONYMS = {
    "dog_bark": "a hound woofing",
    "rain": "a torrential downpour",
    "sea_waves": "surf rolling onto a beach",
    "baby_cry": "a wailing newborn",
    "clock_tick": "the second hand of a wristwatch",
    "person_sneeze": "achoo",
    "helicopter": "a rotorcraft hovering overhead",
    "chainsaw": "a power saw felling a tree",
    "rooster": "a cockerel at daybreak",
    "fire_crackling": "a bonfire",
}
"""Ten other ways to say it."""

HARD_CLASSES = ("dog_bark", "baby_cry", "rooster", "person_sneeze")
"""Classes of ESC-10 that are reported by themselves."""

EVENT_CLASSES = ("dog_bark", "baby_cry", "clock_tick", "person_sneeze", "chainsaw", "rooster")
"""Classes of ESC-10 that can be placed in a scene."""
BACKGROUND_CLASSES = ("rain", "sea_waves", "helicopter", "fire_crackling")
"""Classes of ESC-10 that can fill a scene."""

OTHER_CLASSES = (
    "a bird chirping",
    "a cat meowing",
    "crickets chirping at night",
    "a duck quacking",
    "a goose honking",
    "a horse neighing",
    "a horse galloping",
    "an owl hooting",
    "a wolf howling",
    "a church bell ringing",
    "bubbles in water",
    "a car passing by",
    "a door closing",
    "a creaking door",
    "a motorcycle passing by",
    "a sewing machine",
    "typing on a keyboard",
    "water dripping",
    "running water from a tap",
    "computer beeps",
    "a person coughing",
    "fingers snapping",
    "footsteps",
    "a person laughing",
    "a crowd of people talking at a party",
    "a person screaming",
    "an acoustic guitar",
    "a trumpet playing",
    "a drum beat",
    "techno music",
    "a person beatboxing",
    "a xylophone",
    "a cymbal crash",
    "a gong",
    "a hand clap",
    "a shaker rattling",
    "a person singing",
    "a laser gun sound effect",
    "a didgeridoo",
    "a cow mooing",
    "a frog croaking",
    "a pig oinking",
    "a sheep bleating",
    "a person speaking",
    "a whale singing",
    "an orchestra playing classical music",
    "a piano",
    "jazz music",
)
"""Forty-eight further captions that compete with the ten in the 58-way test."""

NEGATION_SOUNDS = {
    "a dog barking": "dogs bark",
    "rain falling": "it is raining",
    "a man speaking": "a man talks",
    "birds chirping": "birds tweet",
    "a car engine": "the engine of a car runs",
    "music playing": "a song is played",
    "a baby crying": "an infant cries",
    "thunder rumbling": "a rumble of thunder",
    "footsteps": "someone walks",
    "a siren": "a wailing siren",
    "a crowd cheering": "people cheer",
    "a clock ticking": "the tick of a clock",
    "water dripping": "drops of water fall",
    "a door slamming": "a slammed door",
    "a cat meowing": "a cat mews",
    "wind blowing": "a breeze blows",
    "a helicopter": "a chopper",
    "a piano": "someone plays piano",
    "people laughing": "laughter of people",
    "a train passing": "a passing train",
}
"""Twenty sounds of the negation probe, each with a paraphrase."""


def bare(caption: str) -> str:
    """A caption without its leading article: what follows "with no"."""
    return caption.removeprefix("a ").removeprefix("an ")
