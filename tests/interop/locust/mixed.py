"""Users of Python workers, for a test in which Castile's workers take part: with Castile's plugin, and with a class of its own."""

import castile  # registers the plugin
from locust import HttpUser, constant, task

ENVELOPE = """<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body>\
<EchoVoid xmlns="uri:WSTestWeb-TestService"/></e:Body></e:Envelope>"""


class Orders(HttpUser):
    wait_time = constant(0.02)

    @task
    def echo(self):
        headers = {"Content-Type": "text/xml; charset=utf-8", "SOAPAction": '""'}
        self.client.post("/wstest", ENVELOPE, headers=headers, name="EchoVoid of Python")
