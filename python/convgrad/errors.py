"""What convgrad refuses, as exceptions: each has the sentence, and its parts as attributes."""

from __future__ import annotations


class ConvgradError(Exception):
    """A refusal of the library."""

    def __init__(self, message: str, argument: str = "", got: str = "", wanted: str = "", rule: str = "") -> None:
        super().__init__(message)
        self.argument = argument  #: the argument at fault
        self.got = got  #: what it was
        self.wanted = wanted  #: what it must be
        self.rule = rule  #: the id of the rule broken

    def __reduce__(self) -> tuple[type[ConvgradError], tuple[str, ...]]:
        return type(self), (str(self), self.argument, self.got, self.wanted, self.rule)


class InvalidArgumentError(ConvgradError, ValueError):
    """The call can never work as written."""


class ArgumentTypeError(InvalidArgumentError, TypeError):
    """An argument is of the wrong type."""


class UnimplementedError(ConvgradError, NotImplementedError):
    """The call has a meaning, but nothing here computes it."""


class ResourceExhaustedError(ConvgradError, MemoryError):
    """The call needs more bytes than the limit or the machine gives."""


class InternalError(ConvgradError, RuntimeError):
    """A mistake of convgrad's own."""


class CancelledError(ConvgradError):
    """The call was asked to stop."""


def refusal(argument: str, got: str, wanted: str, rule: str = "attr-type") -> ConvgradError:
    """Of what a function of this package looks at before the library is asked."""
    message = f"{argument}: got {got}, wanted {wanted}"
    return from_status("invalid_argument", message, argument, got, wanted, rule)


_BY_CODE: dict[str, type[ConvgradError]] = {
    "invalid_argument": InvalidArgumentError,
    "unimplemented": UnimplementedError,
    "resource_exhausted": ResourceExhaustedError,
    "internal": InternalError,
    "cancelled": CancelledError,
}
_TYPE_RULES = ("attr-type", "dtype")


def from_status(code: str, message: str, argument: str, got: str, wanted: str, rule: str) -> ConvgradError:
    kind = ArgumentTypeError if rule in _TYPE_RULES else _BY_CODE.get(code, InternalError)
    return kind(message, argument, got, wanted, rule)
