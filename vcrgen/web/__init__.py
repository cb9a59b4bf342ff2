"""Parts that every web service needs: limits, guards, tokens, forms, answers, a log, and running until stopped."""
