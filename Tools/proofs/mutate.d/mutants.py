"""Mutants made by rule from Swift source: off by one, swapped neighbours, dropped statement, negated condition.

It works on lines, not on a syntax tree: what it makes may not compile, and is then dropped. Each mutant changes one line and keeps its number.
"""
import dataclasses, re

SWITCH = "isMutantMade"
# The size of the file in which each switch that was asked leaves a byte: more than there are switches.
REACHED_BYTES = 1 << 16

SWAPS = {
    " < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == ", " + ": " - ", " - ": " + ", " &+ ": " &- ",
    " &- ": " &+ ", " && ": " || ", " || ": " && ", " << ": " >> ", " >> ": " << ", " & ": " | ", " | ": " & ", " += ": " -= ", " -= ": " += ",
    " ..< ": " ... ", "..<": "...", "...": "..<",
}
WORDS = {
    "min": "max", "first": "last", "lowerBound": "upperBound", "prefix": "suffix", "dropFirst": "dropLast", "removeFirst": "removeLast",
    "lowest": "highest", "true": "false", "atOrBefore": "atOrAfter", "previous": "next", "firstIndex": "lastIndex", "popFirst": "popLast",
    "smallest": "largest", "oldest": "newest", "earliest": "latest",
}
WORDS |= {new: old for old, new in WORDS.items()}
# A word is replaced only if it is a member, a call or a literal, not a name in a declaration.
WORD = re.compile(r"(?<=\.)(%s)\b|\b(min|max)(?=\()|\b(true|false)\b|\b(atOrBefore|atOrAfter)(?=:)" % "|".join(sorted(WORDS, key=len, reverse=True)))
OPERATOR = re.compile("|".join(re.escape(text) for text in sorted(SWAPS, key=len, reverse=True)))
NUMBER = re.compile(r"(?<![\w.$])(0x[0-9a-fA-F_]+|\d[\d_]*)(?![\w.])")
NOT = re.compile(r"(?<![\w)?\]])!(?=[a-zA-Z(])")
DECLARED = re.compile(r"^(?:(?:public|private|package|internal|fileprivate|static|lazy|final)(?:\(set\))? )*(?:let|var) [^={]+? = ")
ASSIGNED = re.compile(r"^(?:self\.)?[\w.$]+(?:\[[^=]*?\])?[\w.!?\[\]]* (?:=|[-+|&^*]=|&[-+]=|<<=|>>=) |^\([\w., ]+\) = ")
CALLED = re.compile(r"^(?:_ = )?(?:(?:try|await|unsafe)[?!]? )*[\w.]+(?:\[[^\]]*\])?[\w.?!]*\(.*\)$")
SKIPPED = re.compile(
    r"^(?:@|import |public import |internal import |typealias |associatedtype |#|precondition|assert|[\])}]|\.|\?|:|[-+*/&|=<>]|struct |enum |class "
    r"|extension |protocol |throw |case \w+ = |\"\"\")")
# Hints to the allocator, texts of errors, and macros, which take no foreign names.
HARMLESS = re.compile(r"reserveCapacity|capacity:|keepingCapacity|Error\(|Failure\(|#|logger\.|label:|\.description|nonisolated")
CONTINUED = re.compile(r"(?:[(\[,:?=]|&&|\|\||[-+*/<>]|\breturn|\belse|\bin|->)$")
CONTINUES = re.compile(r"^(?:\.|\?|: |&&|\|\||[-+*/=<>]{1,2} |\{)")


@dataclasses.dataclass(frozen=True)
class Mutant:
    file: str
    number: int  # of the line, from 1
    old: str  # the line as it is, without what indents it
    new: str  # and as it would be
    start: int  # of what is switched in the line
    end: int
    text: str  # what stands there when the mutant is made
    form: str  # expression, statement or dropped

    @property
    def key(self):
        return self.file, self.old, self.new

    def line(self, line, switch):
        before, site, after = line[:self.start], line[self.start:self.end], line[self.end:]
        if self.form == "expression":
            return f"{before}({switch} ? ({self.text}) : ({site})){after}"
        if self.form == "dropped":
            return f"{before}if !({switch}) {{ {site} }}{after}"
        return f"{before}if {switch} {{ {self.text} }} else {{ {site} }}{after}"


def masked(lines):
    """The lines with comments replaced by spaces and texts by underscores, in the same places."""
    result, inside = [], False
    for line in lines:
        if inside or '"""' in line:
            if line.count('"""') % 2:
                inside = not inside
            result.append("")
            continue
        out, place = [], 0
        while place < len(line):
            if line.startswith("//", place):
                out.append(" " * (len(line) - place))
                break
            if line[place] != '"':
                out.append(line[place])
                place += 1
                continue
            end = closing_quote(line, place)
            out.append('"' + "_" * (end - place - 1) + '"')
            place = end + 1
        result.append("".join(out)[:len(line)])
    return result


