"""Dominators of the blocks of a region."""

from __future__ import annotations

from loom.ir import graph
from loom.ir.core import Block, Region


def immediate_dominators(region: Region) -> dict[Block, Block]:
    """Return each reachable block's immediate dominator; the entry's is itself."""

    def successors(block: Block) -> list[Block]:
        return [target for target in block.successors if target.parent is block.parent]

    order = graph.reverse_postorder(region.blocks[0], successors)
    return {
        order[position]: order[above] for position, above in enumerate(graph.immediate_dominators(order, successors))
    }


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


def remove_unreachable(region: Region) -> None:
    """Remove the blocks that the entry cannot reach; what they pass to others goes with them."""
    reached = set(graph.reverse_postorder(region.blocks[0], lambda block: block.successors))
    for block in [b for b in region.blocks if b not in reached]:
        for op in reversed(block.operations):
            op.drop_uses()
            op.remove()
        region.blocks.remove(block)
