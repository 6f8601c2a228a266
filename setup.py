"""Packaging of Edge TTS Runtime; tool settings are in pyproject.toml."""

import re
from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).parent
VERSION = re.search(r'__version__ = "([^"]+)"', (ROOT / "edge_tts/__init__.py").read_text("utf-8"))

RUNTIME = [
    "click>=8.1.7",
    "numpy>=1.26.4",
    "onnxruntime>=1.19.2",
    'tomli>=2.0.1; python_version < "3.11"',
]
SOUND = ["PyAudio>=0.2.14"]
TEST = ["pytest>=8.2", "hypothesis>=6.100", "onnx>=1.16.2", "scipy>=1.13.1", "soundfile>=0.12"]
LINT = ["ruff>=0.6", "mypy>=1.11", "import-linter>=2.1"]

setup(
    name="edge-tts-runtime",
    version=VERSION[1],
    description="Spoken alarms for small devices: Chinese and English, streamed, offline",
    long_description=(ROOT / "README.md").read_text("utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    license_files=["LICENSE", "NOTICE"],
    python_requires=">=3.10",
    packages=find_packages(include=["edge_tts", "edge_tts.*"]),
    package_data={"edge_tts": ["py.typed", "**/*.bin", "**/*.json", "**/*.tsv", "**/*.txt"]},
    install_requires=RUNTIME,
    extras_require={
        "pi": SOUND,
        # TensorRT and its Python bindings come with JetPack, not from an index.
        "jetson": [*SOUND, "pycuda>=2024.1"],
        "train": ["torch>=2.3", "onnx>=1.16.2", "scipy>=1.13.1"],
        "dev": [*SOUND, *TEST, *LINT],
    },
    entry_points={"console_scripts": ["edgetts = edge_tts.cli:main"]},
    classifiers=[
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3.10",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Topic :: Multimedia :: Sound/Audio :: Speech",
    ],
)
