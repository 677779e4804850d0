"""One module a peer: ``version()``, and ``Peer(option).works(workload)``, what can be run of it on a text.

``works`` gives ``stream`` (all deltas, one by one) and ``oneshot`` (the whole text), those of the two that
the peer has for this format; each returns the calls as pairs of a name and arguments (a dict, or JSON). A
peer is imported from its package and never copied.
"""
