"""Whether worker processes begin with what their parent knows."""

from __future__ import annotations

import multiprocessing


def workers_inherit() -> bool:
    """Whether processes that are started now are forks of this one (and this one is not such a worker itself)."""
    method = multiprocessing.get_start_method(allow_none=True) or multiprocessing.get_all_start_methods()[0]
    return method == "fork" and multiprocessing.parent_process() is None
