"""What every long job needs to survive an interruption: lock, plan, ledger, folders that appear whole, a watcher."""
