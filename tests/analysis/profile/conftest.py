"""Profiles of the published scores, and small ones that are made."""

import pytest

from vcrgen.analysis.profile.example import example_profiles
from vcrgen.analysis.profile.records import Profiles


@pytest.fixture(scope="session")
def published() -> Profiles:
    return example_profiles()
