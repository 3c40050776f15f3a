"""What people decided about two surfaces, in the form that the clustering follows."""

from typing import NamedTuple


class Together(NamedTuple):
    """Must-link: the groups that hold the two surfaces are one group.

    Attributes:
        first: A surface; the united group goes on as the one that held it.
        second: The other surface.
    """

    first: str
    second: str


class Apart(NamedTuple):
    """Cannot-link: some surfaces may not be in the group of another, and leave it together.

    Attributes:
        anchor: The surface whose group goes on as what it was.
        leaving: The surfaces that leave.
        name: What the new group is known by.
    """

    anchor: str
    leaving: tuple[str, ...]
    name: str


Constraint = Together | Apart
