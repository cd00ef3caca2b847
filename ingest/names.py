"""Placeholder names, in parentheses, for rows of rankings without a name. The SQL writes them.

A test ensures that the SQL writes no other name in parentheses.
"""

UNKNOWN = "(unknown)"
OTHER = "(other)"  # frames that are too small for a flame graph
NO_OP = "(no op)"  # device activity without a launch record, or launched outside of operators
NO_LAUNCH = "(no launch)"  # device activity without a launch record
NO_STACK = "(no stack)"
NO_MODULE = "(no module)"
NO_OPERATOR = "(no operator)"
NO_CATEGORY = "(no category)"
BEFORE_TRACE = "(before the trace)"  # memory allocated before the recording, and freed during it
NOT_FREED = "(not freed)"  # memory allocated before the recording, and in use until its end
NOT_FOLLOWED = "(not followed)"  # memory without recorded addresses