def closing_quote(line, start):
    place, depth = start + 1, 0
    while place < len(line):
        if line.startswith("\\(", place):
            depth, place = depth + 1, place + 2
        elif line[place] == "\\":
            place += 2
        elif depth and line[place] in "()":
            depth += 1 if line[place] == "(" else -1
            place += 1
        elif line[place] == '"' and depth:
            place = closing_quote(line, place) + 1
        elif line[place] == '"':
            return place
        else:
            place += 1
    return len(line) - 1


def ends(text, stops):
    """The first place outside all brackets with one of the stops; None if there is none."""
    depth = 0
    for place, character in enumerate(text):
        if depth == 0 and any(text.startswith(stop, place) for stop in stops):
            return place
        depth += (character in "([{") - (character in ")]}")
        if depth < 0:
            return None
    return None


def is_balanced(text):
    depth = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if depth < 0:
            return False
    return depth == 0


def clauses(mask, start, end):
    while start < end:
        stop = ends(mask[start:end], [", "])
        yield start, end if stop is None else start + stop
        if stop is None:
            return
        start += stop + 2


def sites(mask, start, is_whole):
    """Places of a line that can be switched: (start, end, kind). From `start` on it is a statement; is_whole: nothing of it is on other lines."""
    text = mask[start:].rstrip()
    end = start + len(text)
    for opening in ["} else "]:
        if text.startswith(opening):
            start += len(opening)
            text = text[len(opening):]
    found = re.match(r"(if|guard|while) ", text)
    if found:
        stop = ends(text, [" else {"] if found[1] == "guard" else [" {"])
        if stop is None:
            return
        for first, last in clauses(mask, start + found.end(), start + stop):
            yield from clause(mask, first, last)
        body = text.find("{", stop) + 1
        yield from inline_body(mask, start + body, end)
        return
    found = re.match(r"for (?:case )?[\w(), ]+ in ", text)
    if found:
        stop, where = ends(text, [" {"]), ends(text, [" where "])
        if stop is None:
            return
        last = stop if where is None else where
        yield start + found.end(), start + last, "value"
        if where is not None:
            yield start + where + 7, start + stop, "condition"
        yield from inline_body(mask, start + stop + 2, end)
        return
    if text.startswith("return "):
        stop = ends(text, [" }"])
        if is_balanced(text if stop is None else text[:stop]) and (is_whole or stop is not None):
            yield start + 7, end if stop is None else start + stop, "value"
        return
    found = re.match(r"(?:case\b.*?|default):(?: |$)", text)
    if found:
        yield from sites(mask, start + found.end(), is_whole)
        return
    found = DECLARED.match(text)
    if found:
        if is_whole and is_balanced(text):
            yield start + found.end(), end, "value"
        return
    if re.search(r"\b(?:func|var|init|subscript|get|set)\b", text):
        opening = text.rfind(" { ") if text.endswith(" }") else -1
        body = ends(text, [" { "])
        if body is not None and opening >= 0:
            yield from inline_body(mask, start + body + 3, end)
        return
    if not is_whole or not is_balanced(text) or text.endswith("{"):
        return
    found = ASSIGNED.match(text)
    if found:
        yield start + found.end(), end, "value"
        if not re.match(r"self\.(\w+) = \1$", text):
            yield start, end, "dropped"
        if re.search(r" [-+]= ", found[0]):
            yield start, end, "statement"
    elif CALLED.match(text):
        if not re.match(r"[A-Z]\w*\(", text):
            yield start, end, "dropped"
        yield start, end, "statement"
    elif re.match(r"[\w!(]", text):
        yield start, end, "statement"


def inline_body(mask, start, end):
    """The text in braces on the same line."""
    body = mask[start:end]
    if not body.rstrip().endswith("}"):
        return
    stop = start + body.rstrip().rfind("}")
    while start < stop and mask[start] == " ":
        start += 1
    while stop > start and mask[stop - 1] == " ":
        stop -= 1
    inner = mask[start:stop]
    if not inner or not is_balanced(inner) or ";" in inner:
        return
    for first, last, kind in sites(mask[:stop], start, True):
        # The value of a body of one expression.
        yield first, last, "value" if kind == "statement" and not CALLED.match(inner) else kind


def clause(mask, start, end):
    text = mask[start:end]
    found = re.match(r"(?:let|var) \w+(?:: [\w\[\].<>?]+)? = ", text)
    if found:
        yield start + found.end(), end, "value"
    elif not re.match(r"(?:let|var|case) ", text):
        yield start, end, "condition"


