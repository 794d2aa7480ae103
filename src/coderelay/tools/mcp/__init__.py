"""Client of the Model Context Protocol: tools, resources and prompts of other programs (docs/decisions/0013-mcp.md).

server_pool        the servers of a process, by folder
servers            the servers configured for one folder: started together, their tools in a stable order
server             one of them: started when it is needed, restarted after it died
client             the requests to one running server, through the peer of `wire`
schema             the types of the protocol, and the check of parameter schemas
transport          the carrier of messages: `stdio_transport` to a child process, `http_transport` to a URL
results            one tool of a server as the agent has it, and its results; `tool_names` makes its name
listing            servers, prompts and resources as people see them
settings           the configuration of a server
"""
