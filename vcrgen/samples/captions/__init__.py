"""What is said about each kind of scene, per language: one function per kind, from its facts to a caption."""
