"""Find out what the host needs to know about the plan of a kernel."""

from __future__ import annotations

from collections.abc import Callable

from graphla.backends.cuda import program as machine
from graphla.program.cuda_layout import FormKey, HostInfo, form_keys, words_of
from graphla.program.patterns import reads_values
from graphla.program.plan_steps import Multiply, Plan, Save
from semirings.dtypes import BOOL, DataType


def find_host_info(of: Plan) -> HostInfo:
    """Return what the host needs to know about a plan."""
    steps = [step for block in of.blocks for step in block.steps]
    products = [step for step in steps if isinstance(step, Multiply)]
    return HostInfo(
        forms=list(dict.fromkeys(key for step in products for key in form_keys(step.product))),
        reads={
            key
            for step in products
            if reads_values(step.product)[0]
            for key in form_keys(step.product)
        },
        peeks=_find_pulls(products, lambda step: step.product.semiring.monoid.is_any),
        hubs=_find_pulls(products, _takes_hubs),
        layout=_layout(of),
        reductions=tuple(of.reductions),
    )


def _layout(of: Plan) -> machine.Layout:
    words, program = words_of(of), of.program
    saves = sorted(
        (step.number, program.stacks.index(step.stack))
        for block in of.blocks
        for step in block.steps
        if isinstance(step, Save)
    )
    return machine.Layout(
        words.size,
        words.dims,
        words.arrays,
        tuple(
            machine.SlotPlace(at, slot.dim.index, slot.dtype.np_type, slot in of.queued)
            for slot, at in words.slots.items()
        ),
        tuple(words.inputs.values()),
        tuple(
            machine.StackPlace(at, stack.dim.index, stack.dtype.np_type)
            for stack, at in words.stacks.items()
        ),
        tuple(stack for _, stack in saves),
        of.folds,
    )


def _find_pulls(
    products: list[Multiply], test: Callable[[Multiply], bool]
) -> dict[FormKey, DataType]:
    """Map pull forms to dtypes: a form is included if all products that pull with it pass `test`
    and multiply vectors of one dtype."""
    found: dict[FormKey, list[Multiply]] = {}
    for step in products:
        found.setdefault(form_keys(step.product)[0], []).append(step)
    return {
        key: steps[0].product.u.dtype
        for key, steps in found.items()
        if all(map(test, steps)) and len({step.product.u.dtype for step in steps}) == 1
    }


def _takes_hubs(step: Multiply) -> bool:
    """Return whether a pull for this step adds up all terms and reads the values of a full
    vector."""
    monoid = step.product.semiring.monoid
    is_search = monoid.is_any or (monoid.type is BOOL and monoid.terminal is not None)
    reads_u = reads_values(step.product)[1] and not step.terms.reads_index
    return step.product.u in step.full and reads_u and not (is_search or step.terms.first_is_result)
