"""One result rule on one payload: find its tables, plan the changes, write the text again."""

from collections.abc import Sequence
from typing import Final

from okn_benchmark.interventions.arm import AddedColumn, ResultRule
from okn_benchmark.interventions.deriving import derived
from okn_benchmark.interventions.grid import Added, Cell, Grid, Plan
from okn_benchmark.interventions.json_fields import Steps, matches
from okn_benchmark.interventions.json_tables import RecordGrid, grid_of, stated
from okn_benchmark.interventions.json_text import changed_at, opened, pruned, quoted, value_of
from okn_benchmark.interventions.text_tables import rewritten

_DEEPEST: Final = 4


def shaped(text: str, rule: ResultRule) -> str | None:
    """``text`` after ``rule``; None where there is nothing in it that the rule is about."""
    if rule.form in ("auto", "json") and _holds_json(text):
        if rule.fields:
            return _fields(text, rule)
        return _at_paths(text, rule) if rule.at else _anywhere(text, rule, 0)
    if rule.form == "json" or rule.at or rule.fields:
        return None
    return rewritten(text, _form(rule), lambda grid: plan_for(rule, grid))


def _holds_json(text: str) -> bool:
    try:
        return isinstance(value_of(text), dict | list)
    except (ValueError, RecursionError):
        return False


def named(rule: ResultRule) -> set[str]:
    """Columns by which a rule knows its table."""
    return {*rule.keep, *rule.drop, *rule.rename, *(a.of for a in rule.add if a.of is not None)}


def _form(rule: ResultRule) -> str:
    # Two lines with a comma each are no table. Without a name to look for, only pipes are beyond doubt.
    return "markdown" if rule.form == "auto" and not named(rule) else rule.form


def plan_for(rule: ResultRule, grid: Grid) -> Plan:
    """What ``rule`` means for one table; an empty plan where it means nothing."""
    columns = grid.columns
    added = tuple(_added(new, grid) for new in rule.add if _can_add(new, columns))
    own = {*rule.keep, *rule.rename.values(), *(new.name for new in rule.add)}
    dropped = {name for name in columns if name in rule.drop}
    if set(rule.keep) & set(columns):
        dropped = {name for name in columns if name not in own}
    renamed = {old: new for old, new in rule.rename.items() if old in columns and new not in columns}
    if dropped >= set(columns) and not added:
        return Plan()
    rows = rule.rows if rule.rows is not None and grid.height > rule.rows else None
    return Plan(dropped=frozenset(dropped), renamed=renamed, added=added, rows=rows)


def _can_add(new: AddedColumn, columns: Sequence[str]) -> bool:
    return new.name not in columns and (new.of is None or new.of in columns)


def _added(new: AddedColumn, grid: Grid) -> Added:
    sources = [Cell(None)] * grid.height if new.of is None else grid.cells(new.of)
    return Added(new.name, new.after, [derived(new, cell) for cell in sources])


def _fields(text: str, rule: ResultRule) -> str | None:
    value = value_of(text)
    paths = [steps for path in rule.fields for steps in matches(value, path)]
    if not paths:
        return None
    done = pruned(text, paths)
    return None if done == text else done


def _at_paths(text: str, rule: ResultRule) -> str | None:
    done = text
    for steps in matches(value_of(text), rule.at or "$"):
        done = _at(done, steps, rule) or done
    return None if done == text else done


def _at(text: str, steps: Steps, rule: ResultRule) -> str | None:
    """The table at the end of ``steps``; a list that was cut says so in the object that holds it."""
    if steps and isinstance(steps[-1], str):
        name = steps[-1]
        return changed_at(text, steps[:-1], lambda holder: _member(holder, name, rule))
    return changed_at(text, steps, lambda value: _grid(value, rule))


def _grid(text: str, rule: ResultRule) -> str | None:
    grid = grid_of(text)
    plan = Plan() if grid is None else plan_for(rule, grid)
    return grid.written(plan) if grid is not None and plan else None


def _member(holder: str, name: str, rule: ResultRule) -> str | None:
    done = changed_at(holder, (name,), lambda value: _grid(value, rule))
    return None if done is None else _told(holder, done, name, rule)


def _told(before: str, after: str, name: str, rule: ResultRule) -> str:
    was, now = opened(before), opened(after)
    member = None if was is None else was.member(name)
    grid = None if member is None else grid_of(member.value)
    if now is None or rule.rows is None or not isinstance(grid, RecordGrid) or grid.height <= rule.rows:
        return after
    return stated(now, rule.rows, grid.height).text


def _anywhere(text: str, rule: ResultRule, depth: int) -> str | None:
    """The payload itself where it is a table; else every table among its members, and text that holds one."""
    grid = grid_of(text)
    if grid is not None:
        plan = plan_for(rule, grid)
        if not plan:
            return None
        done = grid.written(plan)
        if isinstance(grid, RecordGrid) and plan.rows is not None:
            return f'{{"showing":{plan.rows},"total":{grid.height},"rows":{done}}}'
        return done
    outer = opened(text)
    if outer is None or not outer.is_object or depth > _DEEPEST:
        return None
    done = text
    for item in outer.items:
        changed = _inside(item.value, rule, depth)
        if changed is not None:
            after = changed_at(done, (item.name,), lambda _, new=changed: new) or done  # type: ignore[misc]
            done = _told(done, after, item.name, rule)
    return None if done == text else done


def _inside(text: str, rule: ResultRule, depth: int) -> str | None:
    if text.startswith('"'):
        said = str(value_of(text))
        inner = _anywhere(said, rule, depth + 1) if _holds_json(said) else None
        if inner is None and not _holds_json(said):
            inner = shaped(said, rule)
        return None if inner is None else quoted(inner)
    return _grid(text, rule) if grid_of(text) is not None else _anywhere(text, rule, depth + 1)
