"""The tool-info module of threadwise for BenchExec: how to run it on a task, and what its answer is.

Use it from a benchmark definition with `tool="threadwise"` when this file is in `benchexec/tools`, or with `tool=".threadwise"` and
this directory on PYTHONPATH as a package.
"""

import json

import benchexec.result as result
import benchexec.tools.template


class Tool(benchexec.tools.template.BaseTool2):
    def executable(self, tool_locator):
        return tool_locator.find_executable("threadwise", subdir="target/release")

    def version(self, executable):
        return self._version_from_tool(executable, line_prefix="threadwise ")

    def name(self):
        return "threadwise"

    def project_url(self):
        return None

    def cmdline(self, executable, options, task, rlimits):
        command = [executable, "check", "--json", *options]
        if self._is_c(task) and "--integers" not in options:
            # A task asks one question: here whether an assertion fails or an error is reached, not whether something overflows.
            command += ["--integers", "machine"]
        model = task.options.get("data_model") if isinstance(task.options, dict) else None
        if model not in (None, "LP64"):
            raise benchexec.tools.template.UnsupportedFeatureException(
                f"C programs are read with the sizes of LP64, not of {model}"
            )
        if rlimits.memory:
            # Three quarters: the parent and the checker of certificates need room, too.
            command += ["--memory", str(rlimits.memory // 1024 // 1024 * 3 // 4)]
        return [*command, *task.input_files_or_identifier]

    @staticmethod
    def _is_c(task):
        return any(str(name).endswith((".c", ".i")) for name in task.input_files_or_identifier)

    def determine_result(self, run):
        if run.was_terminated:
            return result.RESULT_ERROR
        try:
            report = json.loads("".join(run.output))
        except ValueError:
            return result.RESULT_ERROR
        status = report["exit"]
        if status == 0:
            return result.RESULT_TRUE_PROP
        if status == 1:
            violated = [
                found
                for run_ in report["runs"]
                for found in run_["results"]
                if found["verdict"] == "violated"
            ]
            ends = [(found.get("trace") or {}).get("ending", {}) for found in violated]
            checks = {end.get("check") for end in ends}
            # The names that the competition has for what goes wrong in C programs.
            in_c = all(run_["file"].endswith((".c", ".i")) for run_ in report["runs"])
            if in_c and checks == {"assert"}:
                return result.RESULT_FALSE_REACH
            if all(found["kind"] == "deadlock" for found in violated):
                return result.RESULT_FALSE_PROP + "(deadlock)"
            if all(found["kind"] == "liveness" for found in violated):
                return result.RESULT_FALSE_PROP + "(liveness)"
            return result.RESULT_FALSE_PROP
        if status == 3:
            reasons = {
                found["reason"]["code"]
                for run_ in report["runs"]
                for found in run_["results"]
                if found["verdict"] == "unknown" and found.get("reason")
            }
            if "timeout" in reasons:
                return "TIMEOUT"
            if "memory" in reasons:
                return "OUT OF MEMORY"
            return result.RESULT_UNKNOWN
        return result.RESULT_ERROR

    def get_value_from_output(self, output, identifier):
        """Statistics of the report: `states` and the like, of the first result that has them."""
        try:
            report = json.loads("".join(output))
        except ValueError:
            return None
        for run in report["runs"]:
            for found in run["results"]:
                if identifier in found["stats"]:
                    return str(found["stats"][identifier])
        return None
