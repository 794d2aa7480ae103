"""`coder feishu`: sessions in the chats of Feishu and Lark."""
