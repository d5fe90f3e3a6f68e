"""Drives a vCenter with `castile call`, as a person would: with a bundle of the contract, a URL, and a file of cookies.

`run` starts the vCenter and calls this module. Requests are JSON, and the checks use the JSON output.
"""

import json
import stat
import subprocess
import xml.etree.ElementTree as ElementTree

VIM = "{urn:vim25}"
SECONDS_TO_CALL = 60
MACHINES = ["DC0_C0_RP0_VM0", "DC0_C0_RP0_VM1", "DC0_H0_VM0", "DC0_H0_VM1"]
NOTE = "<by> castile & call"


def drive(castile, contract, folder, url, certificate, user, password):
    """Returns the number of calls. An AssertionError names the wrong answer."""
    bundle, cookies = folder / "vim.castile", folder / "cookies"
    cookies.unlink(missing_ok=True)
    subprocess.run([castile, "bundle", contract, "-o", bundle], stdout=subprocess.DEVNULL, check=True)
    center = Center([castile, "call", bundle, "--url", url, "--ca", certificate, "--cookies", cookies])

    # The first request is in the form of a command line; a reference is a text with the attribute `type`.
    this = '_this:={"@type": "ServiceInstance", "$": "ServiceInstance"}'
    content = center.answer("RetrieveServiceContent", this)["returnval"]
    assert content["about"]["apiType"] == "VirtualCenter", content["about"]
    sessions, views, collector = content["sessionManager"], content["viewManager"], content["propertyCollector"]

    viewing = {"_this": views, "container": content["rootFolder"], "type": ["VirtualMachine"], "recursive": True}
    assert "NotAuthenticatedFault" in center.fault("CreateContainerView", viewing)["detail"]

    # Passwords must not be in a command line.
    login = {"_this": sessions, "userName": user, "password": "wrong"}
    wrong = center.fault("Login", login)
    assert wrong["detail"] == {"InvalidLoginFault": {}}, wrong
    assert "NotAuthenticatedFault" in center.fault("CreateContainerView", viewing)["detail"]
    session = center.answer("Login", login | {"password": password})["returnval"]
    assert session["userName"] == user, session
    assert stat.S_IMODE(cookies.stat().st_mode) == 0o600, cookies.stat()

    view = center.answer("CreateContainerView", viewing)["returnval"]
    machines = center.properties(collector, in_view(view, ["name", "summary.config.numCpu", "runtime"]))
    assert sorted(machine["name"] for machine in machines.values()) == MACHINES, machines
    assert all(machine["summary.config.numCpu"] == "1" for machine in machines.values()), machines

    machine = next(iter(machines))
    # A value of any type must name its type.
    option = {"$type": "OptionValue", "key": "castile.note", "value": {"$type": "xs:string", "$": NOTE}}
    spec = {"numCPUs": 2, "annotation": NOTE, "extraConfig": [option]}
    change = {"_this": {"@type": "VirtualMachine", "$": machine}, "spec": spec}
    task = center.answer("ReconfigVM_Task", change)["returnval"]
    assert center.properties(collector, of(task, ["info.state"])) == {task["$"]: {"info.state": "success"}}
    names = ["summary.config.numCpu", "config.annotation", "config.extraConfig"]
    changed = center.properties(collector, of(change["_this"], names))[machine]
    assert (changed["summary.config.numCpu"], changed["config.annotation"]) == ("2", NOTE), changed
    # The content of such a value is XML.
    options = [ElementTree.fromstring(option["$xml"]) for option in changed["config.extraConfig"]]
    values = {option.findtext(f"{VIM}key"): option.findtext(f"{VIM}value") for option in options}
    assert values["castile.note"] == NOTE, values

    unknown = {"_this": collector, "specSet": of(task, ["nonsense"]), "options": {}}
    (found,) = center.answer("RetrievePropertiesEx", unknown)["returnval"]["objects"]
    fault = {"$type": "InvalidProperty", "name": "nonsense"}
    assert found["missingSet"] == [{"path": "nonsense", "fault": {"fault": fault}}], found

    assert center.answer("Logout", {"_this": sessions}) == {}
    assert "NotAuthenticatedFault" in center.fault("CreateContainerView", viewing)["detail"]
    return center.calls


class Center:
    def __init__(self, command):
        self.command = command
        self.calls = 0

    def call(self, operation, request):
        """Returns the exit code and the printed JSON."""
        self.calls += 1
        as_json = isinstance(request, dict)
        done = subprocess.run(
            [*self.command, operation, *(["--json", "-"] if as_json else [request])],
            input=json.dumps(request) if as_json else "",
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            timeout=SECONDS_TO_CALL,
        )
        assert done.returncode < 2 and not done.stderr, f"{operation} ended with {done.returncode}: {done.stderr}"
        return done.returncode, json.loads(done.stdout)

    def answer(self, operation, request):
        code, printed = self.call(operation, request)
        assert code == 0, f"{operation} answers {printed}, expected a response"
        return printed

    def fault(self, operation, request):
        code, printed = self.call(operation, request)
        assert code == 1, f"{operation} answers {printed}, expected a fault"
        return printed["fault"]

    def properties(self, collector, specification):
        """Returns the properties of each object by name, with two objects per page, so that there are several pages."""
        request = {"_this": collector, "specSet": specification, "options": {"maxObjects": 2}}
        page = self.answer("RetrievePropertiesEx", request)["returnval"]
        objects = page["objects"]
        while "token" in page:
            page = self.answer("ContinueRetrievePropertiesEx", {"_this": collector, "token": page["token"]})["returnval"]
            objects += page["objects"]
        # A value of any type has its type beside it.
        return {one["obj"]["$"]: {each["name"]: each["val"]["$"] for each in one["propSet"]} for one in objects}


def in_view(view, properties):
    """Returns the properties of all machines of a view."""
    # The selection has a derived type.
    to_its_objects = {"$type": "TraversalSpec", "type": "ContainerView", "path": "view"}
    return {
        "propSet": [{"type": "VirtualMachine", "pathSet": properties}],
        "objectSet": [{"obj": view, "skip": True, "selectSet": [to_its_objects]}],
    }


def of(reference, properties):
    """Returns the properties of one object."""
    return {"propSet": [{"type": reference["@type"], "pathSet": properties}], "objectSet": [{"obj": reference}]}
