using System;
using System.Collections;
using System.Linq;
using System.Text.RegularExpressions;
using System.Threading;
using System.Web.Services.Protocols;
using Peer;

/// <summary>Calls every operation through the proxy that Mono's importer made of the contract: Calls VERSION URL.</summary>
static class Calls
{
    static readonly DateTime At = new DateTime(2026, 1, 2, 0, 0, 0, DateTimeKind.Utc);
    const int Tries = 100, PauseMs = 20;
    static string version;
    static Everything proxy;

    static void Main(string[] arguments)
    {
        version = arguments[0];
        proxy = new Everything { Url = arguments[1], Timeout = 10000 };
        Tell("echoOrder", Order);
        Tell("echoOrder of little", LittleOrder);
        Tell("echoShapes", Shapes);
        Tell("echoBytes", () => Equal(proxy.echoBytes(new byte[] { 0, 255 }, At), new byte[] { 0, 255 }));
        Tell("divide", () => Equal(proxy.divide(1, 4), 0.25));
        Tell("divide by zero", () =>
        {
            SoapException fault = Fault(() => proxy.divide(3, 0));
            Equal(fault.Code.Name, version == "12" ? "Sender" : "Client");
            Equal(fault.Message, "nothing is divided by zero");
            Equal(fault.Detail["divisionByZero", "urn:castile:everything"]["dividend"].InnerText, "3");
        });
        Tell("key", () =>
        {
            proxy.session = new Session { key = "sesame" };
            Equal(proxy.key(), "sesame");
        });
        Tell("key without session", () =>
        {
            proxy.session = null;
            Equal(proxy.key(), null);
        });
        Tell("echoLine", () =>
        {
            Line found = Echo(Line("ABC-1"));
            Equal(found.sku, "ABC-1");
            Equal(Text(found.price), "1.50");
            Equal(found.sizes, "1 2");
            Equal(found.part, new Line[0]);
        });
        Tell("echoLine with a part", () =>
        {
            Line sent = Line("ABC-1");
            sent.part = new[] { Line("XYZ-9") };
            Line found = Echo(sent);
            Equal(found.sku, "ABC-1");
            Equal(found.part.Select(part => part.sku).ToArray(), new[] { "XYZ-9" });
        });
        Tell("echoLine of a wrong sku", () =>
        {
            string text = Fault(() => Echo(Line("wrong"))).Message;
            Equal(text.Contains("doesn't match the pattern"), true);
        });
        Tell("ping", proxy.ping);
        Tell("notify", () =>
        {
            proxy.notify("notice " + version);
            string found = null;
            for (int tries = 0; found == null && tries < Tries; tries++)
            {
                Thread.Sleep(PauseMs);
                found = proxy.lastNotice();
            }
            Equal(found, "notice " + version);
        });
    }

    static void Order()
    {
        Line second = Line("XYZ-9");
        second.sizes = null;
        second.part = new[] { Line("ABC-1") };
        Order found = proxy.echoOrder(new Order
        {
            number = 7,
            currency = "USD",
            customer = "Ann & Co",
            when = new DateTime(2026, 2, 3),
            whenSpecified = true,
            line = new[] { Line("ABC-1"), second },
            tags = new[] { "a", "b" },
            status = Status.Sent,
            payment = new Payment { Item = new Amount { Value = 12, unit = "EUR" } },
        });
        Equal(found.number, 7u);
        Equal(found.currency, "USD");
        Equal(found.customer, "Ann & Co");
        Equal(found.whenSpecified, true);
        Equal(found.when, new DateTime(2026, 2, 3));
        Equal(found.line.Select(line => line.sku).ToArray(), new[] { "ABC-1", "XYZ-9" });
        Equal(Text(found.line[0].price), "1.50");
        Equal(found.line[1].sizes, null);
        Equal(found.line[1].part.Single().sizes, "1 2");
        Equal(found.tags, new[] { "a", "b" });
        Equal(found.note, null);
        Equal(found.status, Status.Sent);
        Equal(((Amount)found.payment.Item).Value, 12m);
        Equal(((Amount)found.payment.Item).unit, "EUR");
    }

    static void LittleOrder()
    {
        Order found = proxy.echoOrder(new Order
        {
            number = 1,
            customer = "",
            tags = new string[0],
            note = "soon",
            status = Status.New,
            payment = new Payment { Item = "4711" },
        });
        Equal(found.number, 1u);
        Equal(found.currency, "EUR");
        Equal(found.customer, "");
        Equal(found.whenSpecified, false);
        Equal(found.line, null);
        Equal(found.tags, new string[0]);
        Equal(found.note, "soon");
        Equal(found.status, Status.New);
        Equal(found.payment.Item, "4711");
    }

    static void Shapes()
    {
        Shape[] found = proxy.echoShapes(new Shape[] {
            new Circle { label = "c", radius = 1.5 }, new Square { side = 2 }, new Shape { label = "s" } });
        Equal(found.Length, 3);
        Equal(((Circle)found[0]).radius, 1.5);
        Equal(((Square)found[1]).side, 2);
        Equal(found[0].label, "c");
        Equal(found[2].GetType(), typeof(Shape));
        Equal(found[2].label, "s");
    }

    static Line Line(string sku) { return new Line { sku = sku, price = 1.50m, sizes = "1 2" }; }

    /// <summary>A line as it comes back: Mono takes the message for a wrapper, and its elements for parameters.</summary>
    static Line Echo(Line line)
    {
        proxy.echoLine(ref line.sku, ref line.price, ref line.sizes, ref line.part);
        return line;
    }

    static string Text(decimal value) { return value.ToString(System.Globalization.CultureInfo.InvariantCulture); }

    static void Tell(string name, Action tried)
    {
        string wrong = "";
        try
        {
            tried();
        }
        catch (Exception thrown)
        {
            wrong = Regex.Replace(thrown.GetType().Name + ": " + thrown.Message, @"\s+", " ");
        }
        Console.WriteLine("{0}\t{1}\t{2}", version, name, wrong);
    }

    static SoapException Fault(Action call)
    {
        try
        {
            call();
        }
        catch (SoapException fault)
        {
            return fault;
        }
        throw new Exception("an answer, expected a fault");
    }

    static void Equal(object found, object expected)
    {
        if (!StructuralComparisons.StructuralEqualityComparer.Equals(found, expected))
        {
            throw new Exception("found " + Shown(found) + ", expected " + Shown(expected));
        }
    }

    static string Shown(object value)
    {
        var array = value as Array;
        return array == null ? value == null ? "nothing" : value.ToString() : string.Join(", ", array.Cast<object>());
    }
}
