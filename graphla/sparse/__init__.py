"""The GraphBLAS objects: Matrix, Vector, Scalar and Mask."""

from graphla.expression import hand_in
from graphla.sparse.mask import Mask
from graphla.sparse.matrix import Matrix, MatrixExpression
from graphla.sparse.scalar import Scalar, ScalarExpression
from graphla.sparse.vector import Vector, VectorExpression

hand_in(ScalarExpression, VectorExpression, MatrixExpression)

__all__ = ["Mask", "Matrix", "Scalar", "Vector"]
