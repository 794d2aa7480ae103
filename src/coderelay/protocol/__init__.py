"""The words everything else speaks: data only, no behaviour beyond encoding."""
