"""Small tasks for a real model, judged by what they leave behind and never by how it is put."""
