"""Tools, resources and prompts of other programs, by the Model Context Protocol (docs/decisions/0013-mcp.md).

servers   all that are configured for one folder: started together, their tools in a stable order
server    one of them: started when it is needed, started again when it died
client    what is said to one running server, in the words of the protocol
peer      requests and answers in both directions
words     what servers say they have, and what they answer
line      the contract of what carries messages: `stdio_line` to a child process, `http_line` to an address
tool      one tool of a server as the agent has it; `names`, `schemas` and `results` are its parts
"""
