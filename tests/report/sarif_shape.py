# SPDX-License-Identifier: MIT
"""What a SARIF file of ours must look like: the members that we write, and what the standard's schema cannot say.

`problems(document)` returns a list of texts, empty if all is well. Nothing that is not in SHAPES may be there, so
a new member has to be added here, which is when its author looks into the standard.
"""
import re

LEVELS = {"error", "warning", "note"}
IMPORTANCE = {"essential", "important", "unimportant"}
BASELINE = {"new", "unchanged"}
ROOT = "SRCROOT"

# object: {member: shape}; "?" in front of a member that may be missing. A shape is a Python type, the name of another
# object, a list of one shape, {"*": shape} for any keys, or a set of allowed texts.
SHAPES = {
    "log": {"$schema": str, "version": {"2.1.0"}, "runs": ["run"]},
    "run": {"tool": "tool", "invocations": ["invocation"], "columnKind": {"unicodeCodePoints"}, "results": ["result"],
            "artifacts": ["artifact"], "originalUriBaseIds": {"*": "base"}},
    "tool": {"driver": "driver"},
    "driver": {"name": str, "version": str, "semanticVersion": str, "rules": ["rule"]},
    "rule": {"id": str, "name": str, "shortDescription": "message", "fullDescription": "message", "help": "help",
             "defaultConfiguration": "configuration", "properties": "tags"},
    "help": {"text": str, "markdown": str},
    "configuration": {"level": LEVELS},
    "tags": {"tags": [str]},
    "base": {"description": "message"},
    "message": {"text": str},
    "invocation": {"commandLine": str, "exitCode": int, "executionSuccessful": bool,
                   "toolExecutionNotifications": ["notification"]},
    "notification": {"level": LEVELS, "message": "message"},
    "artifact": {"location": "artifactLocation", "?sourceLanguage": {"c", "cplusplus"}},
    "artifactLocation": {"uri": str, "?uriBaseId": {ROOT}, "index": int},
    "result": {"ruleId": str, "ruleIndex": int, "level": LEVELS, "rank": int, "message": "message",
               "locations": ["location"], "partialFingerprints": {"*": str}, "occurrenceCount": int,
               "?baselineState": BASELINE, "suppressions": ["suppression"], "relatedLocations": ["location"],
               "?codeFlows": ["codeFlow"], "stacks": ["stack"], "?properties": "properties"},
    "properties": {"verdict": {"reproduced", "observed", "predicted", "suspected"}, "fissionRank": int, "hidden": bool,
                   "again": bool, "happened": bool, "?lock": str, "variables": [str], "enclosing": [str], "checks": [str]},
    "suppression": {"kind": {"external"}, "status": {"accepted"}, "justification": str},
    "location": {"?id": int, "?physicalLocation": "physicalLocation", "?logicalLocations": ["logicalLocation"],
                 "?message": "message"},
    "physicalLocation": {"artifactLocation": "artifactLocation", "?region": "region", "?address": "address"},
    "address": {"relativeAddress": int, "kind": {"instruction"}},
    "region": {"startLine": int, "?startColumn": int, "?snippet": "message"},
    "logicalLocation": {"fullyQualifiedName": str, "kind": {"function"}},
    "codeFlow": {"threadFlows": ["threadFlow"]},
    "threadFlow": {"id": str, "message": "message", "locations": ["step"]},
    "step": {"location": "location", "kinds": [str], "?state": {"*": "message"}, "nestingLevel": int,
             "executionOrder": int, "importance": IMPORTANCE},
    "stack": {"message": "message", "frames": ["frame"]},
    "frame": {"location": "location"},
}


class Check:
    def __init__(self, document):
        self.found = []
        self.document = document

    def need(self, condition, where, what):
        if not condition:
            self.found.append(f"{where}: {what}")
        return condition

    def shape(self, value, shape, where):
        """Whether the value is of that shape, all the way down."""
        if isinstance(shape, set):
            self.need(isinstance(value, str) and value in shape, where, f"{value!r} is none of {sorted(shape)}")
        elif isinstance(shape, type):
            self.need(isinstance(value, shape) and (shape is bool or not isinstance(value, bool)), where,
                      f"{value!r} is no {shape.__name__}")
        elif isinstance(shape, list):
            if self.need(isinstance(value, list), where, "is no array"):
                for i, item in enumerate(value):
                    self.shape(item, shape[0], f"{where}[{i}]")
        elif self.need(isinstance(value, dict), where, "is no object"):
            self.members(value, shape if isinstance(shape, dict) else SHAPES[shape], where)

    def members(self, value, shape, where):
        if "*" in shape:
            for key, item in value.items():
                self.shape(item, shape["*"], f"{where}.{key[:40]}")
            return
        known = {key.lstrip("?"): (item, key[0] != "?") for key, item in shape.items()}
        for key in value:
            self.need(key in known, where, f"has an unknown member '{key}'")
        for key, (item, required) in known.items():
            if key in value:
                self.shape(value[key], item, f"{where}.{key}")
            else:
                self.need(not required, where, f"has no member '{key}'")


