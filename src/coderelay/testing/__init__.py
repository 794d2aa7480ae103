"""Doubles and conformance suites, shipped with the product."""
