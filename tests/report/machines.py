#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The forms for machines, JSON and SARIF, over the stories of golden/ and over some that are made up.

usage: machines.py BUILD_DIR [--schema=FILE] [--update]

Every story is read and written: the JSON must fit docs/findings.schema.json and be read back as it is; the SARIF must have
the shape that sarif_shape.py describes, fit the standard's schema if its FILE is given (make test-sarif gets it), and
be what golden/NAME.sarif holds. --update writes those files. Then documents are broken on purpose, and the checks of
this test must notice. The last line is 'N passed, M failed'.
"""
import argparse
import copy
import difflib
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

import make_story
import sarif_shape
import schema

HERE = pathlib.Path(__file__).resolve().parent
OWN = json.loads((HERE.parent.parent / "docs" / "findings.schema.json").read_text())
MADE = {  # not kept as files: they can be made again
    "nothing": {"findings": 0}, "many": {"findings": 100}, "long": {"findings": 2, "events": 400, "threads": 4},
    "hostile names": {"findings": 120, "hostile": True},
}

# Each breaks one thing in a SARIF document; what must be complained about.
BREAKS = {
    "an unknown member": lambda d, r: r.update(extra=1),
    "no message": lambda d, r: r.pop("message"),
    "another rule": lambda d, r: r.update(ruleIndex=0, ruleId="atomicity/wait"),
    "a level": lambda d, r: r.update(level="fatal"),
    "a rank": lambda d, r: r.update(rank=101),
    "a placeholder": lambda d, r: r["message"].update(text="{0}."),
    "a link to nowhere": lambda d, r: r["message"].update(text="[x](99)."),
    "an escape": lambda d, r: r["message"].update(text="\x1b[31m."),
    "the order of steps": lambda d, r: r["codeFlows"][0]["threadFlows"][0]["locations"][0].update(executionOrder=2),
    "a thread twice": lambda d, r: r["codeFlows"][0]["threadFlows"].append(r["codeFlows"][0]["threadFlows"][0]),
    "a stack twice": lambda d, r: r["stacks"].append(r["stacks"][0]),
    "a line": lambda d, r: r["locations"][0]["physicalLocation"]["region"].update(startLine=0),
    "an address": lambda d, r: r["locations"][0]["physicalLocation"]["artifactLocation"].update(uri="a b.c"),
    "an artifact": lambda d, r: r["locations"][0]["physicalLocation"]["artifactLocation"].update(index=77),
    "a base": lambda d, r: d["runs"][0]["originalUriBaseIds"].clear(),
    "a fingerprint": lambda d, r: r["partialFingerprints"].clear(),
    "a baseline": lambda d, r: r.update(baselineState="new"),
}

# The same for a report in JSON.
BREAKS_JSON = {
    "an unknown member": lambda d: d["findings"][0].update(extra=1),
    "a missing member": lambda d: d["findings"][0].pop("id"),
    "a verdict": lambda d: d["findings"][0].update(verdict="sure"),
    "a rank": lambda d: d["findings"][0].update(rank=5),
    "a text for a number": lambda d: d["findings"][0]["events"][0].update(line="12"),
    "a version": lambda d: d.update(version=1),
}


class Tests:
    def __init__(self, arguments):
        self.render = arguments.build / "bench" / "report_render"
        self.update = arguments.update
        self.standard = self.load(arguments.schema) if arguments.schema else None
        self.own = schema.Validator(OWN)
        self.passed = self.failed = 0

    @staticmethod
    def load(path):
        import jsonschema
        return jsonschema.Draft7Validator(json.loads(path.read_text()), format_checker=jsonschema.FormatChecker())

    def expect(self, name, problems):
        if not problems:
            self.passed += 1
            return
        self.failed += 1
        print(f"FAILED: {name}")
        for problem in problems[:8]:
            print(f"    {problem[:400]}")

    def write(self, form, path):
        done = subprocess.run([self.render, form, path], capture_output=True)
        if done.returncode:
            raise SystemExit(f"{self.render} {form} {path}: status {done.returncode}\n{done.stderr.decode(errors='replace')}")
        return done.stdout

    def json(self, name, path, directory):
        """Returns where what was written is."""
        first = directory / "first.json"
        first.write_bytes(self.write("json", path))
        self.expect(f"{name}: JSON is as its schema says", self.own.problems(json.loads(first.read_bytes().decode())))
        again = self.write("json", first)
        self.expect(f"{name}: JSON is read back as it is", [] if again == first.read_bytes() else ["it is not"])
        return first

    def sarif(self, name, path, golden):
        text = self.write("sarif", path)
        document = json.loads(text.decode())
        self.expect(f"{name}: SARIF has its shape", sarif_shape.problems(document))
        if self.standard:
            self.expect(f"{name}: SARIF fits the standard's schema",
                        [f"{list(e.path)}: {e.message}" for e in self.standard.iter_errors(document)])
        if golden:
            self.golden(name, document, text.decode(), golden)

    def golden(self, name, document, text, path):
        version = document["runs"][0]["tool"]["driver"]["version"]
        text = text.replace(f'"{version}"', '"VERSION"')
        if self.update:
            path.write_text(text)
        expected = path.read_text() if path.exists() else ""
        difference = difflib.unified_diff(expected.splitlines(), text.splitlines(), str(path.name), "now", lineterm="", n=0)
        self.expect(f"{name}: SARIF is as it was", list(difference))

    def findings_are_told(self, story, document):
        """Nothing is left out, and each has the level and state that its judgement asks for."""
        results = {r["partialFingerprints"].get("fissionId/v1"): r for r in document["runs"][0]["results"]}
        wrong = []
        for f in story["findings"]:
            r = results.get(f["id"], {"suppressions": None})
            shown = not f["hidden"] and not f["suppressed"] and f["rank"] <= 2 and not f["again"]
            quiet = f["hidden"] or f["again"] or f["rank"] == 4
            level = "note" if quiet else "error" if f["rank"] < 3 and f["verdict"] != "suspected" else "warning"
            state = "unchanged" if f["known"] else "new"
            if (r.get("level"), r.get("baselineState"), not r["suppressions"]) != (level, state, shown):
                wrong.append(f"{f['id']}: {r.get('level')}, {r.get('baselineState')}, {r['suppressions']}")
        order = [results[f["id"]]["rank"] for f in sorted(story["findings"], key=lambda f: (f["hidden"], f["rank"]))]
        wrong += [] if all(a >= b - 15 for a, b in zip(order, order[1:])) else ["ranks do not fall"]
        self.expect("every finding is told, with its level, state and suppression", wrong)

    def breaks(self, sarif, report):
        for name, act in BREAKS.items():
            document = copy.deepcopy(sarif)
            act(document, document["runs"][0]["results"][0])
            self.expect(f"broken SARIF is noticed: {name}", [] if sarif_shape.problems(document) else ["it is not"])
        for name, act in BREAKS_JSON.items():
            document = copy.deepcopy(report)
            act(document)
            self.expect(f"broken JSON is noticed: {name}", [] if self.own.problems(document) else ["it is not"])

    def own_schema(self):
        if importlib.util.find_spec("jsonschema"):
            import jsonschema
            jsonschema.Draft202012Validator.check_schema(OWN)

    def run(self):
        self.own_schema()
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            for path in sorted((HERE / "golden").glob("*.json")):
                self.sarif(path.stem, self.json(path.stem, path, directory), path.with_suffix(".sarif"))
            for name, how in MADE.items():
                story = make_story.make(**how)
                (directory / "made.json").write_text(json.dumps(story))
                report = self.json(name, directory / "made.json", directory)
                self.sarif(name, report, None)
                if name == "many":
                    self.findings_are_told(story, json.loads(self.write("sarif", report)))
            (directory / "one.json").write_text(json.dumps(make_story.make(findings=2)))
            self.breaks(json.loads(self.write("sarif", directory / "one.json")),
                        json.loads(self.write("json", directory / "one.json")))
        print(f"{self.passed} passed, {self.failed} failed")
        return self.failed > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--schema", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    sys.exit(Tests(parser.parse_args()).run())


if __name__ == "__main__":
    main()
