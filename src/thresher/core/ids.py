"""Names for the integers that travel through the system, so that a gate is never passed where a lane is
meant.
"""

from typing import NewType

TaskId = NewType("TaskId", int)
WorkerId = NewType("WorkerId", int)
LaneId = NewType("LaneId", int)
GateId = NewType("GateId", int)
