"""Names of ``typing`` without loading it, which would take a sixth of the time of ``import toolglot``.

Promises: type checkers see ``typing`` itself. At run time the names stand in aliases of types, and as bases
that do nothing; annotations are not evaluated at all. ``Final`` and ``ClassVar`` each module imports from
``typing`` under ``TYPE_CHECKING``, since pyright knows them by that import alone.

Does not: serve modules whose annotations are read at run time, as those of ``message`` are.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any as Any
    from typing import ClassVar as ClassVar
    from typing import Final as Final
    from typing import Generic as Generic
    from typing import Literal as Literal
    from typing import Protocol as Protocol
    from typing import TypeVar as TypeVar
    from typing import cast as cast
else:

    class _Name:
        def __getitem__(self, parameters):
            return self

        def __or__(self, other):
            return self

        __ror__ = __or__

    Any = ClassVar = Final = Literal = _Name()

    class Generic:
        __slots__ = ()

        def __class_getitem__(cls, parameters):
            return cls

    class Protocol(Generic):
        __slots__ = ()

    def TypeVar(name):  # noqa: N802 - as typing spells it
        return name

    def cast(kind, value):
        return value
