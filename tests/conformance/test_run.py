# SPDX-License-Identifier: MIT
"""The wrapper around the suite must not be fooled: an empty run is no good run, nor is a gap that has closed."""

import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
run = sys.modules["__main__"] if hasattr(sys.modules["__main__"], "without_gaps") else __import__("run")


def check(name, status="SUCCESS"):
    return {"id": name, "status": status, "errorMessage": "because", "description": "it does"}


class Judging(unittest.TestCase):
    def test_all_expected_successes_are_green(self):
        self.assertEqual(run.judge([check("a"), check("b"), check("noise", "INFO")], ["a", "b"]), {})

    def test_a_scenario_that_did_not_run_is_red(self):
        self.assertEqual(run.judge(None, ["a"]), {"*": "the scenario did not run"})

    def test_an_empty_green_is_red(self):
        self.assertEqual(run.judge([], ["a", "b"]), {"a": "it was not checked", "b": "it was not checked"})

    def test_skipped_is_not_passed(self):
        for status in ("SKIPPED", "INFO"):
            self.assertEqual(run.judge([check("a", status)], ["a"]), {"a": "it was not checked"})

    def test_a_failure_is_red_although_another_check_of_the_same_name_passed(self):
        self.assertEqual(run.judge([check("a"), check("a", "FAILURE")], ["a"]), {"a": "FAILURE: because"})

    def test_a_warning_is_red(self):
        self.assertEqual(run.judge([check("a"), check("b", "WARNING")], ["a"]), {"b": "WARNING: because"})

    def test_a_success_that_the_table_does_not_know_is_red(self):
        self.assertEqual(run.judge([check("a"), check("new")], ["a"]), {"new": "it is not in expected.json"})


class Gaps(unittest.TestCase):
    def test_a_known_gap_is_passed_over_and_nothing_else(self):
        self.assertEqual(run.without_gaps({"a": "FAILURE: x", "b": "FAILURE: y"}, {"a": "why"}), {"b": "FAILURE: y"})

    def test_a_gap_that_closed_is_red(self):
        self.assertEqual(list(run.without_gaps({}, {"a": "why"})), ["a"])

    def test_a_gap_in_what_is_not_run_is_an_error(self):
        gap = [{"suite": "1", "side": "server", "scenario": "gone", "check": "a", "why": "x"}]
        with self.assertRaises(SystemExit):
            run.load_gaps(json.dumps(gap), {"1": {"server": {"ping": ["a"]}, "client": {}}})

    def test_gaps_are_found_by_scenario(self):
        gap = [{"suite": "1", "side": "server", "scenario": "ping", "check": "a", "why": "x"}]
        found = run.load_gaps(json.dumps(gap), {"1": {"server": {"ping": ["a"]}, "client": {}}})
        self.assertEqual(found, {("1", "server", "ping"): {"a": "x"}})


class Reading(unittest.TestCase):
    def test_a_table_of_other_versions_is_an_error(self):
        with self.assertRaises(SystemExit):
            run.load_expected('{"1": {}}', {"2"})
        self.assertEqual(run.load_expected('{"1": {}}', {"1"}), {"1": {}})

    def test_folders_are_named_after_their_scenario(self):
        self.assertEqual(run.scenario_of("json-schema-2020-12-preservation-2026-01-31T12-00-00-000Z"),
                         "json-schema-2020-12-preservation")  # fmt: skip
        self.assertEqual(run.scenario_of("sse-retry-2026-01-31T12-00-00-000Z"), "sse-retry")

    def test_checks_are_read_by_scenario(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("server-server-initialize", "server-ping"):
                file = pathlib.Path(folder) / f"{name}-2026-01-31T12-00-00-000Z" / "checks.json"
                file.parent.mkdir()
                file.write_text(json.dumps([check(name)]))
            (pathlib.Path(folder) / "server-empty-2026-01-31T12-00-00-000Z").mkdir()
            found = run.read_checks(folder, "server")
            self.assertEqual(list(found), ["ping", "server-initialize"])
            self.assertEqual(found["ping"], [check("server-ping")])


class Running(unittest.TestCase):
    def test_what_does_not_end_is_killed_with_all_that_it_started(self):
        with tempfile.TemporaryDirectory() as folder:
            script = f"sleep 60 & echo $! >{folder}/pid; wait"
            self.assertIsNone(run.execute(["sh", "-c", script], 0.5).status)
            child = pathlib.Path("/proc") / (pathlib.Path(folder) / "pid").read_text().strip() / "stat"
            gone = not child.exists() or child.read_text().rsplit(")")[-1].split()[0] == "Z"
            self.assertTrue(gone)

    def test_the_exit_status_is_told(self):
        self.assertEqual(run.execute(["sh", "-c", "echo out; echo err >&2; exit 3"], 10).why(), "exit status 3; err")


if __name__ == "__main__":
    unittest.main()
