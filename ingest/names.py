"""Names that rankings give to unknown things. The SQL writes them; Python reads them from here.

A test finds no other name in brackets in the SQL.
"""

UNKNOWN = "(unknown)"
OTHER = "(other)"  # what a flame graph has no room for
NO_OP = "(no op)"  # device activity without a launch record, or launched outside of operators
NO_LAUNCH = "(no launch)"  # device activity without a launch record
NO_STACK = "(no stack)"
NO_MODULE = "(no module)"
NO_OPERATOR = "(no operator)"
NO_CATEGORY = "(no category)"
BEFORE_TRACE = "(before the trace)"  # memory that was there when the recording began
NOT_FOLLOWED = "(not followed)"  # memory of which no addresses were recorded
