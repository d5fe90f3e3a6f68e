using System;
using System.Linq;
using System.Web.Services;
using System.Web.Services.Protocols;
using Peer;

/// <summary>
/// Calls the SOAPBuilders' base operations at URL through the proxy that the importer made of the contract, and holds what comes
/// against what was sent.
/// </summary>
static class Client
{
    static int passed, failed;

    static int Main(string[] arguments)
    {
        var proxy = new InteropBase { Url = arguments[0], Timeout = 10000 };
        foreach (string text in new[] { "plain", "café & <tags>", "", "  two\nlines  ", "42", "𝄞" })
        {
            Expect("echoString", text, () => proxy.echoString(text));
        }
        Expect("echoStringArray", new[] { "one", "zwei", "trés" }, () => proxy.echoStringArray(new[] { "one", "zwei", "trés" }));
        Expect("echoStringArray, empty", new string[0], () => proxy.echoStringArray(new string[0]));
        Expect("echoInteger", int.MinValue, () => proxy.echoInteger(int.MinValue));
        Expect("echoIntegerArray", new[] { 1, 2, 3 }, () => proxy.echoIntegerArray(new[] { 1, 2, 3 }));
        Expect("echoFloat", 1.5f, () => proxy.echoFloat(1.5f));
        Expect("echoFloat, infinite", float.PositiveInfinity, () => proxy.echoFloat(float.PositiveInfinity));
        Expect("echoFloatArray", new[] { 0.25f, -1f }, () => proxy.echoFloatArray(new[] { 0.25f, -1f }));
        Expect("echoStruct", Told(Struct(1)), () => Told(proxy.echoStruct(Struct(1))));
        SOAPStruct[] structs = { Struct(1), Struct(2) };
        Expect("echoStructArray", structs.Select(Told).ToArray(), () => proxy.echoStructArray(structs).Select(Told).ToArray());
        // The same object twice is one value with two references to it.
        SOAPStruct[] shared = { structs[0], structs[0] };
        Expect("echoStructArray, shared", shared.Select(Told).ToArray(), () => proxy.echoStructArray(shared).Select(Told).ToArray());
        Expect("echoVoid", true, () => { proxy.echoVoid(); return true; });
        byte[] bytes = Enumerable.Range(0, 256).Select(value => (byte)value).ToArray();
        Expect("echoBase64", bytes, () => proxy.echoBase64(bytes));
        Expect("echoHexBinary", bytes, () => proxy.echoHexBinary(bytes));
        var moment = new DateTime(2026, 2, 28, 23, 59, 59, DateTimeKind.Utc);
        Expect("echoDate", moment, () => proxy.echoDate(moment).ToUniversalTime());
        Expect("echoDecimal", 123.4500m, () => proxy.echoDecimal(123.4500m));
        Expect("echoBoolean", true, () => proxy.echoBoolean(true));
        ExpectFault("echoNothing", () => new Stranger { Url = arguments[0], Timeout = 10000 }.echoNothing("a"));
        Console.WriteLine("{0} passed, {1} failed", passed, failed);
        return failed == 0 && passed > 0 ? 0 : 1;
    }

    static SOAPStruct Struct(int number) { return new SOAPStruct { varInt = number, varString = "grün", varFloat = 2.5f }; }

    static string Told(SOAPStruct value) { return value == null ? null : value.varInt + " " + value.varString + " " + value.varFloat; }

    static void Expect(string what, object expected, Func<object> call)
    {
        object found;
        try
        {
            found = call();
        }
        catch (Exception error)
        {
            found = error;
        }
        var both = new[] { expected, found }.Select(value => value as Array).ToArray();
        bool same = both[0] == null ? Equals(expected, found) : both[1] != null && both[0].Cast<object>().SequenceEqual(both[1].Cast<object>());
        Tell(same, what, Shown(found), Shown(expected));
    }

    static void ExpectFault(string part, Action call)
    {
        string found = "a response";
        try
        {
            call();
        }
        catch (SoapException fault)
        {
            found = fault.Message;
        }
        catch (Exception error)
        {
            found = error.ToString();
        }
        Tell(found.Contains(part) && !found.Contains("\n"), "an operation that is not there", found, "a fault that names " + part);
    }

    static string Shown(object value)
    {
        var array = value as Array;
        return array == null ? "" + value : string.Join(", ", array.Cast<object>());
    }

    static void Tell(bool holds, string what, string found, string expected)
    {
        if (holds)
        {
            passed++;
            return;
        }
        failed++;
        Console.WriteLine("FAILED {0}: found {1}, expected {2}", what, found, expected);
    }
}

/// <summary>A proxy that somebody wrote who doesn't know the contract.</summary>
[WebServiceBinding(Name = "Stranger", Namespace = "http://soapinterop.org/")]
sealed class Stranger : SoapHttpClientProtocol
{
    [SoapRpcMethod("http://soapinterop.org/", RequestNamespace = "http://soapinterop.org/", ResponseNamespace = "http://soapinterop.org/")]
    public string echoNothing(string text) { return (string)Invoke("echoNothing", new object[] { text })[0]; }
}
