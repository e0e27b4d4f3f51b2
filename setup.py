"""Where each room lies once it is installed: within the one package ``unheard``. All else is in pyproject.toml."""

from setuptools import find_packages, setup

ROOMS = find_packages(include=["backend", "backend.*"])

setup(
    packages=["unheard", *(f"unheard.{room}" for room in ROOMS), "unheard.assets", "unheard.data"],
    package_dir={
        "unheard": "unheard",
        "unheard.backend": "backend",
        "unheard.assets": "assets",
        "unheard.data": "data",
    },
    package_data={"unheard.backend": ["**/*.txt"], "unheard.assets": ["**/*"], "unheard.data": ["**/*"]},
)
