#!/usr/bin/env python3
"""Checks how every ELF file of ours is loaded: where the loader looks for its libraries, and which of its memory can be written or executed.

    tools/lint/elf.py TREE...      check every library, program and object in the trees (a build folder or an installation); one line per
                                   finding, exit 1 if there is any, 2 if a tree has no ELF file at all
    tools/lint/elf.py --self-test  plant one violation of each rule and see that it is found

A rule is a function of a parsed file, its path and its tree that yields messages. A new rule needs a plant in PLANTS, or the self-test fails.
Symbolic links that leave the tree, CMake's own test files (CMakeFiles/) and the fuzzers' inputs (written_seeds/) are skipped. Used by ./dev lint, by ctest (`elf`)
and by tests/install/install_test.py.
"""
import os
import struct
import sys

# Libraries of others that an installation carries as they are: what their makers linked with is not up to us, what they could do to our process is.
# Modules of ours that need libLLVM and libMLIR, which Debian keeps in a folder that the loader does not look into by itself.
NEED_LLVM = {"libstrew_llvm.so", "libstrew_import_mlir.so", "libstrew_compare_load.so"}
CARRIED = {"libHalide.so", "libautoschedule_adams2019.so", "libautoschedule_li2018.so", "libautoschedule_mullapudi2016.so"}

ET_REL, ET_DYN = 1, 3
PT_LOAD, PT_DYNAMIC, PT_INTERP, PT_GNU_STACK, PT_GNU_RELRO = 1, 2, 3, 0x6474E551, 0x6474E552
PF_X, PF_W = 1, 2
DT_PLTGOT, DT_STRTAB, DT_RPATH, DT_TEXTREL, DT_BIND_NOW, DT_RUNPATH, DT_FLAGS, DT_FLAGS_1 = 3, 5, 15, 22, 24, 29, 30, 0x6FFFFFFB
DF_TEXTREL, DF_BIND_NOW, DF_1_NOW, DF_1_PIE = 4, 8, 1, 0x08000000
SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR = 1, 2, 4
PAGE = 4096  # the smallest that there is


class Elf:
    """The parts of a 64-bit little-endian ELF file that the rules need; ValueError where it is none or ends too early."""

    def __init__(self, data):
        self.data = data
        if data[4:6] != b"\x02\x01":
            raise ValueError("is not a 64-bit little-endian ELF file")
        self.type, segments_at, sections_at = self.read("<H", 16)[0], *self.read("<QQ", 32)
        segment_size, segment_count, section_size, section_count, names = self.read("<HHHHH", 54)
        self.segments = [self.read("<IIQQQQQ", segments_at + i * segment_size) for i in range(segment_count)]
        self.dynamic = {}
        for kind, _, offset, _, _, size, _ in self.segments:
            for at in range(offset, offset + size, 16) if kind == PT_DYNAMIC else ():
                tag, value = self.read("<QQ", at)
                if tag == 0:
                    break
                self.dynamic.setdefault(tag, value)
        rows = [self.read("<IIQQQQ", sections_at + i * section_size) for i in range(section_count)]
        self.sections = [(self.text(rows[names][4] + row[0]), row[2]) for row in rows] if names < len(rows) else []

    def read(self, form, at):
        try:
            return struct.unpack_from(form, self.data, at)
        except struct.error as error:
            raise ValueError("ends before its tables do") from error

    def text(self, at):
        return self.data[at:self.data.index(b"\0", at)].decode()

    def of_kind(self, kind):
        return [segment for segment in self.segments if segment[0] == kind]

    def string(self, tag):
        """The string that a dynamic entry names, or None. The string table's address leads to its place in the file by its segment."""
        if tag not in self.dynamic:
            return None
        table = self.dynamic.get(DT_STRTAB, 0)
        for _, _, offset, address, _, size, _ in self.of_kind(PT_LOAD):
            if address <= table < address + size:
                return self.text(table - address + offset + self.dynamic[tag])
        raise ValueError("has a string table outside its segments")


def linked(elf):
    return elf.type != ET_REL


def is_llvms(folder):
    """Is it an absolute path of a folder with libLLVM or libMLIR, which only the owner of the system writes, as are all above it?"""
    if not os.path.isabs(folder) or not os.path.isdir(folder):
        return False
    above = [folder]
    while above[-1] != "/":
        above.append(os.path.dirname(above[-1]))
    owned = all(os.stat(each).st_uid == 0 and not os.stat(each).st_mode & 0o022 for each in above)
    return owned and any(name.startswith(("libLLVM", "libMLIR")) for name in os.listdir(folder))


