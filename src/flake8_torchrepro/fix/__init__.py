"""Edits become text; the only folder that imports libcst."""
