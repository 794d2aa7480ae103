"""Reading, writing and comparing the files beneath the session's folders, guarded against symbolic links."""
