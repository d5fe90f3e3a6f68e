using System;
using System.CodeDom;
using System.CodeDom.Compiler;
using System.IO;
using System.Web.Services.Description;
using Microsoft.CSharp;

/// <summary>Makes classes of a contract, as the tool wsdl does: CONTRACT NAMESPACE FILE.</summary>
static class Generate
{
    static int Main(string[] arguments)
    {
        var importer = new ServiceDescriptionImporter { Style = ServiceDescriptionImportStyle.ServerInterface };
        importer.AddServiceDescription(ServiceDescription.Read(arguments[0]), null, null);
        var space = new CodeNamespace(arguments[1]);
        var unit = new CodeCompileUnit();
        unit.Namespaces.Add(space);
        ServiceDescriptionImportWarnings warnings = importer.Import(space, unit);
        if (warnings != 0)
        {
            Console.Error.WriteLine("{0}: {1}", arguments[0], warnings);
            return 1;
        }
        using (var file = new StreamWriter(arguments[2]))
        {
            new CSharpCodeProvider().GenerateCodeFromCompileUnit(unit, file, new CodeGeneratorOptions());
        }
        return 0;
    }
}