def rule_runpath(elf, path, tree):
    """The loader looks only in folders of the tree, named relative to the file. It reads an empty entry as the current folder."""
    if DT_RPATH in elf.dynamic:
        yield f"has RPATH '{elf.string(DT_RPATH)}', which overrides LD_LIBRARY_PATH; expected RUNPATH"
    runpath = elf.string(DT_RUNPATH)
    for entry in dict.fromkeys(runpath.split(":")) if runpath is not None else ():
        inside = os.path.normpath(entry.replace("${ORIGIN}", "$ORIGIN").replace("$ORIGIN", os.path.dirname(os.path.realpath(path)), 1))
        if not entry:
            yield f"has an empty entry in RUNPATH '{runpath}': the current folder"
        elif os.path.basename(path) in NEED_LLVM and is_llvms(entry):
            continue
        elif not entry.startswith(("$ORIGIN", "${ORIGIN}")):
            yield f"has RUNPATH entry '{entry}', expected one that starts with $ORIGIN"
        elif not (inside + "/").startswith(os.path.realpath(tree) + "/"):
            yield f"has RUNPATH entry '{entry}', which leads to {inside}, out of {tree}"


def rule_position_independent(elf, path, tree):
    if linked(elf) and elf.type != ET_DYN or elf.of_kind(PT_INTERP) and not elf.dynamic.get(DT_FLAGS_1, 0) & DF_1_PIE:
        yield "is a program at a fixed address, expected a position-independent one (-pie)"


def rule_stack(elf, path, tree):
    if linked(elf):
        stack = elf.of_kind(PT_GNU_STACK)
        if not stack:
            yield "says nothing about its stack (no GNU_STACK), so the kernel makes it executable"
        elif stack[0][1] & PF_X:
            yield "asks for an executable stack (GNU_STACK has flag E)"
    else:
        flags = dict(elf.sections).get(".note.GNU-stack")
        if flags is None:
            yield "has no section .note.GNU-stack, so a program that links it gets an executable stack"
        elif flags & SHF_EXECINSTR:
            yield "asks for an executable stack (.note.GNU-stack has flag X)"


def rule_writable_code(elf, path, tree):
    if any(segment[1] & PF_W and segment[1] & PF_X for segment in elf.of_kind(PT_LOAD)):
        yield "has a segment that is writable and executable"
    for name, flags in elf.sections:
        if flags & SHF_ALLOC and flags & SHF_WRITE and flags & SHF_EXECINSTR:
            yield f"has section {name}, which is writable and executable"


def rule_text_relocations(elf, path, tree):
    if DT_TEXTREL in elf.dynamic or elf.dynamic.get(DT_FLAGS, 0) & DF_TEXTREL:
        yield "has text relocations: the loader would write into its code"


def rule_full_relro(elf, path, tree):
    """Addresses are bound when the file is loaded, and the table that holds them is read-only from then on. The loader protects the whole page in which the read-only data
    begins; mold lets it begin at thread-local data, which may lie a few bytes after the table."""
    if not linked(elf) or not elf.dynamic or os.path.basename(path) in CARRIED:
        return
    now = DT_BIND_NOW in elf.dynamic or elf.dynamic.get(DT_FLAGS, 0) & DF_BIND_NOW or elf.dynamic.get(DT_FLAGS_1, 0) & DF_1_NOW
    if not now:
        yield "binds functions at their first call, expected at load (-z now)"
    relro = elf.of_kind(PT_GNU_RELRO)
    table = elf.dynamic.get(DT_PLTGOT)
    if not relro:
        yield "has no read-only relocated data (-z relro)"
    elif now and table is not None and not any(address - address % PAGE <= table < address + size for _, _, _, address, _, _, size in relro):
        yield "keeps its table of function addresses (PLTGOT) writable"


RULES = [value for key, value in sorted(globals().items()) if key.startswith("rule_")]


def check(data, path, tree, rules=None):
    try:
        elf = Elf(data)
        return [f"{path} {message}" for rule in rules or RULES for message in rule(elf, path, tree)]
    except ValueError as error:
        return [f"{path} {error}"]


def elf_files(tree):
    for folder, folders, files in os.walk(tree):
        folders[:] = sorted(set(folders) - {"CMakeFiles", "written_seeds"})
        for name in sorted(files):
            path = os.path.join(folder, name)
            if not (os.path.realpath(path) + "/").startswith(os.path.realpath(tree) + "/") or not os.path.isfile(path):
                continue
            with open(path, "rb") as file:
                start = file.read(4)
                if start == b"\x7fELF":
                    yield path, start + file.read()


