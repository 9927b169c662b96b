"""Dominators of the blocks of a region."""

from __future__ import annotations

from loom.ir.core import Block, Region


def _postorder(entry: Block) -> list[Block]:
    order: list[Block] = []
    seen = {entry}
    stack: list[tuple[Block, int]] = [(entry, 0)]
    while stack:
        block, next_index = stack.pop()
        successors = block.successors
        if next_index < len(successors):
            stack.append((block, next_index + 1))
            target = successors[next_index]
            if target not in seen and target.parent is block.parent:
                seen.add(target)
                stack.append((target, 0))
        else:
            order.append(block)
    return order


def immediate_dominators(region: Region) -> dict[Block, Block]:
    """Return each reachable block's immediate dominator; the entry's is itself.

    The iterative algorithm of Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
    """
    entry = region.blocks[0]
    order = _postorder(entry)
    number = {b: i for i, b in enumerate(order)}
    predecessors: dict[Block, list[Block]] = {b: [] for b in order}
    for b in order:
        for target in b.successors:
            if target in predecessors:
                predecessors[target].append(b)
    dominators: dict[Block, Block] = {entry: entry}

    def intersect(a: Block, b: Block) -> Block:
        while a is not b:
            while number[a] < number[b]:
                a = dominators[a]
            while number[b] < number[a]:
                b = dominators[b]
        return a

    changed = True
    while changed:
        changed = False
        for b in reversed(order):
            if b is entry:
                continue
            known = [p for p in predecessors[b] if p in dominators]
            new = known[0]
            for p in known[1:]:
                new = intersect(p, new)
            if dominators.get(b) is not new:
                dominators[b] = new
                changed = True
    return dominators


def dominator_tree(region: Region) -> tuple[dict[Block, list[Block]], list[Block]]:
    """Return each block's children in the dominator tree, and the blocks that the entry cannot reach."""
    dominators = immediate_dominators(region)
    tree: dict[Block, list[Block]] = {}
    for block in region.blocks:
        parent = dominators.get(block)
        if parent is not None and parent is not block:
            tree.setdefault(parent, []).append(block)
    return tree, [b for b in region.blocks if b not in dominators]


def dominates(a: Block, b: Block, dominators: dict[Block, Block]) -> bool:
    """Whether ``a`` dominates ``b`` (every block dominates itself), given :func:`immediate_dominators`."""
    while True:
        if a is b:
            return True
        above = dominators.get(b)
        if above is None or above is b:
            return False
        b = above
