"""`Measurements` + `Policy` → `Verdict`: one file per question.

The verdict never looks at causes, except where the policy names them (`--fail-on`): a wrong
explanation cannot turn a failing run green.
"""
