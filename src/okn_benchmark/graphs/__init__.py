"""The bundled sample graphs and a loopback SPARQL service over RDF files."""
