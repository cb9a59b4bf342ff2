"""Multiple-choice (MCQ) benchmarks by Bloom's levels: taxonomy, checks, generators, import, audit, coverage."""