def changes(line, mask, start, end):
    """The possible mutations of an expression, as new texts."""
    part, text = mask[start:end], line[start:end]

    def with_part(first, last, new):
        return text[:first] + new + text[last:]

    for found in OPERATOR.finditer(part):
        around = part[:found.start()][-1:] + part[found.end():][:1]
        if "+" in found[0] and re.search(r'["\[\]]', around) or found[0] == "..." and not re.match(r"[\w(]", around[-1:]):
            continue  # it joins texts or lists, or is a range without an end
        yield with_part(found.start(), found.end(), SWAPS[found[0]])
    for found in NUMBER.finditer(part):
        literal = text[found.start():found.end()]
        yield with_part(found.start(), found.end(), f"({literal} + 1)")
        if int(literal.replace("_", ""), 0) > 0:
            yield with_part(found.start(), found.end(), f"({literal} - 1)")
    for found in WORD.finditer(part):
        yield with_part(found.start(), found.end(), WORDS[found[0]])
    for found in NOT.finditer(part):
        yield with_part(found.start(), found.end(), "")


def mutants(file, text):
    """All mutants of a file."""
    lines = text.split("\n")
    masks = masked(lines)
    for index, (line, mask) in enumerate(zip(lines, masks)):
        stripped = mask.strip()
        if not stripped or SKIPPED.match(stripped) and not stripped.startswith("} else if ") or HARMLESS.search(mask):
            continue
        before = next((other.strip() for other in reversed(masks[:index]) if other.strip()), "")
        after = next((other.strip() for other in masks[index + 1:] if other.strip()), "")
        is_case = re.match(r"(?:case\b.*|default):$", before) or before.endswith("{")
        if CONTINUED.search(before) and not is_case:
            continue
        is_whole = not CONTINUES.match(after) and not CONTINUED.search(stripped)
        first = len(mask) - len(mask.lstrip())
        seen = set()
        for start, end, kind in sites(mask, first, is_whole):
            site = line[start:end]
            if not site.strip():
                continue
            forms = []
            if kind == "dropped":
                forms.append(("", "dropped"))
            if kind == "condition":
                forms.append((f"!({site})", "expression"))
            if kind != "dropped":
                form = "statement" if kind == "statement" else "expression"
                forms += [(new, form) for new in changes(line, mask, start, end)]
            for new, form in forms:
                becomes = (line[:start] + new + line[end:]).strip()
                if becomes in seen:
                    continue
                seen.add(becomes)
                yield Mutant(file, index + 1, line.strip(), becomes, start, end, new, form)


def compiled_in(text, chosen):
    """The file's text with its mutants behind their switches; no two in one line."""
    lines = text.split("\n")
    for number, mutant in chosen:
        lines[mutant.number - 1] = mutant.line(lines[mutant.number - 1], f"{SWITCH}({number})")
    return "\n".join(lines)


SWITCH_FILE = """
import Glibc

private let mutantMade: Int = unsafe getenv("MESHLEDGER_BREAK").flatMap { unsafe Int(String(cString: $0)) } ?? 0

private nonisolated(unsafe) let mutantsReached: UnsafeMutableRawPointer? = {
    guard let path = unsafe getenv("MESHLEDGER_REACHED") else { return nil }
    let file = unsafe open(path, O_RDWR)
    let bytes = unsafe mmap(nil, REACHED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
    close(file)
    return unsafe bytes == MAP_FAILED ? nil : bytes
}()

@usableFromInline func SWITCH(_ number: Int) -> Bool {
    if let reached = unsafe mutantsReached { unsafe reached.storeBytes(of: 1, toByteOffset: number, as: UInt8.self) }
    return number == mutantMade
}
"""


def switch_file():
    """The source file that each changed target gets. What is asked is in a shared map of a file, where it also stays if the process is killed."""
    return SWITCH_FILE.lstrip().replace("REACHED_BYTES", str(REACHED_BYTES)).replace("SWITCH", SWITCH)


def failed(output, folder, chosen):
    """The numbers of the mutants that the compiler rejects; all of a file if it names no line of theirs."""
    bad = set()
    for path, line in set(re.findall(r"^(/[^:\n]*\.swift):(\d+):\d+: error:", output, re.MULTILINE)):
        if not path.startswith(folder + "/"):
            continue
        file, line = path[len(folder) + 1:], int(line)
        here = {number: mutant for number, mutant in chosen if mutant.file == file}
        named = {number for number, mutant in here.items() if mutant.number == line}
        near = {number for number, mutant in here.items() if abs(mutant.number - line) <= 3}
        bad |= named or near or set(here)
    return bad
