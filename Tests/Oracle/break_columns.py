#!/usr/bin/env python3
"""Makes the fold wrong in one column after the other, and demands that compare.py notices each.

usage: break_columns.py ROWS FOLDER     as of compare.py, which must find no difference in them
A column is broken twice: by another value in one row, and by the value of another column of its kind in all rows (`hdop := vdop`).
Prints the breaks that went unnoticed; exit status 1 when there is one.
"""
import collections, pathlib, sys
import compare
from columns import KEYS, VIEWS


def other(value, kind):
    """A value that it is not."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, str):
        return value + ("00" if kind == "bytes" else "x")
    if isinstance(value, list):
        return value[1:] if value else [7]
    if isinstance(value, dict):
        return {**value, "other": 1}
    return {"flag": True, "text": "x", "word": "x", "bytes": "00"}.get(kind, 1)


def broken(rows, view, column, change):
    """The rows with another value wherever `change` gives one."""
    out, changed = [], False
    for row in rows:
        if row["view"] == view:
            value = change(row)
            changed |= value != row[column]
            row = {**row, column: value}
        out.append(row)
    return out if changed else None


def breaks(rows, view):
    kinds = VIEWS[view]
    for column, kind in kinds.items():
        first = next((row for row in rows if row["view"] == view), None)
        if first is not None:
            yield column, "another value", broken(rows, view, column, lambda row: other(row[column], kind) if row is first else row[column])
        for neighbor, same in kinds.items():
            if neighbor != column and same == kind and column not in KEYS[view]:
                yield column, f"the value of {neighbor}", broken(rows, view, column, lambda row: row[neighbor])


def main():
    rows = compare.lines(pathlib.Path(sys.argv[1]))
    ours = compare.Ours(pathlib.Path(sys.argv[2]))
    if compare.problems(rows, ours)[0]:
        sys.exit("break_columns.py: the rows differ before anything is broken")
    made, columns, unnoticed, same = 0, set(), [], collections.Counter()
    for view in VIEWS:
        if not any(row["view"] == view for row in rows):
            unnoticed.append(f"{view} has no row")
        for column, what, changed in breaks(rows, view):
            if changed is None:
                same[f"{view}.{column}"] += 1
                continue
            made += 1
            columns.add((view, column))
            if not compare.problems([row for row in changed if row["view"] == view], ours, [view])[0]:
                unnoticed.append(f"{view}.{column}: {what}")
    unbroken = [f"{view}.{column}" for view in VIEWS for column in VIEWS[view] if (view, column) not in columns]
    print("\n".join(unnoticed + [f"{name} was never broken" for name in unbroken]))
    print(f"{made} breaks of {'200 columns or more' if len(columns) >= 200 else f'{len(columns)} columns'}, "
          + ("all noticed" if not unnoticed and not unbroken else f"{len(unnoticed)} not noticed, {len(unbroken)} columns left out"))
    sys.exit(bool(unnoticed or unbroken))


main()
