using System.Buffers;
using System.Text;
using Rookery.Documents.Stored;
using Rookery.Fixtures;
using Rookery.Indexing.Definitions;
using Rookery.Indexing.Values;
using Rookery.Scripting.Running;
using Rookery.Search.Segments.Store;

namespace Rookery.Indexing.Tests.Definitions;

/// <summary>Runs maps and reduces given as text.</summary>
internal static class DefinitionExample
{
    /// <summary>The documents that maps may load, by id.</summary>
    public static IReadOnlyDictionary<string, string> Others { get; } =
        new Dictionary<string, string>(StringComparer.OrdinalIgnoreCase)
        {
            ["companies/1"] = """{"name":"Acme","city":"Ulm"}""",
            ["companies/2"] = """{"name":"Bolt","city":"Köln"}""",
        };

    /// <summary>Returns the rows of a map for a document, one per line, or the error message.</summary>
    public static string Map(string text, string document, string id = "users/1", ScriptLimits? limits = null) =>
        Map([IndexScript.CompileMap(text)], document, id, limits);

    /// <inheritdoc cref="Map(string, string, string, ScriptLimits?)"/>
    public static string Map(IReadOnlyList<CompiledMap> maps, string document, string id, ScriptLimits? limits = null)
    {
        using var runner = new MapRunner(maps, new Library(), limits);
        return Map(runner, document, id);
    }

    /// <summary>Returns the rows for several documents in turn.</summary>
    public static string MapAll(string text, params string[] documents)
    {
        return MapAll(IndexScript.CompileMap(text), documents);
    }

    /// <inheritdoc cref="MapAll(string, string[])"/>
    public static string MapAll(CompiledMap map, params string[] documents)
    {
        using var runner = new MapRunner([map], new Library());
        return string.Join('\n', documents.Select(document => Map(runner, document, "users/1")));
    }

    private static string Map(MapRunner runner, string document, string id)
    {
        byte[] stored = StoredExample.Store(id, document);
        var rows = new Lines();
        try
        {
            runner.Run(
                new QueriedDocument(new DocumentView(stored), 7, Encoding.ASCII.GetBytes(StoredExample.HistoryId)),
                counters: null,
                rows
            );
        }
        catch (IndexEntryException failed)
        {
            return failed.Message;
        }

        return string.Join('\n', rows.Rows);
    }

    /// <summary>Returns the reduced rows, group by group in the order of first occurrence.</summary>
    public static string Reduce(string text, params string[] rows)
    {
        using var runner = new ReduceRunner(IndexScript.CompileReduce(text));
        var groups = new OrderedDictionary<string, List<string>>(StringComparer.Ordinal);
        foreach (string row in rows)
        {
            string key = Encoding.UTF8.GetString(runner.KeyOf(Encoding.UTF8.GetBytes(row)));
            groups.TryAdd(key, []);
            groups[key].Add(row);
        }

        return string.Join('\n', groups.Select(group => Reduce(runner, group.Key, group.Value)));
    }

    private static string Reduce(ReduceRunner runner, string key, List<string> rows)
    {
        var output = new ArrayBufferWriter<byte>();
        runner.BeginGroup(Encoding.UTF8.GetBytes(key));
        rows.ForEach(row => runner.AddRow(Encoding.UTF8.GetBytes(row)));
        runner.EndGroup(output);
        return output.Text();
    }

    private sealed class Lines : IMappedRows
    {
        public List<string> Rows { get; } = [];

        public void Add(ReadOnlySpan<byte> row) => Rows.Add(Encoding.UTF8.GetString(row));
    }

    private sealed class Library : IScriptDocuments
    {
        public void Load(ReadOnlySpan<byte> id, ScriptDocumentReceiver receiver)
        {
            string name = Encoding.UTF8.GetString(id);
            if (Others.TryGetValue(name, out string? json))
            {
                receiver(new DocumentView(StoredExample.Store(name, json)).ToScript());
            }
        }
    }
}
