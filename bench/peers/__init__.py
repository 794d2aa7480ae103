"""Other coding agents that are installed here, beside ours. The contract is in `peer`; one file per peer."""
