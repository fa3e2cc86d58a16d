"""Files to `Trace`: a streaming reader, columns, linking and what the file lacks.

>>> trace = read_trace(Path("trace.json.gz"))      # doctest: +SKIP
"""
