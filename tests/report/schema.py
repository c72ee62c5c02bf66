# SPDX-License-Identifier: MIT
"""A validator for the part of JSON Schema that docs/findings.schema.json uses, so that the test needs no package.

It is stricter than the standard in one point: a member that the schema does not name is a mistake here, because then
the documentation lacks it. A keyword that it does not know is a mistake, too.
"""
import re

KNOWN = {"$schema", "$defs", "$ref", "title", "description", "type", "required", "properties", "items", "enum", "const",
         "minimum", "maximum", "pattern", "anyOf"}
TYPES = {
    "object": lambda v: isinstance(v, dict), "array": lambda v: isinstance(v, list), "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool), "null": lambda v: v is None,
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
}


class Validator:
    def __init__(self, schema):
        self.schema = schema

    def problems(self, value):
        return list(self.check(value, self.schema, "report"))

    def check(self, value, schema, where):
        unknown = set(schema) - KNOWN
        if unknown:
            yield f"{where}: the schema has {sorted(unknown)}, which nobody checks"
        if "$ref" in schema:
            yield from self.check(value, self.schema["$defs"][schema["$ref"].removeprefix("#/$defs/")], where)
        types = schema.get("type", [])
        types = [types] if isinstance(types, str) else types
        if types and not any(TYPES[t](value) for t in types):
            yield f"{where}: {str(value)[:60]!r} is none of {types}"
            return
        yield from self.check_value(value, schema, where)
        yield from self.check_parts(value, schema, where)

    def check_value(self, value, schema, where):
        if "const" in schema and value != schema["const"]:
            yield f"{where}: {value!r} is not {schema['const']!r}"
        if "enum" in schema and value not in schema["enum"]:
            yield f"{where}: {value!r} is none of {schema['enum']}"
        if isinstance(value, int) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
            yield f"{where}: {value} is out of range"
        if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
            yield f"{where}: {value[:60]!r} does not look like {schema['pattern']}"
        options = [list(self.check(value, option, where)) for option in schema.get("anyOf", [])]
        if options and all(options):
            yield f"{where}: is none of those allowed: {options}"

    def check_parts(self, value, schema, where):
        if isinstance(value, list) and "items" in schema:
            for i, item in enumerate(value):
                yield from self.check(item, schema["items"], f"{where}[{i}]")
        if isinstance(value, dict) and "properties" in schema:
            for name in schema.get("required", []):
                if name not in value:
                    yield f"{where}: has no member '{name}'"
            for name, item in value.items():
                if name in schema["properties"]:
                    yield from self.check(item, schema["properties"][name], f"{where}.{name}")
                else:
                    yield f"{where}: the schema does not know the member '{name}'"
