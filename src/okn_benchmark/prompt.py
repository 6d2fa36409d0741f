"""What the agent is asked: the summary, perhaps the graph, and one closing paragraph that every arm shares."""

from collections.abc import Sequence
from typing import Final

SUFFIX: Final = (
    "Answer with one CSV table and nothing else. Hand the whole table in by calling the tool submit_csv: its first "
    "line is a header row naming the columns, then one line for each result. When no result meets the conditions, "
    "submit the header alone; that states that the correct result is empty, whereas submitting nothing leaves the "
    "question unanswered. Give every IRI in full, with no prefix and nothing shortened."
)


def build_prompt(summary: str, graphs: Sequence[str] = ()) -> str:
    """The text of ``prompt.txt``. ``graphs`` are shortnames, given only where the condition names them."""
    parts = [summary.strip()]
    if len(graphs) == 1:
        parts.append(f"The knowledge graph to query is {graphs[0]}.")
    elif graphs:
        parts.append(f"The knowledge graphs to query are {', '.join(graphs[:-1])} and {graphs[-1]}.")
    parts.append(SUFFIX)
    return "\n\n".join(parts) + "\n"
