"""Calls with zeep what a plan lists."""

import base64
import decimal
import json
import sys
import time

import zeep
from zeep import xsd
from zeep.wsa import WsAddressingPlugin
from zeep.xsd.valueobjects import CompoundValue

NAMESPACE = "urn:castile:interop"
NOTICE_TRIES = 40
NOTICE_PAUSE_SECONDS = 0.05


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    for job in plan["jobs"]:
        peer = Peer(job)
        for case in job["cases"]:
            try:
                outcome = {"value": peer.value(case)}
            except Exception as error:  # any exception is reported
                outcome = {"error": f"{type(error).__name__}: {error}"}
            names = {"contract": job["contract"], "version": job["version"]}
            print(json.dumps({**names, "operation": case["operation"], "case": case["case"], **outcome}), flush=True)


class Peer:
    def __init__(self, job):
        self.contract = job["contract"]
        plugins = [WsAddressingPlugin()] if self.contract == "addressing" else []
        self.client = zeep.Client(job["wsdl"], plugins=plugins)
        binding = f"{{{NAMESPACE}}}{self.contract.title()}{job['version']}"
        self.service = self.client.create_service(binding, job["url"])

    def value(self, case):
        operation, value = case["operation"], case["value"]
        kind = case["kind"]
        if kind == "echo":
            return self.to_json(self.call(operation, case["type"], value), case["type"])
        if kind == "void":
            self.call(operation)
            return None
        if kind == "header":
            answer = self.call(operation, "xs:string", value["value"], _soapheaders={"token": value["token"]})
            # With declared headers zeep returns both parts.
            return {"result": simple_content(answer.body), "receipt": simple_content(answer.header.receipt)}
        if kind == "fault":
            try:
                self.call(operation, "xs:string", value)
            except zeep.exceptions.Fault as fault:
                if fault.detail is None:
                    raise
                element = fault.detail.find(f".//{{{NAMESPACE}}}refusal")
                refusal = self.client.get_element(f"{{{NAMESPACE}}}refusal").parse(element, self.client.wsdl.types)
                return self.to_json(refusal, "Refusal")
            raise ValueError("a response, expected a fault")
        self.call(operation, "xs:string", value)
        for _ in range(NOTICE_TRIES):
            notice = self.call("lastNotice")
            if notice:
                break
            time.sleep(NOTICE_PAUSE_SECONDS)
        return notice

    def call(self, operation, type_=None, value=None, **options):
        method = getattr(self.service, operation)
        if type_ is None:
            return method(**options)
        argument = self.from_json(value, type_)
        if self.contract != "bare":
            return self.rewrap(method(value=argument, **options), type_)
        if isinstance(argument, CompoundValue):
            # The request is the element itself, so its children are the arguments.
            argument = {name: getattr(argument, name) for name in argument.__values__}
            return self.rewrap(method(**argument, **options), type_)
        return method(argument, **options)

    def rewrap(self, answer, type_):
        """Wraps a value again: zeep returns the only child of an element instead of the element."""
        if type_.startswith("xs:") or type_ == "tns:Colour":
            return answer
        names = [name for name, _ in self.type(type_).elements]
        return {names[0]: answer} if len(names) == 1 and not isinstance(answer, CompoundValue) else answer

    def type(self, name):
        return self.client.get_type(f"{{{NAMESPACE}}}{name.removeprefix('tns:')}")

    def from_json(self, value, type_):
        if value is None:
            return xsd.Nil
        if isinstance(value, dict):
            made = self.type(value.get("$type", type_))
            types = {name: element.type.name for name, element in made.elements}
            members = {name: inner for name, inner in value.items() if name != "$type"}
            return made(**{name: self.from_json(inner, types.get(name, "")) for name, inner in members.items()})
        if isinstance(value, list):
            return [self.from_json(item, type_) for item in value]
        if type_ == "xs:base64Binary":
            return base64.b64decode(value)
        if type_ == "xs:decimal":
            return decimal.Decimal(value)
        if type_ in ("xs:float", "xs:double") and isinstance(value, str):
            return float(value)
        return value

    def to_json(self, value, type_):
        if isinstance(value, CompoundValue):
            found = {name: self.to_json(value[name], "") for name in value.__values__}
            found = {name: inner for name, inner in found.items() if inner is not None}
            name = value._xsd_type.name
            return {"$type": name, **found} if name in ("Circle", "Square") else found
        if isinstance(value, dict):
            return {name: self.to_json(inner, "") for name, inner in value.items()}
        if isinstance(value, list):
            return [self.to_json(item, type_) for item in value]
        if isinstance(value, bytes):
            return base64.b64encode(value).decode()
        if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
            return {"nan": "NaN", "inf": "INF", "-inf": "-INF"}[str(value)]
        if hasattr(value, "isoformat"):
            return value.isoformat()
        return str(value) if isinstance(value, decimal.Decimal) else value


def simple_content(value):
    """Returns the value of a response or header block with one child."""
    if isinstance(value, CompoundValue):
        (name,) = value.__values__
        return value[name]
    return value


main()
