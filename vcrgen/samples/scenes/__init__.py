"""How each kind of scene is drawn: one function per kind, from its facts onto a canvas."""
