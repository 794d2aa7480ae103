"""What people are told, in Chinese. The keys are the English texts as they stand in the code."""

from coderelay.client.chinese import cli, client, surfaces

WORDS: dict[str, str] = {**client.WORDS, **surfaces.WORDS, **cli.WORDS}
