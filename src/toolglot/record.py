"""Record: frozen dataclasses that share their methods.

Promises: ``@dataclass(frozen=True)`` as the standard library's, ``fields``, ``replace`` and ``asdict`` included.

Why: the standard library writes and compiles the methods of each class anew, which was a third of the time
that ``import toolglot`` took. Does not: know slots, ordering or ``init=False`` fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    from dataclasses import MISSING, FrozenInstanceError, fields
    from dataclasses import dataclass as _plain

    def _init(self, *args, **given):
        cls = type(self)
        names = cls._names
        values = self.__dict__
        values.update(cls._defaults)
        if args:
            if len(args) > len(names):
                raise TypeError(f"{cls.__name__} takes {len(names)} values, not {len(args)}")
            values.update(zip(names, args, strict=False))
        if given:
            if not given.keys() <= values.keys() or not given.keys().isdisjoint(names[: len(args)]):
                bad = next(k for k in given if k not in names or k in names[: len(args)])
                raise TypeError(f"{cls.__name__} has no field {bad!r}, or was given it twice")
            values.update(given)
        for name in cls._open:
            if values[name] is MISSING:
                if cls._makers.get(name) is None:
                    raise TypeError(f"{cls.__name__} needs a value for {name!r}")
                values[name] = cls._makers[name]()
        if cls._after is not None:
            cls._after(self)

    def _eq(self, other):
        return self.__dict__ == other.__dict__ if type(other) is type(self) else NotImplemented

    def _hash(self):
        return hash(tuple(self.__dict__.values()))

    def _repr(self):
        return f"{type(self).__qualname__}({', '.join(f'{k}={v!r}' for k, v in self.__dict__.items())})"

    def _setattr(self, name, value):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def _delattr(self, name):
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def dataclass(*, frozen):
        """As ``dataclasses.dataclass(frozen=True)``."""
        assert frozen

        def made(cls):
            cls = _plain(init=False, repr=False, eq=False)(cls)
            found = fields(cls)
            cls._names = tuple(field.name for field in found)
            cls._defaults = {field.name: field.default for field in found}
            cls._open = tuple(field.name for field in found if field.default is MISSING)
            cls._makers = {f.name: f.default_factory for f in found if f.default_factory is not MISSING}
            cls._after = getattr(cls, "__post_init__", None)
            shared = {"__init__": _init, "__eq__": _eq, "__hash__": _hash, "__setattr__": _setattr}
            for name, method in {**shared, "__delattr__": _delattr}.items():
                setattr(cls, name, method)
            if "__repr__" not in cls.__dict__:
                cls.__repr__ = _repr
            return cls

        return made


__all__ = ["dataclass"]
