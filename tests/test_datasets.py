"""Test that the graphs shipped with the library match the table of datasets."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from data_files import DATA, needs_data

import graphla as gl
from graphla import datasets

FOLDER = Path(datasets.__file__).parent


@pytest.mark.parametrize("name", datasets.names())
def test_each_dataset_has_the_counts_listed_in_the_table(name):
    about, A = datasets.info(name), datasets.load(name)
    assert A.shape == (about.vertices, about.vertices)
    assert A.nvals == (about.edges if about.directed else 2 * about.edges)
    assert A._store.is_symmetric is not about.directed
    assert (A.dtype != "BOOL") is about.weighted
    assert about.license
    assert about.source


def test_every_data_file_has_its_license_in_the_same_folder():
    told = (FOLDER / "LICENSES.md").read_text(encoding="utf-8")
    shipped = {path.name for path in FOLDER.iterdir() if path.suffix in (".npz", ".mtx")}
    assert shipped == {datasets.info(name).file for name in datasets.names()}
    assert all(f"`{name}`" in told for name in shipped)
    assert sum(path.stat().st_size for path in FOLDER.iterdir() if path.is_file()) < 2_000_000


@needs_data
@pytest.mark.parametrize("file", ["road-NY.npz", "ak2010.npz", "4elt.npz"])
def test_the_shipped_files_are_identical_to_the_originals(file):
    digests = [hashlib.sha256((folder / file).read_bytes()).digest() for folder in (FOLDER, DATA)]
    assert digests[0] == digests[1]


def test_an_unknown_dataset_is_rejected_and_the_known_names_are_listed():
    with pytest.raises(gl.exceptions.InvalidValue, match=r"name is 'road', but .* road-NY"):
        datasets.load("road")
