"""What subcommands share: their arguments, the folder they begin in, Ctrl-C, and opening the app and a session."""
