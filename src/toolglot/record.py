"""Record: frozen dataclasses that share their methods, and become the standard library's when asked.

Promises: ``@dataclass(frozen=True)``, ``field`` and ``replace`` as the standard library's; its ``fields`` and
``asdict`` work too.

Why: writing and compiling the methods of each class anew, and importing what does, was half of the time that
``import toolglot`` took. Does not: know slots, ordering, or ``init=False`` fields.
"""

from __future__ import annotations

from collections.abc import Mapping

from ._typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Final


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final[Any] = _Missing()
"""The default of a field that has none."""

if TYPE_CHECKING:
    from dataclasses import dataclass, field, replace

    def defaults(kind: type) -> Mapping[str, Any]:
        """Each field's default, or its factory's product, or ``MISSING``."""
        raise NotImplementedError
else:

    class _Made:
        def __init__(self, maker):
            self.maker = maker

    def field(*, default_factory):
        """A field whose default is made for each value."""
        return _Made(default_factory)

    class _Fields:
        """What the standard library knows a dataclass by, made when it is first asked for."""

        def __get__(self, value, kind):
            import dataclasses

            for name, maker in kind._makers.items():
                setattr(kind, name, dataclasses.field(default_factory=maker))
            del kind.__dataclass_fields__
            dataclasses.dataclass(init=False, repr=False, eq=False)(kind)
            return kind.__dataclass_fields__

    class _Shared:
        """The methods of all records."""

        def __init__(self, *args, **given):
            kind = type(self)
            names = kind._names
            values = self.__dict__
            if not given and len(args) == len(names):
                values.update(zip(names, args, strict=True))
                if kind._after is not None:
                    kind._after(self)
                return
            values.update(kind._defaults)
            if args:
                if len(args) > len(names):
                    raise TypeError(f"{kind.__name__} takes {len(names)} values, not {len(args)}")
                values.update(zip(names, args, strict=False))
            if given:
                if not given.keys() <= values.keys() or not given.keys().isdisjoint(names[: len(args)]):
                    bad = next(name for name in given if name not in names[len(args) :])
                    raise TypeError(f"{kind.__name__} has no field {bad!r}, or was given it twice")
                values.update(given)
            for name in kind._open:
                if values[name] is MISSING:
                    if name not in kind._makers:
                        raise TypeError(f"{kind.__name__} needs a value for {name!r}")
                    values[name] = kind._makers[name]()
            if kind._after is not None:
                kind._after(self)

        def __eq__(self, other):
            return self.__dict__ == other.__dict__ if type(other) is type(self) else NotImplemented

        def __hash__(self):
            return hash(tuple(self.__dict__.values()))

        def __repr__(self):
            shown = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
            return f"{type(self).__qualname__}({shown})"

        def __setattr__(self, name, value):
            from dataclasses import FrozenInstanceError

            raise FrozenInstanceError(f"cannot assign to field {name!r}")

        def __delattr__(self, name):
            from dataclasses import FrozenInstanceError

            raise FrozenInstanceError(f"cannot delete field {name!r}")

    _METHODS: Final = ("__init__", "__eq__", "__hash__", "__repr__", "__setattr__", "__delattr__")

    def dataclass(*, frozen):
        """As ``dataclasses.dataclass(frozen=True)``."""
        assert frozen

        def made(kind):
            own = kind.__dict__
            kind._names = tuple(own.get("__annotations__", ()))
            given = {name: own.get(name, MISSING) for name in kind._names}
            kind._makers = {n: value.maker for n, value in given.items() if isinstance(value, _Made)}
            kind._defaults = {n: MISSING if n in kind._makers else value for n, value in given.items()}
            kind._open = tuple(name for name, value in kind._defaults.items() if value is MISSING)
            kind._after = own.get("__post_init__")
            for name in kind._makers:
                delattr(kind, name)
            for name in _METHODS:
                # Those of ``object`` are the ones that are replaced.
                if name not in own or own[name] is None:
                    setattr(kind, name, _Shared.__dict__[name])
            kind.__match_args__ = kind._names
            kind.__dataclass_fields__ = _Fields()
            return kind

        return made

    def replace(value, **changes):
        """A copy of a record with other values for some fields."""
        return type(value)(**{**value.__dict__, **changes})

    def defaults(kind):
        return {
            name: kind._makers[name]() if name in kind._makers else d for name, d in kind._defaults.items()
        }


__all__ = ["MISSING", "dataclass", "defaults", "field", "replace"]
