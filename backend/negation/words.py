"""Open-class words the grammar needs to tell apart: verbs of sounding, adjectives, nouns of sounds.

The lists decide form, never polarity: an unknown word is a noun. Morphology is by rule, so
each verb is listed once.
"""

from __future__ import annotations

import re

VERBS = frozenset(
    """
    applaud babble bang bark bash bawl beat beep bellow blare bleat blow boil bounce bounce breathe brush bubble buzz
    cackle call caw charge chat chatter cheer chime chirp chop chug chuckle clang clank clap clatter click clink cluck
    come cough crack crackle crash crank creak croak crow crumple crunch crush cry cut dance dig drag drill drip drive
    drone drop drum eat echo explode fall fight file fire fizz flap flow flush fly fry gallop gargle gasp giggle
    glug go grind growl grunt gurgle hammer hiss hit honk hoot howl hum idle jingle jump kick kiss knock laugh lap
    land mew meow moan moo mow murmur neigh oink open pant pass paw peck ping play plop pop pour purr quack rain rattle
    rev reverse ring rip roar roll rub rumble run rush rustle saw scrape scratch scream screech scrub shake shatter
    shout shovel shriek shuffle shut sigh sing sip sizzle skate skid slam slap slide slurp smash snap sneeze sniff
    snore snort snow sob speak spin splash splatter spray squawk squeak squeal squelch start stir stomp stomp strum
    swing swish talk tap tear thud thump thunder tick toot trickle trot trumpet tune turn twitter type unwind vibrate
    vomit wail wait walk warble wash weep whimper whine whinny whip whir whirr whisper whistle whoop whoosh work
    yawn yell yelp yodel zip zoom approach arrive leave accelerate brake gobble crunch groan heave hover lick
    munch nibble nicker patter peal pluck pound rap sail scurry sharpen skip squish stumble sway swim swoosh thrash
    trill tumble wade wheeze woof crow coo honk hatch move burn break bubble close creep cut discuss argue joke
    slow gush sputter rumble clunk ding clop patter plink tinkle zap hoot burble croon whoosh sweep mop knit
    narrate pray read recite rehearse preach lecture announce count answer
    """.split()
)

IRREGULAR_PAST = frozenset(
    "sung spoken heard played blown broken closed pressed struck tied turned hit rung driven cut burnt torn".split()
)

ADJECTIVES = frozenset(
    """
    loud quiet silent heavy light fast slow soft hard distant close near far high low big small large little deep
    sharp noisy busy calm strong weak gentle harsh clear faint muffled young old electric electronic acoustic male
    female human constant steady sudden continuous angry happy sad excited aggressive violent wild wet dry metallic
    hollow shrill tinny rhythmic regular irregular audible musical vocal verbal percussive mechanical live synthetic
    crowded windy rainy stormy dense thick thin rough smooth bright dark warm cold hot long short brief high-pitched
    low-pitched deafening piercing nearby intense moderate mild thunderous clean distorted real fake artificial
    snowy breezy gusty foggy sunny cloudy
    """.split()
)

SOUND_NOUNS = frozenset(
    """
    accompaniment airplane airplanes alarm alarms ambience ambulance animal animals announcement announcements applause
    audience baby band bark barking bass beat beats bee bees bell bells bicycle bicycles bird birds birdsong boat boats
    brass breath breathing bus buses car cars cat cats cello chainsaw chatter chattering cheering child children choir
    chord chords church clapping clarinet clock clocks coughing cow cows crickets cricket crowd crowds crow crows
    crying cymbal cymbals dog dogs donkey door doors drill drum drums drumming duck ducks echo engine engines
    fire fireworks flute fly footsteps fountain frog frogs goat goats goose geese guitar guitars gull gulls gun gunshot
    gunshots hail hammer hammering harmonica harp helicopter hen hens hiss honking horn horns horse horses hum human
    humans insect insects instrument instruments jet keyboard keyboards kettle kitchen laughter laughing lightning lyric
    lyrics machine machines machinery man meow meowing microwave mosquito motor motors motorbike motorcycle mouse music
    noise noises ocean orchestra organ owl owls parrot people percussion person phone phones piano pig pigs pigeon
    pigeons plane planes police printer radio rain rainfall rainstorm reverb rhythm river road rooster roosters
    saxophone scream screaming sea seagull seagulls sheep shouting singing siren sirens snoring song sound sounds speech
    speaking static stream street talking television thunder thunderstorm toilet traffic train trains trees tractor
    truck trucks trumpet trumpets tuba typing vacuum vehicle vehicles violin violins vocal vocals voice voices walking
    water waterfall wave waves whale whistle whistling wind winds woman women wolf wolves word words yelling audio
    birdcall conversation conversations gravel forest storm storms downpour drizzle
    """.split()
)

PLURALS = frozenset("people children men women geese sheep fish mice cattle police wolves leaves waves".split())

