from coderelay.cli import run

run()
