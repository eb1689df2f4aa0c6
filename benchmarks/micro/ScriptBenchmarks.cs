using System.Text;
using BenchmarkDotNet.Attributes;
using Rookery.Indexing.Definitions;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.Running;

namespace Rookery.MicroBenchmarks;

/// <summary>Costs per document of maps and patches, for an order of twenty lines.</summary>
[MemoryDiagnoser]
public class ScriptBenchmarks : IDisposable
{
    private const string CSharpMap = """
        from o in docs.Orders
        select new {
            Company = o.Company.ToLower(),
            Month = o.OrderedAt.Month,
            Total = o.Lines.Sum(l => l.Quantity * l.Price),
            Products = o.Lines.Where(l => l.Quantity > 3).Select(l => l.Product).Distinct()
        }
        """;

    private const string JavaScriptMap = """
        map('Orders', o => ({
            Company: o.Company.toLowerCase(),
            Total: o.Lines.reduce((sum, l) => sum + l.Quantity * l.Price, 0),
            Products: o.Lines.filter(l => l.Quantity > 3).map(l => l.Product.trim().substr(0, 10)).join(',')
        }))
        """;

    private const string PatchText = """
        this.Count = (this.Count || 0) + 1;
        this.Company = this.Company.replace('companies', 'firms').toUpperCase();
        for (const line of this.Lines) { line.Price = Math.round(line.Price * 110) / 100; }
        this.Lines.push({ Product: 'products/99-A', Price: 1, Quantity: Math.max(args.Quantity, 1) });
        """;

    private readonly ScriptInterpreter _interpreter = new();
    private readonly ScriptProgram _csharp = IndexScript.CompileMap(CSharpMap).Program;
    private readonly ScriptProgram _javaScript = IndexScript.CompileMap(JavaScriptMap).Program;
    private readonly ScriptProgram _patch = JavaScript.CompilePatch(PatchText);
    private readonly byte[] _arguments = """{"Quantity":2}"""u8.ToArray();
    private byte[] _body = [];

    [GlobalSetup]
    public void FillBody()
    {
        string lines = string.Join(
            ',',
            Enumerable
                .Range(0, 20)
                .Select(static line =>
                    $$"""{"Product":"products/{{line}}-A","Price":{{line}}.5,"Quantity":{{line % 7}}}"""
                )
        );
        _body = Encoding.UTF8.GetBytes(
            $$$""""Company":"companies/1-A","OrderedAt":"2026-11-28T10:00:00.0000000","Lines":[{{{lines}}}]""""
        );
    }

    [Benchmark]
    public int Map_of_CSharp_over_an_order() => Map(_csharp);

    [Benchmark]
    public int Map_of_JavaScript_over_an_order() => Map(_javaScript);

    [Benchmark]
    public int Patch_of_an_order()
    {
        Begin(_patch);
        _interpreter.AddJson(_arguments);
        return _interpreter.TryRun() && _interpreter.TryWriteParameter(0, out var json)
            ? json.Length
            : throw new InvalidOperationException(_interpreter.Failure);
    }

    [GlobalCleanup]
    public void Dispose()
    {
        _interpreter.Dispose();
        GC.SuppressFinalize(this);
    }

    private int Map(ScriptProgram program)
    {
        Begin(program);
        return _interpreter.TryRun() && _interpreter.TryWriteResult(out var json)
            ? json.Length
            : throw new InvalidOperationException(_interpreter.Failure);
    }

    private void Begin(ScriptProgram program)
    {
        _interpreter.Load(program);
        _interpreter.Begin();
        _interpreter.AddDocument(
            new ScriptDocument
            {
                Id = "orders/1-A"u8,
                Collection = "Orders"u8,
                Metadata = default,
                Body = _body,
                LastModifiedTicks = 639_000_000_000_000_000,
            }
        );
    }
}
