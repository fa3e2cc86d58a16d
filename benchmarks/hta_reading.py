"""Read a trace with HolisticTraceAnalysis: ``HTA_PYTHON benchmarks/hta_reading.py parse|analyze TRACE``.

Run by a Python of its own, in which nothing but HolisticTraceAnalysis is installed.
"""

import sys
from pathlib import Path


def main() -> None:
    task, path = sys.argv[1], Path(sys.argv[2]).resolve()
    if task == "parse":
        from hta.common.trace_parser import parse_trace_dataframe  # type: ignore[import-not-found]
        from hta.configs.parser_config import ParserConfig  # type: ignore[import-not-found]

        parse_trace_dataframe(str(path), ParserConfig.get_default_cfg())
        return
    from hta.trace_analysis import TraceAnalysis  # type: ignore[import-not-found]

    # All steps, as the other side reads all of them.
    analysis = TraceAnalysis(trace_files={0: path.name}, trace_dir=str(path.parent), include_last_profiler_step=True)
    try:
        analysis.get_temporal_breakdown(visualize=False)
    except AssertionError:
        # It rounds times before it subtracts them, and then meets idle times below zero.
        print("HolisticTraceAnalysis: its temporal breakdown stopped at an assertion", file=sys.stderr)
    analysis.get_idle_time_breakdown(ranks=[0], visualize=False)
    analysis.get_gpu_kernel_breakdown(visualize=False)


if __name__ == "__main__":
    main()
