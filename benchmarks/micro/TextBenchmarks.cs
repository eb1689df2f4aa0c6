using System.Text;
using BenchmarkDotNet.Attributes;
using Rookery.Documents.Parsing;
using Rookery.Platform;
using Rookery.Queries.Language;

namespace Rookery.MicroBenchmarks;

/// <summary>Costs of steps that do not depend on stored data: parsing, checksums, compression.</summary>
[MemoryDiagnoser]
public class TextBenchmarks
{
    private const string QueryText =
        "from Orders where Company = 'companies/1' and Total > 100 order by At desc select Company, Total";

    private readonly byte[] _block = new byte[4096];
    private readonly byte[] _compressed = new byte[8192];
    private byte[] _document = [];

    [GlobalSetup]
    public void FillInputs()
    {
        string lines = string.Join(
            ',',
            Enumerable
                .Range(0, 20)
                .Select(static line =>
                    $$"""{"Product":"products/{{line}}-A","Price":{{line}}.5,"Quantity": {{line}} }"""
                )
        );
        _document = Encoding.UTF8.GetBytes(
            $$$"""
            {"Company":"companies/1","At":"2026-11-28T10:00:00Z","Lines":[{{{lines}}}],
            "@metadata":{"@collection":"Orders"}}
            """
        );
        for (int at = 0; at < _block.Length; at++)
        {
            _block[at] = _document[at % _document.Length];
        }
    }

    [Benchmark]
    public bool Parse_a_document_of_1_KB()
    {
        using var parser = DocumentParser.Rent();
        return parser.TryParse(_document, out _, out _);
    }

    [Benchmark]
    public Query Parse_a_query() => RqlParser.Parse(QueryText);

    [Benchmark]
    public uint Checksum_of_4_KiB() => Checksum.Of(_block);

    [Benchmark]
    public int Compress_4_KiB() => Lz4.Compress(_block, _compressed);
}
