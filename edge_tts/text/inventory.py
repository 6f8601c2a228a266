"""The phoneme inventory: every symbol that a voice can be asked to speak.

Chinese syllables are an optional initial and a final that carries its tone
(``dian4`` is ``d ian4``), English is ARPAbet with lexical stress on vowels
(``P IY1``). Four pause marks, a word boundary and the two ends complete it.
The order of :data:`PHONEMES` is the id order of every voice trained on it.

Sources: Hanyu Pinyin (GB/T 16159), ARPAbet as used by the CMU Pronouncing
Dictionary.
"""

from __future__ import annotations

PAD = "_"
START = "^"
END = "$"
WORD_BOUNDARY = " "
PAUSES = (",", ".", "?", "!")
ERHUA = "rr"

INITIALS = tuple("b p m f d t n l g k h j q x zh ch sh r z c s".split())
# ii: the vowel of zi ci si; iii: that of zhi chi shi ri; v: u with diaeresis.
FINALS = tuple(
    "a o e ê ai ei ao ou an en ang eng ong er "
    "i ii iii ia io ie iao iu ian in iang ing iong "
    "u ua uo uai ui uan un uang ueng v ve van vn".split()
)
TONES = "12345"
ARPABET_VOWELS = tuple("AA AE AH AO AW AY EH ER EY IH IY OW OY UH UW".split())
ARPABET_CONSONANTS = tuple("B CH D DH F G HH JH K L M N NG P R S SH T TH V W Y Z ZH".split())

PHONEMES: tuple[str, ...] = (
    *(PAD, START, END, WORD_BOUNDARY),
    *PAUSES,
    *INITIALS,
    *(f"{final}{tone}" for final in FINALS for tone in TONES),
    ERHUA,
    *ARPABET_CONSONANTS,
    *(f"{vowel}{stress}" for vowel in ARPABET_VOWELS for stress in "012"),
)

# Spellings of a syllable without initial, and of finals after j q x y.
_ZERO_INITIAL = {
    "yi": "i", "ya": "ia", "yo": "io", "ye": "ie", "yao": "iao", "you": "iu",
    "yan": "ian", "yin": "in", "yang": "iang", "ying": "ing", "yong": "iong",
    "wu": "u", "wa": "ua", "wo": "uo", "wai": "uai", "wei": "ui", "wan": "uan",
    "wen": "un", "wang": "uang", "weng": "ueng",
    "yu": "v", "yue": "ve", "yuan": "van", "yun": "vn",
}  # fmt: skip
_INTERJECTIONS = {"m": "en", "n": "en", "ng": "eng", "hm": "en", "hng": "eng"}
_AFTER_PALATAL = {"u": "v", "ue": "ve", "uan": "van", "un": "vn"}
_SIBILANT_I = {
    "z": "ii", "c": "ii", "s": "ii", "zh": "iii", "ch": "iii", "sh": "iii", "r": "iii"
}  # fmt: skip
_LONG_SPELLINGS = {"iou": "iu", "uei": "ui", "uen": "un"}


def split_pinyin(syllable: str) -> tuple[str, ...]:
    """Split one numbered pinyin syllable into phonemes of the inventory.

    ``zhuang1`` gives ``("zh", "uang1")``, ``yi4`` ``("i4",)``, ``lv4`` and
    ``lü4`` ``("l", "v4")``, ``huir4`` (erhua) ``("h", "ui4", "rr")``. A
    syllable without a digit has the neutral tone, 5.

    Raises:
        ValueError: the syllable is not Mandarin pinyin.
    """
    text = syllable.strip().lower().replace("u:", "v").replace("ü", "v")
    tone = "5"
    if text[-1:].isdigit():
        text, tone = text[:-1], text[-1]
        if tone == "0":
            tone = "5"
    base = _INTERJECTIONS.get(text, text)
    erhua = base.endswith("r") and base not in ("er", "r")
    if base == "r":
        return (ERHUA,)
    if erhua:
        base = base[:-1]
    if base in _ZERO_INITIAL:
        initial, final = "", _ZERO_INITIAL[base]
    else:
        initial = base[:2] if base[:2] in INITIALS else base[:1]
        if initial not in INITIALS:
            initial = ""
        final = base[len(initial) :]
        final = _LONG_SPELLINGS.get(final, final)
        if initial in ("j", "q", "x"):
            final = _AFTER_PALATAL.get(final, final)
        elif final == "ue" and initial in ("n", "l"):
            final = "ve"
        elif final == "i" and initial in _SIBILANT_I:
            final = _SIBILANT_I[initial]
    if tone not in TONES or final not in FINALS:
        raise ValueError(f"{syllable!r} is not a pinyin syllable with a tone from 1 to 5")
    phonemes = (initial, f"{final}{tone}") if initial else (f"{final}{tone}",)
    return (*phonemes, ERHUA) if erhua else phonemes
