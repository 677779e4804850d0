"""Derive: a dialect from a model's own chat template. Needs the extra ``derive``, which is Jinja2.

Promises: a template is untrusted code and is only rendered in a sandbox, in a process of its own with
limits on time and memory.

Does not: fetch anything from a network, or derive anything unless it is asked to.
"""
