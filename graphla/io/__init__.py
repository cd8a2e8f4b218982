"""Files and other libraries' graphs, in and out."""

from graphla.io.awkward_array import from_awkward, to_awkward
from graphla.io.by_extension import read, write
from graphla.io.edgelist import read_edgelist, read_labelled_edgelist, write_edgelist
from graphla.io.files import ParseError
from graphla.io.matrix_market import mmread, mmwrite
from graphla.io.networkx_graph import from_networkx, to_networkx
from graphla.io.npz import read_npz, write_npz
from graphla.io.pydata_sparse import from_pydata_sparse, to_pydata_sparse
from graphla.io.scipy_sparse import from_scipy_sparse, to_cupyx_sparse, to_scipy_sparse

__all__ = [
    "ParseError",
    "from_awkward",
    "from_networkx",
    "from_pydata_sparse",
    "from_scipy_sparse",
    "mmread",
    "mmwrite",
    "read",
    "read_edgelist",
    "read_labelled_edgelist",
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
