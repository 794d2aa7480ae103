"""Keys and passwords in what tools bring, hidden before it is stored, shown or sent."""
