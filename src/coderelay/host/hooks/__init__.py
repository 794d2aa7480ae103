"""Programs of the person that are asked at moments of a turn. They may make it stricter, never freer."""
