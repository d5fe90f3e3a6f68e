"""Calls what a plan lists with zeep. The values are what zeep itself reads from a sample."""

import json
import sys

import zeep
from lxml import etree
from zeep.transports import Transport
from zeep.wsdl.bindings.soap import SoapBinding

SETTINGS = zeep.Settings(forbid_entities=False)


class Offline(Transport):
    """Loads what a mock serves, and well-known schemas from a catalog, without other network access."""

    def __init__(self, places):
        super().__init__(timeout=20, operation_timeout=20)
        self.places = places

    def load(self, url):
        place = self.places.get(url) or self.places.get(url.rstrip("/") + "/")
        if place:
            with open(place, "rb") as file:
                return file.read()
        if not url.startswith("http://127.0.0.1:"):
            raise OSError(f"{url} is in no catalog")
        return super().load(url)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    for job in plan["jobs"]:
        for url in job["urls"]:
            try:
                client = zeep.Client(url, settings=SETTINGS, transport=Offline(plan["places"]))
            except Exception as error:  # noqa: BLE001 - whatever it is, it is what is reported
                say(job, "?wsdl", error)
                continue
            for service in client.wsdl.services.values():
                for port in service.ports.values():
                    if isinstance(port.binding, SoapBinding) and port.binding_options["address"].split("?")[0] == url.split("?")[0]:
                        call_all(job, client.bind(service.name, port.name), port.binding)


def call_all(job, proxy, binding):
    for name, operation in binding._operations.items():
        if name in job["operations"]:
            try:
                call(proxy, operation, etree.parse(job["operations"][name]["xml"]).getroot())
                say(job, name, None)
            except Exception as error:  # noqa: BLE001
                say(job, name, error)


def call(proxy, operation, envelope):
    namespace = etree.QName(envelope).namespace
    header, body = envelope.find(f"{{{namespace}}}Header"), envelope.find(f"{{{namespace}}}Body")
    options = {} if header is None else {"_soapheaders": list(header)}
    element = operation.input.body
    children = [node for node in body if isinstance(node.tag, str)]
    if element is None or not children:
        proxy[operation.name](**options)
        return
    value = element.parse(children[0], proxy._client.wsdl.types)
    if hasattr(value, "__values__"):
        proxy[operation.name](**{name: inner for name, inner in value.__values__.items() if inner is not None}, **options)
    elif value is None:
        proxy[operation.name](**options)
    else:
        proxy[operation.name](value, **options)


def say(job, operation, error):
    error = None if error is None else f"{type(error).__name__}: {error}"
    print(json.dumps({"contract": job["contract"], "operation": operation, "error": error}), flush=True)


main()
