"""What the package makes of each kind of answer, with the program that it carries.

Run by `scripts/wheel --test` in an environment where nothing but the wheel is installed.
"""

import os
import pathlib
import stat
import sys
import sysconfig
import tempfile
import unittest
from unittest import mock

import threadwise

MODELS = pathlib.Path(__file__).resolve().parents[3] / "models"
RIGHT = "process P { a: skip; }\ninvariant fine: true;\n"
# More states than can be visited.
COUNTER = """shared x: int = 0;
process P { loop { up: x := x + 1; } }
invariant small: x != 1000000000;
"""


class Check(unittest.TestCase):
    def test_proved(self):
        report = threadwise.check(MODELS / "mux_sem.tw", only="safety")
        self.assertTrue(report.proved)
        self.assertEqual({result.verdict for result in report.results}, {"proved"})
        mutex = next(result for result in report.results if result.property == "mutex")
        self.assertEqual((mutex.scope.kind, mutex.scope.parameters, mutex.scope.where), ("all", ("N",), "N >= 2"))
        self.assertTrue(mutex.rechecked)
        self.assertIsNone(mutex.trace)
        self.assertEqual(report.memory_model, "sc")

    def test_violated_with_its_trace(self):
        report = threadwise.check([str(MODELS / "wrong_test_and_set.tw")], properties=["mutex"], set={"N": 2})
        self.assertEqual((report.exit, report.proved), (1, False))
        mutex = next(result for result in report.results if result.property == "mutex")
        self.assertEqual((mutex.verdict, mutex.kind), ("violated", "invariant"))
        trace = mutex.trace
        self.assertEqual((trace.property, trace.parameters, trace.loop_from), ("mutex", {"N": 2}, None))
        self.assertEqual(trace.variables, {"state": False})
        self.assertEqual(set(trace.locations.values()), {"test"})
        self.assertEqual([step.target for step in trace.steps], ["set", "set", "critical", "critical"])
        self.assertEqual([step.changes for step in trace.steps], [{}, {}, {"state": True}, {}])
        self.assertEqual(trace.steps[0].line, 23)

    def test_a_run_without_end(self):
        text = "shared x: bool = false;\nprocess P { loop { a: x := !x; } }\nliveness stays: F G x;\n"
        stays = next(r for r in threadwise.check(text=text).results if r.property == "stays")
        self.assertEqual(stays.verdict, "violated")
        self.assertIsInstance(stays.trace.loop_from, int)

    def test_unknown_with_its_reason(self):
        report = threadwise.check(text=COUNTER, engine="explicit", timeout=0.2, properties=["small"])
        self.assertEqual(report.exit, 3)
        small = next(result for result in report.results if result.property == "small")
        self.assertEqual((small.verdict, small.rechecked), ("unknown", False))
        self.assertIn(small.reason.code, ("timeout", "memory"))

    def test_a_sweep_and_several_files(self):
        files = [MODELS / "mux_sem.tw", MODELS / "test_and_set.tw"]
        report = threadwise.check(files, set={"N": "2..3"}, only="safety")
        self.assertEqual([run.file for run in report.runs], [str(file) for file in files for _ in range(2)])
        self.assertEqual([run.results[0].scope.values["N"] for run in report.runs], [2, 3, 2, 3])

    def test_input_errors_are_raised(self):
        with self.assertRaises(threadwise.InputError) as raised:
            threadwise.check(text="shared x: bool = 3;\nprocess P { a: skip; }\n")
        (error,) = raised.exception.diagnostics
        self.assertEqual((error.code, error.name, error.place.line, error.place.column), ("E0201", "type-mismatch", 1, 18))
        self.assertIn("1:18: error[E0201]: expected a truth value", str(raised.exception))
        with self.assertRaisesRegex(threadwise.InputError, "there is no such file"):
            threadwise.check("no-such-file.tw")
        with self.assertRaisesRegex(threadwise.InputError, "unexpected argument '--nonsense'"):
            threadwise.check(text=RIGHT, arguments=["--nonsense"])
        with self.assertRaisesRegex(threadwise.InputError, "nothing to check"):
            threadwise.check()

    def test_a_file_is_never_an_option(self):
        with self.assertRaisesRegex(threadwise.InputError, "--version: there is no such file"):
            threadwise.check("--version")

    def test_results_of_other_files_survive_an_input_error(self):
        with self.assertRaises(threadwise.InputError) as raised:
            threadwise.check([MODELS / "test_and_set.tw", "no-such-file.tw"], properties=["mutex"])
        self.assertIn("proved", {result.verdict for result in raised.exception.report.results})


class Program(unittest.TestCase):
    @unittest.skipIf(os.environ.get("THREADWISE"), "THREADWISE names another one")
    def test_it_is_that_of_the_package(self):
        path = pathlib.Path(threadwise.program())
        self.assertEqual(path.parent, pathlib.Path(sysconfig.get_path("scripts")))

    def test_a_missing_program_is_raised(self):
        with tempfile.TemporaryDirectory() as empty:
            nothing = {"PATH": empty, "THREADWISE": ""}
            with mock.patch.dict(os.environ, nothing), mock.patch("sysconfig.get_path", return_value=empty):
                with self.assertRaisesRegex(threadwise.MissingProgram, "not installed"):
                    threadwise.check(text=RIGHT)
            with mock.patch.dict(os.environ, {"THREADWISE": os.path.join(empty, "none")}):
                with self.assertRaisesRegex(threadwise.MissingProgram, "THREADWISE is"):
                    threadwise.check(text=RIGHT)

    @unittest.skipIf(sys.platform == "win32", "needs a script that can be run")
    def test_a_program_that_fails_or_answers_otherwise_is_raised(self):
        with tempfile.TemporaryDirectory() as folder:
            other = pathlib.Path(folder, "other")
            with mock.patch.dict(os.environ, {"THREADWISE": str(other)}):
                for script, status, message in [
                    ("echo broken >&2; exit 4", 4, "broken"),
                    ("kill -9 $$", -9, "status -9"),
                    ("echo '{\"schema\": 99}'", 4, "not of the same version"),
                ]:
                    other.write_text(f"#!/bin/sh\n{script}\n")
                    other.chmod(other.stat().st_mode | stat.S_IXUSR)
                    with self.subTest(script), self.assertRaisesRegex(threadwise.Failure, message) as raised:
                        threadwise.check(text=RIGHT)
                    self.assertEqual(raised.exception.status, status)


if __name__ == "__main__":
    unittest.main()
