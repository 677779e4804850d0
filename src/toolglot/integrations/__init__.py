"""Integrations: one thin file for each host, which is imported when it is used."""
