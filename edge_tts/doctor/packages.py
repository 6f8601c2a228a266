"""Do installed packages get in each other's way?"""

from __future__ import annotations

import importlib.metadata as metadata
import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from edge_tts.doctor.finding import ERROR, OK, WARNING, Finding, System

OUR_DISTRIBUTION = "edge-tts-runtime"
# A client of a cloud service, which owns the same import name.
OTHER_DISTRIBUTION = "edge-tts"


PACKAGE_FOLDER = Path("/usr/lib/edge-tts-runtime")


def how_to_install(requirement: str, place: Path | None = None) -> str:
    """The command that puts a Python package right; an installed release has no pip.

    Args:
        requirement: as pip takes it, with its options.
        place: where this program lies; None asks.
    """
    place = place or Path(__file__).resolve()
    if PACKAGE_FOLDER in place.parents:
        return f"sudo apt install --reinstall ./{OUR_DISTRIBUTION}_*.deb"
    if importlib.util.find_spec("pip") is None:
        return "sudo bash deploy/install.sh, from the checkout or bundle that it was installed from"
    return f"{sys.executable} -m pip install {requirement}"


def installed_version(distribution: str) -> str | None:
    """Version of an installed distribution, None without it."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def check_packages(
    version_of: Callable[[str], str | None] = installed_version,
    owners: Callable[[], Mapping[str, Sequence[str]]] = metadata.packages_distributions,
) -> list[Finding]:
    """Find distributions that can't share one environment.

    Args:
        version_of: version of an installed distribution.
        owners: the distributions that own each import name.
    """
    pip = f"{sys.executable} -m pip"
    findings = []
    other = version_of(OTHER_DISTRIBUTION)
    if other is not None:
        owning = ", ".join(sorted(set(owners().get("edge_tts", ())))) or "no distribution"
        findings.append(
            Finding(
                ERROR,
                "packages",
                f"the package {OTHER_DISTRIBUTION} {other} owns the same import name "
                f"(edge_tts belongs to: {owning}); the two can't share an environment",
                f"{pip} uninstall -y {OTHER_DISTRIBUTION} && "
                f"{pip} install --force-reinstall {OUR_DISTRIBUTION}",
            )
        )
    plain, gpu = version_of("onnxruntime"), version_of("onnxruntime-gpu")
    if plain is not None and gpu is not None:
        findings.append(
            Finding(
                WARNING,
                "packages",
                f"onnxruntime {plain} and onnxruntime-gpu {gpu} overwrite each other's files; "
                "the GPU may be left unused",
                f"{pip} uninstall -y onnxruntime onnxruntime-gpu && {pip} install onnxruntime-gpu",
            )
        )
    return findings or [Finding(OK, "packages", "no clashing packages")]


def check_upgrade(system: System) -> list[Finding]:
    """Was an upgrade of the Debian package interrupted?"""
    query = ("dpkg-query", "--show", "--showformat=${db:Status-Status}", OUR_DISTRIBUTION)
    answer = system.run(query, 10.0)
    state = answer.output.strip()
    if not answer.succeeded or state in ("installed", "not-installed", "config-files"):
        return []
    fix = "sudo dpkg --configure -a"
    if state == "half-installed":
        fix = f"sudo apt install ./{OUR_DISTRIBUTION}_*.deb"
    message = f"an upgrade was interrupted (the package is {state}); the release before it speaks"
    return [Finding(WARNING, "upgrade", message, fix)]
