"""Detect which model the person can use already, without asking them."""
