"""What every package stands on: errors, records, files, storage, random numbers; ledgers and locks of long jobs."""
