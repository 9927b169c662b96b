"""Flow graphs over any kind of node: the order in which data flows, and dominators.

Blocks of the IR, of Low code and of decoded machine code are ordered by these two functions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def reverse_postorder(entry: Node, successors: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """The nodes that ``entry`` reaches, each before those that it leads to but for cycles."""
    order: list[Node] = []
    seen = {entry}
    stack: list[tuple[Node, Iterator[Node]]] = [(entry, iter(successors(entry)))]
    while stack:
        node, following = stack[-1]
        for target in following:
            if target not in seen:
                seen.add(target)
                stack.append((target, iter(successors(target))))
                break
        else:
            order.append(node)
            stack.pop()
    order.reverse()
    return order


def immediate_dominators(order: Sequence[Node], successors: Callable[[Node], Iterable[Node]]) -> list[int]:
    """For each node of a reverse postorder the position of its immediate dominator; the entry's is its own, 0.

    The iterative algorithm of Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
    """
    number = {node: position for position, node in enumerate(order)}
    predecessors: list[list[int]] = [[] for _ in order]
    for position, node in enumerate(order):
        for target in successors(node):
            predecessors[number[target]].append(position)
    dominators = [-1] * len(order)
    dominators[0] = 0
    changed = True
    while changed:
        changed = False
        for position in range(1, len(order)):
            nearest = -1
            for other in predecessors[position]:
                if dominators[other] < 0:
                    continue
                if nearest < 0:
                    nearest = other
                while nearest != other:
                    if nearest > other:
                        nearest = dominators[nearest]
                    else:
                        other = dominators[other]
            if dominators[position] != nearest:
                dominators[position] = nearest
                changed = True
    return dominators
