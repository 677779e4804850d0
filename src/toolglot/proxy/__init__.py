"""The proxy: any OpenAI-compatible upstream in, a canonical stream out. Needs the extra ``proxy``.

Promises: ``/v1/chat/completions`` goes through ``wire``; everything else is forwarded as it stands.
Importing this package imports no HTTP library; a command does, when it runs.

Does not: parse anything itself, know a dialect, or keep what passes through unless asked to (``capture``).
"""
