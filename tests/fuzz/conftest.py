from pathlib import Path

import pytest

from tests.fuzz.models import make


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the inputs of a module, one after the other."""
    return tmp_path_factory.mktemp("place")
