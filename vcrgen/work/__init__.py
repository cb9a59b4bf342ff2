"""Long jobs that survive interruptions: lock, plan, ledger, atomic folders, progress."""
