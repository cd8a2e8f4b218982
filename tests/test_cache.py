"""Test that other users cannot write to the cache folder of compiled code."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from graphla.compilers.cache import cache_folder, private_folder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="owners and modes are POSIX's")

root = pytest.mark.skipif(
    os.name == "posix" and os.geteuid() != 0, reason="only root gives files to other users"
)
find_folder = cache_folder.__wrapped__  # call the uncached version of `cache_folder`


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "cache"
    monkeypatch.setenv("GRAPHLA_CACHE_DIR", str(path))
    return path


def refused(problem: str) -> None:
    with pytest.warns(RuntimeWarning, match=rf"GRAPHLA_CACHE_DIR is ignored: .*{problem}"):
        assert find_folder() == private_folder()


def test_a_new_cache_folder_is_private_to_the_user_and_is_reused(folder):
    assert find_folder() == folder.resolve()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (folder / "loop.py").write_text("")
    assert find_folder() == folder.resolve()
    assert stat.S_IMODE(private_folder().stat().st_mode) == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o702])
def test_a_world_writable_cache_folder_is_not_used(folder, mode):
    folder.mkdir()
    folder.chmod(mode)
    refused("cache is writable by other users")


@pytest.mark.parametrize(("mode", "is_safe"), [(0o777, False), (0o1777, True), (0o755, True)])
def test_a_cache_folder_that_other_users_could_replace_is_not_used(folder, mode, is_safe):
    folder.mkdir(mode=0o700)
    folder.parent.chmod(mode)
    if is_safe:
        assert find_folder() == folder.resolve()
    else:
        refused("is writable by other users")


@pytest.mark.parametrize("name", ["loop.py", "__pycache__", "__pycache__/loop.nbi"])
def test_a_cache_folder_with_a_file_that_other_users_may_write_is_not_used(folder, name):
    path = folder / name
    path.parent.mkdir(parents=True, mode=0o700)
    path.mkdir() if path.suffix == "" else path.write_text("")
    assert find_folder() == folder.resolve()
    path.chmod(0o777)
    refused(f"{name} is writable by other users")


@root
@pytest.mark.parametrize("name", [".", "loop.py", "__pycache__/loop.nbi"])
def test_a_cache_folder_with_a_file_owned_by_another_user_is_not_used(folder, name):
    (folder / "__pycache__").mkdir(parents=True, mode=0o700)
    (folder / name).touch()
    os.chown(folder / name, 54321, -1)
    refused("belongs to another user")


@root
def test_a_group_writable_cache_folder_is_used_only_if_the_group_is_that_of_the_user(folder):
    folder.mkdir()
    folder.chmod(0o770)
    assert find_folder() == folder.resolve()
    os.chown(folder, -1, 54321)
    refused("is writable by other users")


def test_an_unsafe_default_cache_folder_is_replaced_without_a_warning(tmp_path, monkeypatch):
    monkeypatch.delenv("GRAPHLA_CACHE_DIR", raising=False)
    for variable in ("XDG_CACHE_HOME", "HOME"):
        monkeypatch.setenv(variable, str(tmp_path))
    folder = find_folder()
    assert folder.name == "graphla" and tmp_path.resolve() in folder.parents
    folder.chmod(0o777)
    assert find_folder() == private_folder()


def test_a_cache_folder_that_cannot_be_created_is_not_used(folder):
    folder.write_text("a file")
    assert find_folder() == private_folder()
