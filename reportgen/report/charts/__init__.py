"""The charts of a report, drawn once and used in every document.

Importing this package loads matplotlib (a fifth of a second): import it in the function that draws. Each function
returns None where the cases hold nothing to draw. Wherever a chart shows a figure, `Chart.alt` names it.
"""

from reportgen.report.charts.budget import budget_chart
from reportgen.report.charts.memory import memory_chart
from reportgen.report.charts.model import Caption, Chart
from reportgen.report.charts.roofline import roofline_chart
from reportgen.report.charts.step_times import step_times_chart
from reportgen.report.charts.timeline import timeline_chart
from reportgen.report.charts.whatif import Fix, whatif_chart

__all__ = [
    "Caption",
    "Chart",
    "Fix",
    "budget_chart",
    "memory_chart",
    "roofline_chart",
    "step_times_chart",
    "timeline_chart",
    "whatif_chart",
]
