"""Changes of one place of a module: an operator, a constant, a returned value, a statement."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any, Final

_SWAPPED: Final[dict[type[ast.AST], Any]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Mod: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitXor: ast.BitOr, ast.MatMult: ast.Mult,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
_EMPTY: Final = {"list": "[]", "tuple": "()", "dict": "{}", "str": "''", "int": "0"}
# They decide nothing: types, decorators, texts for developers, messages of errors, progress.
_SKIPPED_FIELDS: Final = {"annotation", "returns", "decorator_list", "bases", "type_params"}
_SKIPPED_NAMES: Final = {"__repr__", "__str__", "TYPE_CHECKING", "tell", "simplefilter"}


@dataclass(frozen=True)
class Change:
    """Another text for some bytes of a module.

    Attributes:
        lines: The lines of the changed code, and the first line of its statement.
        text: The first of these lines, without the space around it.
    """

    start: int
    end: int
    lines: tuple[int, ...]
    text: str
    old: str
    new: str
    is_statement: bool

    @property
    def shown(self) -> str:
        """The change as the list of equivalent ones names it."""
        return f"{self.old} → {self.new}"

    def applied(self, source: bytes) -> bytes:
        """Return the changed module."""
        new = self.new if self.is_statement else f"({self.new})"
        return source[: self.start] + new.encode() + source[self.end :]


def places(source: bytes) -> list[list[Change]]:
    """Return each place of a module that can change, with its possible changes."""
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    found = []
    for node, statement, returns in _nodes(ast.parse(source), 1, ""):
        for part, texts in _alternatives(node, returns):
            end_line, end_column = part.end_lineno or part.lineno, part.end_col_offset or 0
            start = starts[part.lineno - 1] + part.col_offset
            covered = (*range(part.lineno, end_line + 1), statement)
            text, old = lines[part.lineno - 1].decode().strip(), ast.unparse(part)
            end = starts[end_line - 1] + end_column
            whole = isinstance(part, ast.stmt)
            found.append([Change(start, end, covered, text, old, new, whole) for new in texts])
    return [changes for changes in found if changes]


def same_code(one: bytes, other: bytes) -> bool:
    """Tell whether two modules compile to the same instructions."""
    return _instructions(compile(one, "", "exec")) == _instructions(compile(other, "", "exec"))


def _instructions(code: CodeType) -> tuple[object, ...]:
    constants = [
        _instructions(each) if isinstance(each, CodeType) else repr(each) for each in code.co_consts
    ]
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_exceptiontable


def _nodes(node: ast.AST, statement: int, returns: str) -> Iterator[tuple[ast.AST, int, str]]:
    """Yield each node, with the line of its statement and the type that its function returns."""
    if isinstance(node, ast.JoinedStr | ast.Raise) or _name(node) in _SKIPPED_NAMES:
        return
    if isinstance(node, ast.stmt):
        statement = node.lineno
    if isinstance(node, ast.FunctionDef):
        returns = ast.unparse(node.returns).partition("[")[0] if node.returns else ""
    yield node, statement, returns
    for name, value in ast.iter_fields(node):
        if name in _SKIPPED_FIELDS or (name == "keywords" and isinstance(node, ast.ClassDef)):
            continue
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.AST):
                yield from _nodes(each, statement, returns)


def _name(node: ast.AST) -> str:
    """Return the name of a function, a condition or a called function."""
    match node:
        case ast.FunctionDef(name=name) | ast.If(test=ast.Name(id=name)):
            return name
        case ast.Expr(value=ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name))):
            return name
    return ""


def _alternatives(node: ast.AST, returns: str) -> Iterator[tuple[ast.expr | ast.stmt, list[str]]]:
    """Yield the parts of a node that can change, each with its other texts."""
    match node:
        case ast.Constant(value=bool() as truth):
            yield node, [repr(not truth)]
        case ast.Constant(value=int() | float() as number):
            yield node, [repr(number + 1), repr(number - 1)]
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            negated = f"not ({ast.unparse(value)})"
            empty = negated if returns == "bool" else _EMPTY.get(returns, "None")
            yield value, [empty] * (empty != ast.unparse(value))
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            if isinstance(test, ast.Name | ast.Attribute | ast.Call):
                yield test, [f"not {ast.unparse(test)}"]
        case ast.Expr(value=ast.Call()):
            yield node, ["pass"]
        case ast.Break() | ast.Continue():
            yield node, ["continue" if isinstance(node, ast.Break) else "break"]
        case ast.expr() | ast.stmt():
            yield node, [*_with_other_operator(node)]


def _with_other_operator(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Compare(left=left, ops=ops, comparators=right):
            for index, op in enumerate(ops):
                others = [*ops[:index], _SWAPPED[type(op)](), *ops[index + 1 :]]
                yield ast.unparse(ast.Compare(left, others, right))
        case ast.BinOp(left=left, right=right) if _is_text(left) or _is_text(right):
            return
        case ast.BinOp() | ast.BoolOp() | ast.AugAssign():
            changed: Any = copy.copy(node)
            changed.op = _SWAPPED[type(node.op)]()
            yield ast.unparse(changed)
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield ast.unparse(operand)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )
