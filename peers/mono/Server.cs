using System;
using System.Collections.Generic;
using System.IO;
using System.Net;
using System.Text;
using System.Threading;
using System.Web;
using System.Web.Hosting;

/// <summary>
/// ASP.NET's runtime behind Mono's HttpListener, in the place of xsp4: PORT DIRECTORY. The directory has the services, as FILE.asmx at
/// /FILE, and bin with this assembly, which the application's own domain reads anew.
/// </summary>
public sealed class Server : MarshalByRefObject
{
    static void Main(string[] arguments)
    {
        var server = (Server)ApplicationHost.CreateApplicationHost(typeof(Server), "/", Path.GetFullPath(arguments[1]));
        server.Listen("http://127.0.0.1:" + arguments[0] + "/");
        Console.WriteLine("listening on http://127.0.0.1:" + arguments[0]);
        Thread.Sleep(Timeout.Infinite);
    }

    /// <summary>It lives as long as the process.</summary>
    public override object InitializeLifetimeService() { return null; }

    void Listen(string prefix)
    {
        var listener = new HttpListener { IgnoreWriteExceptions = true };
        listener.Prefixes.Add(prefix);
        listener.Start();
        var accept = new Thread(() =>
        {
            while (true)
            {
                HttpListenerContext context = listener.GetContext();
                ThreadPool.QueueUserWorkItem(_ => HttpRuntime.ProcessRequest(new Exchange(context)));
            }
        });
        accept.Start();
    }
}

/// <summary>A request and its answer, which is sent in one piece.</summary>
sealed class Exchange : SimpleWorkerRequest
{
    readonly HttpListenerContext context;
    readonly byte[] body;
    readonly MemoryStream answer = new MemoryStream();

    public Exchange(HttpListenerContext context) : base(context.Request.Url.AbsolutePath.Substring(1) + ".asmx", "", TextWriter.Null)
    {
        this.context = context;
        using (var whole = new MemoryStream())
        {
            context.Request.InputStream.CopyTo(whole);
            body = whole.ToArray();
        }
    }

    public override string GetHttpVerbName() { return context.Request.HttpMethod; }

    public override string GetHttpVersion() { return "HTTP/1.1"; }

    public override string GetKnownRequestHeader(int index) { return context.Request.Headers[GetKnownRequestHeaderName(index)]; }

    public override string GetUnknownRequestHeader(string name) { return context.Request.Headers[name]; }

    public override string[][] GetUnknownRequestHeaders()
    {
        var unknown = new List<string[]>();
        foreach (string name in context.Request.Headers)
        {
            if (GetKnownRequestHeaderIndex(name) < 0)
            {
                unknown.Add(new[] { name, context.Request.Headers[name] });
            }
        }
        return unknown.ToArray();
    }

    public override byte[] GetPreloadedEntityBody() { return body; }

    public override bool IsEntireEntityBodyIsPreloaded() { return true; }

    public override void SendStatus(int code, string description) { context.Response.StatusCode = code; }

    public override void SendKnownResponseHeader(int index, string value)
    {
        if (index == HeaderContentType)
        {
            context.Response.ContentType = value;
        }
    }

    public override void SendUnknownResponseHeader(string name, string value) {}

    public override void SendResponseFromMemory(byte[] data, int length) { answer.Write(data, 0, length); }

    /// <summary>The last flush is the end of an answer in Mono's runtime, which calls EndOfRequest for none.</summary>
    public override void FlushResponse(bool isLast)
    {
        if (isLast)
        {
            context.Response.ContentLength64 = answer.Length;
            context.Response.OutputStream.Write(answer.GetBuffer(), 0, (int)answer.Length);
            context.Response.Close();
        }
    }
}
