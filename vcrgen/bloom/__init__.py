"""Question sets by Bloom's levels: taxonomy, checks of items, the built-in maker, importers, writing a set."""