def make(kind=ET_DYN, interp=False, runpath=None, rpath=None, stack=6, load=5, relro=True, table=0x700, flags=DF_BIND_NOW,
         flags_1=DF_1_NOW | DF_1_PIE, textrel=False, sections=()):
    """A file of headers alone: what the loader reads of one that was linked with these properties."""
    strings = b"\0" + (runpath or rpath or "").encode() + b"\0"
    entries = [(DT_STRTAB, 0x800), (DT_PLTGOT, table), (DT_FLAGS, flags), (DT_FLAGS_1, flags_1)]
    entries += [(tag, 1) for tag, given in ((DT_RUNPATH, runpath), (DT_RPATH, rpath)) if given is not None]
    entries += [(DT_TEXTREL, 0)] if textrel else []
    dynamic = b"".join(struct.pack("<QQ", *entry) for entry in entries + [(0, 0)])
    segments = [(PT_LOAD, load, 0, 0, 0, 0x1000, 0x1000), (PT_DYNAMIC, 6, 0x600, 0x600, 0x600, len(dynamic), len(dynamic))]
    segments += [(PT_GNU_STACK, stack, 0, 0, 0, 0, 0)] if stack is not None else []
    segments += [(PT_GNU_RELRO, 4, 0x600, 0x600, 0x600, 0x180, 0x180)] if relro else []
    segments += [(PT_INTERP, 4, 0, 0, 0, 0, 0)] if interp else []
    segments = [] if kind == ET_REL else segments
    names = b"\0" + b"".join(name.encode() + b"\0" for name, _ in sections)
    rows, at = [(0, 3, 0, 0, 0xA00, len(names))], 1
    for name, section_flags in sections:
        rows.append((at, 1, section_flags, 0, 0, 0))
        at += len(name) + 1
    data = bytearray(0x1000)
    data[:16] = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    struct.pack_into("<HHIQQQIHHHHHH", data, 16, kind, 62, 1, 0, 64, 0x400, 0, 64, 56, len(segments), 64, len(rows), 0)
    for i, segment in enumerate(segments):
        struct.pack_into("<IIQQQQQQ", data, 64 + 56 * i, *segment, 16)
    for i, row in enumerate(rows):
        struct.pack_into("<IIQQQQIIQQ", data, 0x400 + 64 * i, *row, 0, 0, 1, 0)
    data[0x600:0x600 + len(dynamic)] = dynamic
    data[0x800:0x800 + len(strings)] = strings
    data[0xA00:0xA00 + len(names)] = names
    return bytes(data)


NOTE, CODE = (".note.GNU-stack", 0), (".text", SHF_ALLOC | SHF_EXECINSTR)
PLANTS = [  # (rule that must find it, file)
    ("runpath", make(runpath="$ORIGIN/../lib:")),
    ("runpath", make(runpath=":::")),
    ("runpath", make(runpath="")),
    ("runpath", make(runpath="lib")),
    ("runpath", make(runpath="/usr/lib")),
    ("runpath", make(runpath="$ORIGIN/../../lib")),
    ("runpath", make(runpath="$ORIGIN/../../tree-2/lib")),
    ("runpath", make(rpath="$ORIGIN")),
    ("position_independent", make(kind=2, interp=True)),
    ("position_independent", make(interp=True, flags_1=DF_1_NOW)),
    ("stack", make(stack=7)),
    ("stack", make(stack=None)),
    ("stack", make(kind=ET_REL, sections=[CODE])),
    ("stack", make(kind=ET_REL, sections=[CODE, (".note.GNU-stack", SHF_EXECINSTR)])),
    ("writable_code", make(load=7)),
    ("writable_code", make(kind=ET_REL, sections=[(".data", SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR), NOTE])),
    ("text_relocations", make(textrel=True)),
    ("text_relocations", make(flags=DF_BIND_NOW | DF_TEXTREL)),
    ("full_relro", make(flags=0, flags_1=DF_1_PIE)),
    ("full_relro", make(relro=False)),
    ("full_relro", make(table=0x7F0)),
    (None, make()[:0x500]),
    (None, b"\x7fELF\x01\x01" + make()[6:]),
]
CLEAN = [  # and these must pass every rule
    make(), make(interp=True, runpath="$ORIGIN/../lib"), make(runpath="${ORIGIN}:$ORIGIN/inner"), make(flags=0, flags_1=DF_1_NOW),
    make(table=0x5F8),
    make(kind=ET_REL, sections=[CODE, (".data", SHF_ALLOC | SHF_WRITE), NOTE]),
]


def self_test():
    rules = {rule.__name__[5:]: rule for rule in RULES}
    path, tree = "/tree/bin/file", "/tree"
    wrong = [f"{name}: plant {i} was not found" for i, (name, data) in enumerate(PLANTS)
             if not check(data, path, tree, [rules[name]] if name else RULES)]
    wrong += [f"a module that needs LLVM may look in {folder}" for folder in ("/tmp", "/usr", "lib")
              if not check(make(runpath=folder), os.path.join(os.path.dirname(path), "libstrew_llvm.so"), tree, [rules["runpath"]])]
    wrong += [f"{name}: no plant for this rule" for name in rules if name not in {name for name, _ in PLANTS}]
    wrong += [f"clean file {i}: {finding}" for i, data in enumerate(CLEAN) for finding in check(data, path, tree)]
    for line in wrong:
        print("elf self-test:", line)
    return not wrong


def main(arguments):
    if arguments == ["--self-test"]:
        return 0 if self_test() else 1
    if not arguments or any(argument.startswith("-") for argument in arguments):
        print(__doc__)
        return 2
    findings = []
    for tree in arguments:
        files = [check(data, path, tree) for path, data in elf_files(tree)]
        if not files:
            print(f"{tree}: no ELF file, expected a build folder or an installation")
            return 2
        findings += [finding for file in files for finding in file]
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
