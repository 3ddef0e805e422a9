"""Reports of optimizations: one page for people, and claims that another machine can calculate again."""

from diffmicro.report.claims import Claim, Question, question_of_run
from diffmicro.report.verify import Verdict, verify
from diffmicro.report.write import report

__all__ = ["Claim", "Question", "Verdict", "question_of_run", "report", "verify"]
