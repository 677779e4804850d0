"""Native: what mypyc is told of a class, where the library is compiled.

Promises: nothing happens where it is not, and mypy's own package is not needed to run either.

Does not: get compiled. mypyc reads the decorator by its name in ``mypy_extensions``, and never calls it.
"""

from __future__ import annotations

from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_extensions import mypyc_attr
else:

    def mypyc_attr(**_):
        """As ``mypy_extensions.mypyc_attr``."""
        return lambda kind: kind


__all__ = ["mypyc_attr"]
