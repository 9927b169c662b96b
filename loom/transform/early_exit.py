"""``kernel.exit`` as structured control flow: what follows runs where the condition does not hold.

An exit inside of a branch first leaves the branch: the branch yields whether its workitem exits, and an exit on that
stands behind it. The exits themselves stay, marked ``guarded``: a barrier behind one is still only for those that are
left. Code generation has nothing more to do for them.
"""

from __future__ import annotations

from loom.ir import I1, Block, Builder, Module, Operation, Region, Value
from loom.transform.folding import constant_of
from loom.transform.passes import PassContext
from loom.transform.rejection import rejection

_INVERSE = {
    "eq": "ne", "ne": "eq", "slt": "sge", "sge": "slt", "sgt": "sle", "sle": "sgt", "ult": "uge", "uge": "ult",
    "ugt": "ule", "ule": "ugt",
}  # fmt: skip

GUARDED = "guarded"
"""Attribute of an exit that is a branch already."""


def early_exit(module: Module, context: PassContext) -> int:
    """Replace every ``kernel.exit`` of the kernels; return how many.

    Raises:
        LoomError: ``EXIT/001`` for an exit in a loop or in a branch that yields values.
    """
    count = 0
    for kernel in module.operations:
        if kernel.name != "kernel.def":
            continue
        leaving: set[Operation] = set()
        while True:
            exits = [op for op in kernel.region("body").walk() if op.name == "kernel.exit" and not is_guarded(op)]
            if not exits:
                break
            # The deepest first, of these the last: what follows it holds no other.
            _replace(max(reversed(exits), key=_depth), leaving)
            count += 1
    return count


def is_guarded(op: Operation) -> bool:
    """Whether what follows a ``kernel.exit`` is under its condition already."""
    extra = op.attributes.get("attributes")
    return isinstance(extra, dict) and bool(extra.get(GUARDED))


def _depth(op: Operation) -> int:
    depth = 0
    outer = op.parent_op
    while outer is not None:
        depth += 1
        outer = outer.parent_op
    return depth


def _replace(op: Operation, leaving: set[Operation]) -> None:
    """Resolve one exit; ``leaving`` holds the branches that yield whether their workitem exits, and nothing else."""
    condition = op.operand("condition")
    block = op.parent
    holder = op.parent_op
    assert block is not None and holder is not None
    if holder.name == "kernel.def":
        _guard_rest(op, block, condition, None)
        op.attributes["attributes"] = {GUARDED: True}
        return
    if holder.name != "scf.if" or (holder.results and holder not in leaving):
        what = "a branch that yields values" if holder.name == "scf.if" else holder.name
        raise rejection(
            op,
            f"{what} cannot be left in the middle",
            "EXIT/001",
            "carry the condition out (scf.yield), and write kernel.exit behind it",
            notes=(f"it stands in the {holder.name} at {holder.location}",),
        )
    last = block.last
    assert last is not None
    already = last.operands[0] if last.operands and constant_of(last.operands[0]) is not False else None
    left = _guard_rest(op, block, condition, already)
    last.set_operands([left if left is not None else condition])
    op.attributes["attributes"] = {GUARDED: True}
    if holder not in leaving:
        leaving.add(_yielding(holder, block))


def _yielding(holder: Operation, block: Block) -> Operation:
    """The branch with a result that says whether its workitem exits, and an exit on it behind."""
    arms = []
    for region in holder.regions:
        arm = region.blocks[0] if region.blocks else Block()
        last = arm.last
        if last is None:
            inside = Builder.at_end(arm, holder.location)
            inside.create("scf.yield", [inside.constant(False, I1)])
        elif arm is not block:
            last.set_operands([Builder.before(last).constant(False, I1)])
        arms.append(arm)
        region.blocks.clear()
    while len(arms) < 2:
        arms.append(Block())
        inside = Builder.at_end(arms[-1], holder.location)
        inside.create("scf.yield", [inside.constant(False, I1)])
    builder = Builder.before(holder)
    made = builder.create("scf.if", [holder.operand("condition")], [I1], {}, [Region([arm]) for arm in arms])
    builder.create("kernel.exit", [made.results[0]])
    holder.erase()
    return made


def _guard_rest(op: Operation, block: Block, condition: Value, already: Value | None) -> Value | None:
    """Put what follows ``op`` in its block, the terminator excepted, under the condition's negation.

    ``already`` is what the rest says about exits of its own; the value returned adds this one.
    """
    rest = []
    following = op.next
    while following is not None and following is not block.last:
        rest.append(following)
        following = following.next
    if not rest:
        return None
    inside = Block()
    for moved in rest:
        moved.remove()
        inside.append(moved)
    builder = Builder.after(op)
    stay = _negated(builder, condition)
    end = Builder.at_end(inside, op.location)
    if already is None:
        end.create("scf.yield", [])
        builder.create("scf.if", [stay], [], {}, [Region([inside]), Region()])
        return None
    end.create("scf.yield", [already])
    outside = Block()
    other = Builder.at_end(outside, op.location)
    other.create("scf.yield", [other.constant(True, I1)])
    return builder.create("scf.if", [stay], [I1], {}, [Region([inside]), Region([outside])]).results[0]


def _negated(builder: Builder, condition: Value) -> Value:
    """The negation; of a comparison, the opposite comparison, from which facts follow."""
    made = condition.defining_op
    if made is not None and made.name in ("index.cmp", "scalar.cmpi"):
        inverse = _INVERSE[str(made.attributes["predicate"])]
        return builder.create(made.name, list(made.operands), [I1], {"predicate": inverse}).results[0]
    return builder.create("scalar.xori", [condition, builder.constant(True, I1)], [I1]).results[0]
