"""The graphs of the federation by shortname, and how a shortname becomes the IRI of a named graph."""

from typing import Final

GRAPH_PREFIX: Final = "https://purl.org/okn/frink/kg/"

SHORTNAMES: Final[tuple[str, ...]] = tuple(
    (  # noqa: SIM905 - forty-three names read best as text
        "bio101 biobricks-aopwiki biobricks-ice biobricks-mesh biobricks-pubchem-annotations biobricks-tox21 "
        "biobricks-toxcast biohealth biomarkerkg climatemodelskg digcfdekg dreamkg evoweb fiokg "
        "gene-expression-atlas-okn geoconnex hydrologykg identifier-mappings medical-device-kg nasa-gesdisc-kg "
        "ncipidkg nde nestkg nikg oard-kg okn-void pankgraph phaseskg prokn rdkg ruralkg sawgraph scales "
        "securechainkg sockg spatialkg spoke-genelab spoke-okn sudokn ubergraph ufokn wikidata wildlifekn"
    ).split()
)


def graph_iri(shortname: str) -> str:
    """The named graph that holds ``shortname``."""
    return GRAPH_PREFIX + shortname
