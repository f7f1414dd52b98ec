"""Adds arguments to calls and takes them away; the call keeps its shape, line breaks and comments included."""

from __future__ import annotations

import libcst as cst

_NOTHING = cst.SimpleWhitespace("")
_SPACE = cst.SimpleWhitespace(" ")
_Gap = cst.BaseParenthesizableWhitespace


def argument_index(call: cst.Call, argument: str | int) -> int | None:
    """Where the keyword argument of that name, or the positional one of that index, stands."""
    if isinstance(argument, int):
        positional = argument < len(call.args) and not (call.args[argument].keyword or call.args[argument].star)
        return argument if positional else None
    found = (i for i, arg in enumerate(call.args) if arg.keyword is not None and arg.keyword.value == argument)
    return next(found, None)


def set_keyword(call: cst.Call, name: str, value: cst.BaseExpression) -> cst.Call:
    """The call with ``name=value``: in place of one of that name, else last, but before ``**kwargs``."""
    index = argument_index(call, name)
    if index is not None:
        changed = call.args[index].with_changes(value=value)
        return call.with_changes(args=[*call.args[:index], changed, *call.args[index + 1 :]])
    equal = cst.AssignEqual(whitespace_before=_NOTHING, whitespace_after=_NOTHING)
    return _add(call, cst.Arg(value, cst.Name(name), equal))


def _add(call: cst.Call, new: cst.Arg) -> cst.Call:
    args = [_bracketed(arg) for arg in call.args]
    index = next((i for i, arg in enumerate(args) if arg.star == "**"), len(args))
    if not args:
        before = call.whitespace_before_args
        return call.with_changes(args=[new], whitespace_before_args=before if _breaks(before) else _NOTHING)
    if index == len(args):
        return call.with_changes(args=[*args[:-1], *_append(args[-1], new, _bare(_gap_before(call, index - 1)))])
    new = new.with_changes(comma=cst.Comma(whitespace_after=_bare(_gap_before(call, index))))
    return call.with_changes(args=[*args[:index], new, *args[index:]])


def _append(last: cst.Arg, new: cst.Arg, gap: _Gap) -> tuple[cst.Arg, cst.Arg]:
    """The last argument and the new one behind it; the comments behind the last one stay with it."""
    closing = _closing(last)
    if isinstance(closing, cst.ParenthesizedWhitespace) and isinstance(gap, cst.ParenthesizedWhitespace):
        gap = closing.with_changes(indent=gap.indent, last_line=gap.last_line)
        closing = _bare(closing)
    before = last.comma.whitespace_before if isinstance(last.comma, cst.Comma) else _NOTHING
    comma = cst.Comma(whitespace_before=before, whitespace_after=gap)
    return last.with_changes(comma=comma, whitespace_after_arg=_NOTHING), _close(new, last, closing)


def remove_argument(call: cst.Call, index: int) -> cst.Call:
    """The call without one argument; the comment behind it and the comment lines above it go too."""
    rest = [*call.args[:index], *call.args[index + 1 :]]
    if not rest:
        return call.with_changes(args=[], whitespace_before_args=_NOTHING)
    removed = call.args[index]
    if index == len(rest):
        rest[-1] = _close_without(rest[-1], removed)
    elif index > 0:
        gap = _join(_gap_before(call, index), _closing(removed))
        rest[index - 1] = rest[index - 1].with_changes(comma=cst.Comma(whitespace_after=gap))
    return call.with_changes(args=rest)


def _close_without(last: cst.Arg, removed: cst.Arg) -> cst.Arg:
    """The argument before the last one, as the last one: the comment behind it stays."""
    closing, gap = _closing(removed), _closing(last)
    if isinstance(gap, cst.ParenthesizedWhitespace) and (gap.first_line.comment or _breaks(closing)):
        end = closing if isinstance(closing, cst.ParenthesizedWhitespace) else gap
        closing = end.with_changes(first_line=gap.first_line)
    bare = last.with_changes(comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=_NOTHING)
    return _close(bare, removed, closing)


def _close(arg: cst.Arg, like: cst.Arg, closing: _Gap) -> cst.Arg:
    """The argument as the last one, with a comma behind it if ``like`` has one."""
    if isinstance(like.comma, cst.Comma):
        return arg.with_changes(comma=cst.Comma(whitespace_after=closing))
    return arg.with_changes(whitespace_after_arg=closing)


def _join(before: _Gap, after: _Gap) -> _Gap:
    """One gap from the two around a removed argument."""
    if not isinstance(before, cst.ParenthesizedWhitespace):
        return after
    if not isinstance(after, cst.ParenthesizedWhitespace):
        return before
    return after.with_changes(first_line=before.first_line)


def _gap_before(call: cst.Call, index: int) -> _Gap:
    return _closing(call.args[index - 1]) if index else call.whitespace_before_args


def _closing(arg: cst.Arg) -> _Gap:
    """The blanks behind an argument and its comma."""
    return arg.comma.whitespace_after if isinstance(arg.comma, cst.Comma) else arg.whitespace_after_arg


def _bare(gap: _Gap) -> _Gap:
    """The same line break without comments, or a space."""
    if isinstance(gap, cst.ParenthesizedWhitespace):
        return cst.ParenthesizedWhitespace(indent=gap.indent, last_line=gap.last_line)
    return _SPACE


def _breaks(gap: _Gap) -> bool:
    return isinstance(gap, cst.ParenthesizedWhitespace)


def _bracketed(arg: cst.Arg) -> cst.Arg:
    """A generator that is the only argument needs brackets of its own beside another one."""
    if isinstance(arg.value, cst.GeneratorExp) and not arg.value.lpar:
        brackets = {"lpar": [cst.LeftParen()], "rpar": [cst.RightParen()]}
        return arg.with_changes(value=arg.value.with_changes(**brackets))
    return arg
