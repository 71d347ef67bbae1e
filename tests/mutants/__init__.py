"""Mutation testing of what decides: `make mutants`, see scope.py for what is and is not mutated.

The operators are mutmut's (`mutmut.mutation.mutators`), the way of running them is not: mutmut 3
leaves decorated functions alone, and with them every property and cached property, which is where
terms of rules live here; it has no operator that drops a term of a condition; its only change of a
number is one more, which says nothing of a threshold in nanoseconds; and as it and cosmic-ray call
pytest anew for each mutant, they read each drawn trace again, which costs more than judging it.
Here all tests are collected and run once, with every trace read once. Then each mutant is put into
a fork of that process, where the tests that execute its lines run, fastest first, until one fails.
"""
