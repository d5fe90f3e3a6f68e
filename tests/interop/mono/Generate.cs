using System;
using System.CodeDom;
using System.CodeDom.Compiler;
using System.IO;
using System.Web.Services.Description;
using System.Xml;
using Microsoft.CSharp;

/// <summary>Makes classes of a served contract, as the tool wsdl does: URL PROTOCOL NAMESPACE FILE.</summary>
static class Generate
{
    static int Main(string[] arguments)
    {
        var importer = new ServiceDescriptionImporter { ProtocolName = arguments[1], Style = ServiceDescriptionImportStyle.Client };
        using (XmlReader reader = XmlReader.Create(arguments[0]))
        {
            importer.AddServiceDescription(ServiceDescription.Read(reader), null, null);
        }
        var space = new CodeNamespace(arguments[2]);
        var unit = new CodeCompileUnit();
        unit.Namespaces.Add(space);
        ServiceDescriptionImportWarnings warnings = importer.Import(space, unit);
        if (warnings != 0)
        {
            Console.Error.WriteLine("{0}: {1}", arguments[0], warnings);
            return 1;
        }
        using (var file = new StreamWriter(arguments[3]))
        {
            new CSharpCodeProvider().GenerateCodeFromCompileUnit(unit, file, new CodeGeneratorOptions());
        }
        return 0;
    }
}
