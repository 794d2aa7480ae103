"""Client of the Model Context Protocol: tools, resources and prompts of other programs (docs/decisions/0013-mcp.md).

server_pool        the servers of a process, by folder
folder_servers     the servers configured for one folder: started together, their tools in a stable order
restarting_server  one of them: started when it is needed, restarted after it died
client             the requests to one running server, through the peer of `wire`
protocol_types     the types of the protocol, and the check of parameter schemas
server_transport_interface   the carrier of messages: `stdio_transport` to a child process, `http_transport` to a URL
mcp_tool           one tool of a server as the agent has it, its name, and its results
server_status_and_prompt_text     servers, prompts and resources as people see them
server_settings    the configuration of a server
"""
