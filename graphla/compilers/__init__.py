"""The hot loops as real files, and the loaders that specialise, compile and cache them."""
