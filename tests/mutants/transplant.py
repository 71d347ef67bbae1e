"""Puts a mutant into the running process: whoever has imported a function runs the mutated one."""

from __future__ import annotations

import gc
import sys
from dataclasses import fields
from functools import cached_property
from types import FunctionType, ModuleType
from typing import Any

from overlapcheck.thresholds import Thresholds
from tests.mutants.mutations import Mutant
from tests.mutants.numbers import NumberMutant


def put_in(mutant: Mutant | NumberMutant) -> None:
    """Change this process.

    Raises:
        Exception: whatever the mutated definition raises when it is run.
    """
    if isinstance(mutant, NumberMutant):
        _move_threshold(mutant)
        return
    name = "overlapcheck." + mutant.path.removesuffix(".py").replace("/", ".")
    name = name.removesuffix(".__init__")
    live = sys.modules[name]
    scratch = ModuleType(name)
    scratch.__dict__.update(live.__dict__)
    exec(compile(mutant.source, live.__file__ or name, "exec"), scratch.__dict__)
    if mutant.where:
        old, new = _function(live, mutant.where), _function(scratch, mutant.where)
        old.__code__ = new.__code__
        old.__defaults__ = new.__defaults__
        old.__kwdefaults__ = new.__kwdefaults__
    else:
        _replace_constants(live, scratch)


def _function(module: ModuleType, where: str) -> FunctionType:
    found: Any = module
    for name in where.split("."):
        found = vars(found)[name]
    if isinstance(found, property):
        found = found.fget
    elif isinstance(found, cached_property):
        found = found.func
    elif isinstance(found, (staticmethod, classmethod)):
        found = found.__func__
    while not isinstance(found, FunctionType):
        found = found.__wrapped__  # cache, contextmanager
    return found


def _replace_constants(live: ModuleType, scratch: ModuleType) -> None:
    """In the module, and where other modules have imported them by name."""
    for name, new in vars(scratch).items():
        old = vars(live).get(name)
        if isinstance(new, (int, float)) and isinstance(old, (int, float)) and new != old:
            for module in list(sys.modules.values()):
                if module.__name__.startswith("overlapcheck") and vars(module).get(name) is old:
                    setattr(module, name, new)


def _move_threshold(mutant: NumberMutant) -> None:
    """For the values that exist, and for those that are made."""
    if mutant.fixed:
        setattr(Thresholds, mutant.name, mutant.value)
        name = mutant.name.upper()  # the one that renderers may read goes by a name of its own
        for module in list(sys.modules.values()):
            if module.__name__.startswith("overlapcheck") and name in vars(module):
                setattr(module, name, mutant.value)
        return
    names = [one.name for one in fields(Thresholds) if one.init]
    defaults = list(Thresholds.__init__.__defaults__ or ())
    defaults[names.index(mutant.name)] = mutant.value
    Thresholds.__init__.__defaults__ = tuple(defaults)
    gc.unfreeze()  # those that were frozen for the forks are no objects to `get_objects`
    for one in gc.get_objects():
        if isinstance(one, Thresholds) and getattr(one, mutant.name) == mutant.usual:
            object.__setattr__(one, mutant.name, mutant.value)
