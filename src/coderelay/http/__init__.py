"""HTTP/1.1 as model providers need it: post a body, read a streamed answer, keep the connection.

Our own because a general client costs more to import than the rest of a turn together
(docs/decisions/0002-http-client.md). `client.py` is the door; from there inwards:

client    a request, its answer, and the connection kept for the next one
dial      a wire to the server: through a proxy if there is one, encrypted if the address says so
wire      bytes in and out of one socket
head      the status and the headers of an answer
body      its body, taken out of the form it travels in; knows no socket
"""
