"""Chemical formulas and ions: letter by letter, never as words (``NaOH``, ``Fe³⁺``, ``NO3-``)."""

from __future__ import annotations

import re

from edge_tts.text.norm_data import ELEMENT
from edge_tts.text.norm_pattern import pattern
from edge_tts.text.norm_scan import HAN, Scan
from edge_tts.text.norm_words import letters

_FORMULA = pattern(
    rf"(?P<body>{ELEMENT}\d{{0,3}}(?:{ELEMENT}\d{{0,3}}|\((?:{ELEMENT}\d{{0,2}}){{1,6}}\)\d{{1,2}}|[·.](?=\d?H2O)\d?)"
    r"{0,12})(?P<charge>[²³⁴⁵⁶⁷]?[⁺⁻]|[-+](?![\dA-Za-z-]))?(?![A-Za-z0-9²³])"
)
_ATOM = pattern(r"[A-Z][a-z]?")
_SYMBOL = pattern(rf"{ELEMENT}\Z")
# Whole tokens that a formula could be taken for.
_NOT_FORMULAS = frozenset("No In At Am NoC CoP PoS BiOS".split())
# What a plain hyphen or plus is the charge of, where no superscript says so.
_ANIONS = frozenset(
    "NO3 NO2 SO4 SO42 SO3 SO32 S2 HCO3 CO3 CO32 PO4 PO43 HPO4 HPO42 H2PO4 Cl Br OH CN ClO ClO2 "
    "ClO3 ClO4 MnO4 Cr2O7 Cr2O72 CrO42 HS SCN HSO4 BrO3 SiO32 AlO2".split()
)
_CATIONS = frozenset(
    "H K Na Li NH4 Ag Ca Ca2 Mg Mg2 Fe2 Fe3 Cu Cu2 Zn2 Al3 Mn2 Mn7 Pb2 Ni2 Cr3 Cr6 Ba2 Cd2 Hg2 "
    "Sr2 Co2 Sn2 As3 As5 H3O".split()
)
_HAN_BESIDE = pattern(rf"\s?[{HAN}、，,:：=<>≥≤）)]|\s?$|\s?\d")
_CHARGES = {"+": ("加", "plus"), "⁺": ("加", "plus"), "-": ("负", "minus"), "⁻": ("负", "minus")}
_SUPERSCRIPTS = str.maketrans("²³⁴⁵⁶⁷", "234567")


def formula(scan: Scan, start: int) -> int:
    """A formula or an ion at ``start``; 0 if there is none.

    Capitals alone (``CO``) and one element with a number (``P1``) stay what other
    readers make of them.
    """
    match = _FORMULA.match(scan.text, start)
    if match is None:
        return 0
    body, charge = match["body"], match["charge"] or ""
    end = match.end()
    if charge in ("-", "+") and body not in (_ANIONS if charge == "-" else _CATIONS):
        charge, end = "", match.end("body")
    atoms = _ATOM.findall(body)
    mixed = any(len(atom) == 2 for atom in atoms)
    plural = body[:-1].isupper() and body[-1] == "s"
    if (body in _NOT_FORMULAS or plural) and not charge:
        return 0
    known = mixed and (len(atoms) > 1 or _is_element(scan, body, start, end))
    if not (charge or known or "(" in body):
        return 0
    language = scan.code_language(start, end)
    words = scan.words(language)
    for part in re.findall(r"\d+|[A-Z][a-z]?|[().·]", body):
        if part.isdigit():
            scan.say(words.digits(part))
        elif part.isalpha():
            scan.say(letters(part))
        else:
            scan.say(" ")
    if charge:
        scan.say(words.digits(charge[:-1].translate(_SUPERSCRIPTS)))
        scan.say(_CHARGES[charge[-1]][language == "en"])
    return end


def _is_element(scan: Scan, body: str, start: int, end: int) -> bool:
    """Whether ``Pb`` alone is the element: in Chinese text, with no English word beside it."""
    if scan.default != "zh" or not _SYMBOL.match(body) or len(body) != 2:
        return False
    before = scan.text[max(0, start - 2) : start].rstrip()
    if before and before[-1].isascii() and before[-1].isalpha():
        return False
    return _HAN_BESIDE.match(scan.text, end) is not None