NOT_LESS = frozenset(
    """
    unless bless less nonetheless nevertheless regardless endless ceaseless relentless restless careless homeless
    wireless cordless useless breathless tireless timeless countless helpless seamless hopeless harmless fearless
    reckless ruthless stainless topless fretless driverless keyless brushless contactless priceless worthless
    sleepless painless pointless heartless mindless motionless weightless bottomless rudderless
    ageless aimless artless baseless blameless bloodless boneless boundless brainless cashless causeless changeless
    characterless cheerless classless clueless cloudless colorless colourless defenseless dauntless dreamless
    effortless emotionless expressionless faceless faithless fathomless faultless featureless feckless flawless
    formless fruitless graceless groundless guileless gutless hairless hapless headless heedless humorless jobless
    joyless lawless leaderless legless lifeless limitless listless loveless luckless matchless meaningless merciless
    moonless nameless needless numberless odorless paperless peerless penniless pitiless powerless purposeless
    remorseless scoreless seedless selfless senseless shameless shapeless shiftless sightless sleeveless soulless
    spineless spotless starless stateless strapless stringless sugarless sunless tactless tasteless tearless thankless
    thoughtless toothless topless trackless tubeless unbless valueless witless
    """.split()
)

NOT_FREE = frozenset(
    "royalty copyright toll hands care drm cage gluten sugar fat scot interest tax duty stress carbon rent drug".split()
)

NOT_NON = frozenset("stop stick native fiction profit alcoholic slip linear league toxic binary smoker fat".split())

NOT_NO = frozenset("man man's mans fly nonsense name go brainer hitter frills show look one holds win no place".split())

STEMS = {
    "musical": "music", "vocal": "vocals", "verbal": "speech", "percussive": "percussion", "rhythmic": "rhythm",
    "melodic": "melody", "spoken": "speech", "instrumental": "instruments", "word": "words", "lyric": "lyrics",
    "drum": "drums", "bird": "birds", "voice": "voice",
}  # fmt: skip


def gerund(base: str) -> str:
    """The -ing form of an English verb by rule: run -> running, drive -> driving, ring -> ringing."""
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith(("ee", "oe", "ye")):
        return base[:-1] + "ing"
    groups = len(re.findall("[aeiouy]+", base))
    doubling = groups == 1 and base[-1:] in "bdgklmnprtv" and base[-2:-1] in "aeiou" and base[-3:-2] not in "aeiou"
    if len(base) >= 3 and doubling:
        return base + base[-1] + "ing"
    return base + "ing"


def third_person(base: str) -> str:
    """The -s form of an English verb by rule."""
    if base.endswith(("s", "sh", "ch", "x", "z", "o")):
        return base + "es"
    if base.endswith("y") and base[-2:-1] not in "aeiou":
        return base[:-1] + "ies"
    return base + "s"


def past_base(word: str) -> str:
    """The verb of a past participle, or "": barked -> bark, moved -> move, hummed -> hum, rung -> ring."""
    irregular = {"sung": "sing", "spoken": "speak", "rung": "ring", "blown": "blow", "begun": "begin"}
    if word in irregular or not word.endswith("ed"):
        return irregular.get(word, "")
    stems = (word[:-2], word[:-1], word[:-3], word[:-3] + "y")
    return next((stem for stem in stems if stem in VERBS), "")


GERUNDS = {gerund(base): base for base in VERBS}
THIRD_PERSONS = {third_person(base): base for base in VERBS}


def is_gerund(word: str) -> bool:
    """Whether a word can be a verb in -ing; nouns such as "morning" are not."""
    return word in GERUNDS or (word.endswith("ing") and len(word) > 5 and word not in _ING_NOUNS)


_ING_NOUNS = frozenset(
    "morning evening ceiling building wedding string spring nothing anything something everything during "
    "clothing lightning pudding herring starling duckling gosling wing king thing sibling sterling".split()
)


def adjective_of(adverb: str) -> str | None:
    """The adjective of an adverb in -ly, or None when the word is none: loudly -> loud, fast -> fast."""
    if adverb in ("fast", "hard", "loud", "high", "low"):
        return adverb
    if not adverb.endswith("ly") or len(adverb) < 5 or adverb in ("family", "firefly", "butterfly", "jelly", "belly"):
        return None
    stem = adverb[:-2]
    if stem.endswith("i"):
        return stem[:-1] + "y"
    return (
        stem + "le"
        if stem.endswith(("nt", "b")) and stem + "le" in ("gentle", "audible")
        else ({"gent": "gentle", "terrib": "terrible", "audib": "audible"}.get(stem, stem))
    )


def is_adjective(word: str) -> bool:
    """Whether a word alone can only describe a sound, not name one."""
    return word in ADJECTIVES or (word.endswith(("ish", "ous")) and word not in SOUND_NOUNS)
