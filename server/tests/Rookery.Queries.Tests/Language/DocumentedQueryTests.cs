using System.Text.Json;
using Rookery.Indexing.Definitions;
using Rookery.Queries.Conditions;
using Rookery.Queries.FullText;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;
using Rookery.Search.Analysis;

namespace Rookery.Queries.Tests.Language;

/// <summary>The examples of docs/reference/rql.md are parsed and compiled.</summary>
public sealed class DocumentedQueryTests
{
    private static readonly QueryParameters Parameters = QueryParameters.Read(
        """{"p0":5,"p":5,"least":1,"options":{},"words":["a"]}"""u8.ToArray()
    );

    [Fact]
    public void Documented_examples_are_parsed()
    {
        int compiled = 0;
        string section = "";
        foreach (string line in File.ReadLines(Path.Combine(Root(), "docs", "reference", "rql.md")))
        {
            section = line.StartsWith("## ", StringComparison.Ordinal) ? line[3..] : section;
            if (line.Split('|') is not ["", var name, var examples, ..] || Wrap(section, name, "") is null)
            {
                continue;
            }

            foreach (string example in examples.Split('`').Where(static (_, place) => place % 2 == 1))
            {
                string text = Wrap(section, name, example)!;
                try
                {
                    Compile(text);
                    compiled++;
                }
                catch (QueryException refused)
                {
                    Assert.Fail($"{text}\n{refused.Message}");
                }
            }
        }

        Assert.InRange(compiled, 80, 200);
    }

    /// <summary>
    /// Returns a whole query that contains the example, or null if the section's tables have no examples of queries.
    /// </summary>
    private static string? Wrap(string section, string name, string example) =>
        section switch
        {
            "Clauses" => example.StartsWith("from", StringComparison.Ordinal)
            || example.StartsWith("declare", StringComparison.Ordinal)
                ? example
                : "from Users " + example,
            "Conditions" => $"from Users {AliasOf(example)}where {example}",
            "Orders" => $"from Orders "
                + $"{(name.Contains("groups", StringComparison.Ordinal) ? "group by company " : "")}"
                + $"{(example.StartsWith("order by", StringComparison.Ordinal) ? "" : "order by ")}{example}",
            "Selections" => $"declare function f(u, p) {{ return {{ a: p }}; }} from Users {AliasOf(example)}"
                + $"{(name.Contains("groups", StringComparison.Ordinal) ? "group by company " : "")}{example}",
            "Includes" => "from Users where search(bio, 'fish') " + example,
            _ => null,
        };

    // After an alias, all paths of several names begin with it.
    private static string AliasOf(string example) =>
        example.Contains("u.", StringComparison.Ordinal) || example.Contains("(u", StringComparison.Ordinal)
            ? "as u "
            : "";

    private static void Compile(string text)
    {
        var query = RqlParser.Parse(text);
        RowSource? rows = null;
        if (query.Source.Kind == SourceKind.Index)
        {
            using var json = JsonDocument.Parse("""{"Name":"x","Maps":["map('Users', u => ({ name: u.name }))"]}""");
            rows = RowSource.Of(query.Source.Name, 1, StaticIndexRequest.Parse(json.RootElement).Definition);
            query = query with { Source = query.Source with { Kind = SourceKind.AllDocuments } };
        }

        if (query.Update is not null)
        {
            QueryScripts.UpdateOf(query, changesMetadata: true);
            return;
        }

        // A stored facet setup replaces its name before the query is planned.
        if (query.Select is FieldSelection { Items: [{ Source: SelectedFacet { SetupDocument: not null } }] })
        {
            return;
        }

        using var words = new FullTextConditions(static _ => AnalyzerCatalog.Default);
        CompiledQuery.Compile(query, Parameters, words, rows);
    }

    private static string Root()
    {
        string directory = AppContext.BaseDirectory;
        while (!Directory.Exists(Path.Combine(directory, "docs")))
        {
            directory =
                Path.GetDirectoryName(directory)
                ?? throw new InvalidOperationException("The tests are not in the repository.");
        }

        return directory;
    }
}
