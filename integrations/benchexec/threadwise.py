"""The tool-info module of threadwise for BenchExec: how to run it on a task, and what its answer is.

Use it from a benchmark definition with `tool="threadwise"` when this file is in `benchexec/tools`, or with `tool=".threadwise"` and
this directory on PYTHONPATH as a package.
"""

import json
import re

import benchexec.result as result
import benchexec.tools.template
from benchexec.tools.template import UnsupportedFeatureException


class Tool(benchexec.tools.template.BaseTool2):
    def __init__(self):
        # The question of a C task, by the command line that it gets: what is found may answer another one.
        self._asked = {}

    def executable(self, tool_locator):
        return tool_locator.find_executable("threadwise", subdir="target/release")

    def version(self, executable):
        return self._version_from_tool(executable, line_prefix="threadwise ")

    def name(self):
        return "threadwise"

    def project_url(self):
        return None

    def cmdline(self, executable, options, task, rlimits):
        files = list(task.input_files_or_identifier)
        command = [executable, "check", "--json", *options]
        asked = None
        if all(_is_c(name) for name in files):
            asked = _question(task.property_file)
            if "--integers" not in options:
                # A task asks one question. If it is whether an error is reached, what overflows on the way does not matter.
                command += ["--integers", "mathematical" if asked == result.RESULT_FALSE_OVERFLOW else "machine"]
            if isinstance(task.options, dict) and "data_model" in task.options:
                command += ["--data-model", str(task.options["data_model"])]
        if rlimits.memory:
            # Three quarters: the parent and the checker of certificates need room, too.
            command += ["--memory", str(rlimits.memory // 1024 // 1024 * 3 // 4)]
        command += files
        self._asked[tuple(command)] = asked
        return command

    def determine_result(self, run):
        if run.was_terminated:
            return result.RESULT_ERROR
        report = _report(run.output)
        if report is None:
            return result.RESULT_ERROR
        found = [each for run_ in report["runs"] for each in run_["results"]]
        asked = self._asked.get(tuple(run.cmdline))
        status = report["exit"]
        if status == 0:
            if asked == result.RESULT_FALSE_OVERFLOW and _leaves_overflows_out(report):
                return result.RESULT_UNKNOWN
            return result.RESULT_TRUE_PROP
        if status == 1:
            in_c = all(_is_c(run_["file"]) for run_ in report["runs"])
            violated = {_violated(each, in_c) for each in found if each["verdict"] == "violated"}
            what = violated.pop() if len(violated) == 1 else result.RESULT_FALSE_PROP
            # A run that ends with something else says nothing about what was asked.
            return what if asked in (None, what) else result.RESULT_UNKNOWN
        if status == 3:
            reasons = {
                each["reason"]["code"] for each in found if each["verdict"] == "unknown" and each.get("reason")
            }
            if "timeout" in reasons:
                return "TIMEOUT"
            if "memory" in reasons:
                return "OUT OF MEMORY"
            return result.RESULT_UNKNOWN
        return result.RESULT_ERROR

    def get_value_from_output(self, output, identifier):
        """Statistics of the report: `states` and the like, of the first result that has them."""
        report = _report(output)
        for run in report["runs"] if report else []:
            for found in run["results"]:
                if identifier in found["stats"]:
                    return str(found["stats"][identifier])
        return None


def _report(output):
    """The report in the output, or None. Messages stand before it, since BenchExec keeps both outputs in one file."""
    text = output.text
    begin = re.search(r"^\{$", text, re.MULTILINE)
    try:
        return json.JSONDecoder().raw_decode(text, begin.start())[0] if begin else None
    except ValueError:
        return None


def _is_c(name):
    return str(name).endswith((".c", ".i"))


def _question(property_file):
    """The answer that would say no to what a property file of the competition asks, or None if there is no such file."""
    if property_file is None:
        return None
    with open(property_file, encoding="utf-8") as file:
        asked = re.findall(r"LTL\((.*)\)\s*\)\s*$", file.read(), re.MULTILINE)
    asked = [re.sub(r"\s", "", formula) for formula in asked]
    if asked in (["G!call(reach_error())"], ["G!call(__VERIFIER_error())"]):
        return result.RESULT_FALSE_REACH
    if asked == ["G!overflow"]:
        return result.RESULT_FALSE_OVERFLOW
    raise UnsupportedFeatureException(
        f"threadwise answers whether an error is reached and whether something overflows, not what {property_file} asks"
    )


def _violated(found, in_c):
    """The competition's name for what goes wrong, where it has one."""
    if found["kind"] in ("deadlock", "liveness"):
        return f"{result.RESULT_FALSE_PROP}({found['kind']})"
    end = (found.get("trace") or {}).get("ending", {})
    meaning = end.get("meaning", "")
    if not in_c:
        return result.RESULT_FALSE_PROP
    if meaning.startswith("signed overflow"):
        return result.RESULT_FALSE_OVERFLOW
    if end.get("check") == "assert" and meaning == "the error is reached":
        return result.RESULT_FALSE_REACH
    if end.get("check") == "index":
        return result.RESULT_FALSE_DEREF
    if end.get("check") == "assert" and not meaning:
        return f"{result.RESULT_FALSE_PROP}(assert)"
    return result.RESULT_FALSE_PROP


def _leaves_overflows_out(report):
    """Whether there may be any number of threads, where leaving a type is not checked."""
    remarks = [remark for run in report["runs"] for remark in run.get("diagnostics", [])]
    return any("leaves its type is not checked" in remark["message"] for remark in remarks)
