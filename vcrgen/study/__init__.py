"""People do the task: who sees what, a page that asks them, what they typed, and what a report says of it.

    dataset -> init (items, pictures, a frozen design) -> invite (links) -> serve (answers) -> adjudicate -> report
"""
