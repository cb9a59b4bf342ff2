"""Options of all commands as validated models, one module for each package."""
