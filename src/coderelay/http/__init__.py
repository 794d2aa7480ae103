"""An HTTP/1.1 client with what model providers need: POST a body, stream the response, reuse the connection.

It is our own because a general client takes longer to import than the rest of a turn takes together
(docs/decisions/0002-http-client.md). `model_server_client.py` is the entry point; from there inwards:

model_server_client: sends a request, returns its response, and keeps the connection for the next one
web_page_client: fetches one web page from an IP address that was checked before
dial: connects to the server, through a proxy if there is one, with TLS if the URL is https
socket_connection: sends and receives the bytes of one socket
response_decoder: reads the status and headers of a response, and decodes its body (sized, chunked or until the end)
server_url: parses URLs
errors: the exceptions
"""
