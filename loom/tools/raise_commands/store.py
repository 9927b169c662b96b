"""``loom-raise store``: list, show, verify, prune and move stored evidence."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from loom.diagnostics import Diagnostic, ExitCode, LoomError, error
from loom.tools.common import print_json, report, write_output

if TYPE_CHECKING:
    from loom.store.actions import Store

HELP = """Look after the store of evidence: content-addressed blobs, records, and the action cache.

  ls                 list records
  show ID            a record, or a blob's bytes
  verify             read everything and compare hashes; exit code 1 where something is damaged
  gc                 remove what no record refers to
  export FILE [ID…]  records with their blobs as one file
  import FILE        take such a file in"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("--store", default="results/store", metavar="DIR", help="the store (default: results/store)")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    ls = verbs.add_parser("ls", help="list records")
    ls.add_argument("--workload", metavar="NAME", help="only this workload's")
    ls.add_argument("--stage", metavar="NAME", help="only stages that start with this")
    ls.add_argument("--json", action="store_true", help="one JSON document")
    show = verbs.add_parser("show", help="a record, or a blob's bytes")
    show.add_argument("id", help="a record's id, a prefix of it, or a blob's hash")
    show.add_argument("--output", metavar="FILE", help="where it goes (default: stdout)")
    verify = verbs.add_parser("verify", help="read everything and compare hashes")
    verify.add_argument("--remove", action="store_true", help="remove what is damaged, so that it is made again")
    verify.add_argument("--json", action="store_true", help="one JSON document")
    gc = verbs.add_parser("gc", help="remove what no record refers to")
    gc.add_argument("--keep", action="append", default=[], metavar="ID", help="with --records: keep this record")
    gc.add_argument("--records", action="store_true", help="remove records too, all but those kept")
    gc.add_argument("--dry-run", action="store_true", help="only say what would go")
    export = verbs.add_parser("export", help="records with their blobs as one file")
    export.add_argument("file", help="the file to write")
    export.add_argument("ids", nargs="*", metavar="ID", help="records (default: all)")
    take = verbs.add_parser("import", help="take an exported file in")
    take.add_argument("file", help="the file to read")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from loom.store.actions import Store

    root = Path(args.store)
    if args.verb != "import" and not root.is_dir():
        raise error(
            f"no store at '{root}'", "STORE/010", hint="--store=DIR names one; 'make migrate' makes results/store"
        )
    return int(_VERBS[args.verb](Store(root), args))


def _ls(store: Store, args: argparse.Namespace) -> int:
    rows = []
    damaged: list[Diagnostic] = []
    for name in store.records:
        try:
            record = store.records.get(name)
        except LoomError as failure:
            damaged.extend(failure.diagnostics)
            continue
        facts = record.deterministic
        if args.workload not in (None, facts["workload"]) or not facts["stage"].startswith(args.stage or ""):
            continue
        rows.append(
            {
                "id": name,
                "stage": facts["stage"],
                "workload": facts["workload"],
                "form": facts.get("form"),
                "evidence_class": facts["evidence_class"],
                "exit_code": facts["exit_code"],
                "started": record.observed.get("started"),
                "seconds": record.observed.get("seconds"),
            }
        )
    report(damaged)
    rows.sort(key=lambda row: (row["workload"], row["started"] or "", row["id"]))
    if args.json:
        print_json({"records": rows})
        return 0
    for row in rows:
        place = f"{row['workload']}{':' + row['form'] if row['form'] else ''}"
        print(f"{row['id'][:12]}  {row['started'] or '-':20}  {place:32} {row['stage']:28} exit {row['exit_code']}")
    return 0


def _show(store: Store, args: argparse.Namespace) -> int:
    full = len(args.id) == 64
    if full and args.id not in store.records and args.id in store.blobs:
        write_output(args.output, store.blobs.get(args.id))
        return 0
    print_json(store.records.get(args.id).document(), args.output)
    return 0


def _verify(store: Store, args: argparse.Namespace) -> int:
    from loom.store.maintenance import verify

    findings = verify(store, args.remove)
    groups = {
        "damaged blobs": findings.blobs,
        "damaged records": findings.records,
        "damaged actions": findings.actions,
        "missing blobs": findings.missing,
    }
    if args.json:
        print_json({"checked": findings.checked, **{key.replace(" ", "_"): names for key, names in groups.items()}})
    else:
        for key, names in groups.items():
            for name in names:
                print(f"{key[:-1]}: {name}")
        print(f"{findings.checked} items checked, {'all sound' if findings.sound else 'damage found'}")
    return int(ExitCode.SUCCESS if findings.sound else ExitCode.EVIDENCE_FAILED)


def _gc(store: Store, args: argparse.Namespace) -> int:
    from loom.store.maintenance import collect_garbage

    keep = [store.records.get(name).id for name in args.keep]
    collected = collect_garbage(store, keep, args.records, args.dry_run)
    verb = "would remove" if args.dry_run else "removed"
    print(
        f"{verb} {collected.records} records, {collected.blobs} blobs ({collected.bytes} bytes),"
        f" {collected.temporary} temporary files"
    )
    return 0


def _export(store: Store, args: argparse.Namespace) -> int:
    from loom.store.maintenance import export_archive

    count = export_archive(store, args.ids or list(store.records), Path(args.file))
    print(f"exported {count} records to {args.file}", file=sys.stderr)
    return 0


def _import(store: Store, args: argparse.Namespace) -> int:
    from loom.store.maintenance import import_archive

    count = import_archive(store, Path(args.file))
    print(f"imported {count} records into {args.store}", file=sys.stderr)
    return 0


_VERBS = {"ls": _ls, "show": _show, "verify": _verify, "gc": _gc, "export": _export, "import": _import}
