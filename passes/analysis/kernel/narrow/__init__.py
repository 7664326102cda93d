"""Elements below a word in generated code: how they are addressed, extended and written."""