def walk(value, path=""):
    """Every object in the document, with its path; the last part is the member that it is."""
    if isinstance(value, dict):
        yield path, value
        for key, item in value.items():
            yield from walk(item, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from walk(item, path)


def unique(items):
    seen = [repr(item) for item in items]
    return len(seen) == len(set(seen))


def check_uri(c, run, where, location):
    uri, absolute = location["uri"], location["uri"].startswith("file:///")
    c.need(re.fullmatch(r"(file://)?([A-Za-z0-9._~/-]|%[0-9A-F]{2})+", uri), where, f"'{uri[:80]}' is no address")
    c.need(absolute or not uri.startswith("/"), where, f"'{uri[:80]}' is neither relative nor a file: address")
    c.need(absolute != ("uriBaseId" in location), where, f"'{uri[:80]}' must have a base if it is relative, and only then")
    c.need(location.get("uriBaseId", ROOT) in run["originalUriBaseIds"], where, "has a base that nobody defines")
    index = location["index"]
    if c.need(0 <= index < len(run["artifacts"]), where, f"artifact {index} is not there"):
        c.need(run["artifacts"][index]["location"] == location, where, f"artifact {index} is another one")


def check_message(c, where, text, ids):
    rest = text.replace("{{", "").replace("}}", "")
    c.need(not re.search("[{}]", rest), where, f"has a placeholder: {text[:80]!r}")
    c.need(not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text), where, f"has a control: {text[:80]!r}")
    for target in re.findall(r"(?<!\\)\]\(([^)]*)\)", text):
        c.need(target.isdigit() and int(target) in ids, where, f"links to '{target}', which is nowhere")


def check_flows(c, where, result):
    for flow in result.get("codeFlows", []):
        c.need(flow["threadFlows"], where, "has a flow without threads")
        c.need(unique(t["id"] for t in flow["threadFlows"]), where, "has two thread flows of one id")
        orders = [[step["executionOrder"] for step in t["locations"]] for t in flow["threadFlows"]]
        c.need(all(o and o == sorted(o) for o in orders), where, "has a thread that goes back, or is empty")
        every = sorted(n for o in orders for n in o)
        c.need(every == list(range(1, len(every) + 1)), where, "does not count its steps from 1 on, each once")
        for step in (s for t in flow["threadFlows"] for s in t["locations"]):
            c.need(step["nestingLevel"] >= 0, where, "is nested less than not at all")


def check_result(c, run, where, result):
    rules = run["tool"]["driver"]["rules"]
    ids = [location.get("id") for location in result["relatedLocations"]]
    if c.need(0 <= result["ruleIndex"] < len(rules), where, "has no rule"):
        c.need(rules[result["ruleIndex"]]["id"] == result["ruleId"], where, "has two rules")
    c.need(0 <= result["rank"] <= 100, where, f"has the rank {result['rank']}")
    c.need(result["occurrenceCount"] > 0, where, "never occurred")
    c.need(result["partialFingerprints"] and all(result["partialFingerprints"].values()), where, "has no fingerprint")
    c.need(len(result["locations"]) <= 1, where, "has several locations")
    c.need(None not in ids and unique(ids), where, "has related locations that are not told apart")
    c.need(unique(result["stacks"]), where, "has the same stack twice")
    c.need(result["message"]["text"].endswith("."), where, "has a message that is no sentence")
    check_message(c, where, result["message"]["text"], ids)
    check_flows(c, where, result)


def check_everywhere(c, run):
    for path, value in walk(run):
        member = path.rsplit(".", 1)[-1]
        if member == "artifactLocation" or path == ".artifacts.location":
            check_uri(c, run, path, value)
        elif member == "region":
            c.need(value["startLine"] > 0 and value.get("startColumn", 1) > 0, path, "counts from 1")
        elif member == "message" and path != ".results.message":
            check_message(c, path, value["text"], [])


def problems(document):
    c = Check(document)
    c.shape(document, "log", "log")
    if c.found:
        return c.found
    c.need(len(document["runs"]) == 1, "log", "has not one run")
    run = document["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    c.need(unique(rule["id"] for rule in rules), "rules", "have an id twice")
    c.need(unique(rule["shortDescription"] for rule in rules), "rules", "have a title twice")
    c.need(unique(a["location"]["uri"] for a in run["artifacts"]), "artifacts", "have a file twice")
    for i, result in enumerate(run["results"]):
        check_result(c, run, f"results[{i}]", result)
    findings = [r for r in run["results"] if "fissionId/v1" in r["partialFingerprints"]]
    c.need(len({"baselineState" in r for r in findings}) < 2, "results", "have a baseline state in part")
    check_everywhere(c, run)
    return c.found
