"""Guess the language of a text by its most frequent words."""

import re
from collections import Counter

_WORD = re.compile(r"[^\W\d_]+")
#: Frequent words that few of the other languages share.
_FREQUENT = {
    "English": "the of and is that it for with are this which not from by but was were has have does than",
    "German": "der die das und ist nicht mit von den dem ein eine zu auf aber wird sich auch keine als",
    "French": "le les et est une des pas dans du qui que pour sur avec mais sont cette aucun plus au",
    "Spanish": "el los las y es una del que con para por pero como esta son no se al su más",
    "Italian": "il gli e è una della di che non con per ma sono questo come del dei nel più alla",
    "Portuguese": "o os as e é uma da do que não com para por mas como são no na mais ao",
    "Dutch": "het een en is van niet dat met voor maar zijn deze wordt op te ook geen als bij naar",
}
_WORDS = {name: frozenset(words.split()) for name, words in _FREQUENT.items()}
#: A language is known if a text has at least this many of its frequent words, and more than of any other.
FEWEST = 3
#: Share of letters outside the Latin script from which a text is in another script.
OTHER_SCRIPT = 0.3
UNKNOWN, OTHER = "", "a language of another script"


def language_of(text: str) -> str:
    """Return the name of the language, `OTHER`, or `UNKNOWN` for a text that is too short or mixed."""
    letters = [character for character in text if character.isalpha()]
    if len(letters) >= 8 and sum(ord(letter) > 0x24F for letter in letters) > OTHER_SCRIPT * len(letters):
        return OTHER
    words = [word.lower() for word in _WORD.findall(text)]
    counts = Counter({name: sum(word in frequent for word in words) for name, frequent in _WORDS.items()})
    (best, most), (_, second) = counts.most_common(2)
    return best if most >= FEWEST and most > second else UNKNOWN
