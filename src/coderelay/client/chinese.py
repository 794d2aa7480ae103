"""What people are told, in Chinese. The keys are the English texts as they stand in the code."""

WORDS: dict[str, str] = {}
