"""Read and write files, and convert to and from the data structures of other libraries."""

from graphla.io.awkward_array import from_awkward, to_awkward
from graphla.io.by_extension import (
    FORMATS,
    format_of,
    has_labels,
    is_edgelist,
    read,
    read_labelled,
    write,
)
from graphla.io.dimacs import read_dimacs
from graphla.io.edge_table import read_edge_table, read_labelled_edge_table
from graphla.io.edgelist import read_edgelist, read_labelled_edgelist, write_edgelist
from graphla.io.files import NotIndices, PackageMissing, ParseError
from graphla.io.matrix_market import mmread, mmwrite
from graphla.io.metis import read_metis
from graphla.io.networkx_files import read_networkx_file
from graphla.io.networkx_graph import from_networkx, to_networkx
from graphla.io.npz import read_npz, write_npz
from graphla.io.pydata_sparse import from_pydata_sparse, to_pydata_sparse
from graphla.io.scipy_sparse import from_scipy_sparse, to_cupyx_sparse, to_scipy_sparse

__all__ = [
    "FORMATS",
    "NotIndices",
    "PackageMissing",
    "ParseError",
    "format_of",
    "from_awkward",
    "from_networkx",
    "from_pydata_sparse",
    "from_scipy_sparse",
    "has_labels",
    "is_edgelist",
    "mmread",
    "mmwrite",
    "read",
    "read_dimacs",
    "read_edge_table",
    "read_edgelist",
    "read_labelled",
    "read_labelled_edge_table",
    "read_labelled_edgelist",
    "read_metis",
    "read_networkx_file",
    "read_npz",
    "to_awkward",
    "to_cupyx_sparse",
    "to_networkx",
    "to_pydata_sparse",
    "to_scipy_sparse",
    "write",
    "write_edgelist",
    "write_npz",
]
