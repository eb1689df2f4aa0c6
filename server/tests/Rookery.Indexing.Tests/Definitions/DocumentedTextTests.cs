using System.Text.Json;
using Rookery.Indexing.Definitions;

namespace Rookery.Indexing.Tests.Definitions;

/// <summary>The index texts in docs/how-to/static-indexes.md compile.</summary>
public sealed class DocumentedTextTests
{
    private static readonly string Text = File.ReadAllText(Path.Combine(Root(), "docs", "how-to", "static-indexes.md"));

    [Fact]
    public void Texts_in_tables_compile()
    {
        string[] spans =
        [
            .. Text.Split('\n')
                .Where(static line => line.StartsWith('|'))
                .SelectMany(static line => line.Split('`').Where(static (_, position) => position % 2 == 1)),
        ];
        int maps = 0,
            reduces = 0;
        foreach (string span in spans)
        {
            if (
                span.StartsWith("map(", StringComparison.Ordinal)
                || (
                    span.StartsWith("from ", StringComparison.Ordinal)
                    && span.Contains(" docs", StringComparison.Ordinal)
                )
                || span.StartsWith("docs.", StringComparison.Ordinal)
                || span.StartsWith("counters.map(", StringComparison.Ordinal)
                || span.StartsWith("from c in counters", StringComparison.Ordinal)
            )
            {
                IndexScript.CompileMap(span);
                maps++;
            }
            else if (
                span.StartsWith("groupBy(", StringComparison.Ordinal)
                || span.StartsWith("results.", StringComparison.Ordinal)
                || span.StartsWith("from r in results", StringComparison.Ordinal)
            )
            {
                IndexScript.CompileReduce(span);
                reduces++;
            }
        }

        Assert.Equal((22, 3), (maps, reduces));
    }

    [Fact]
    public void The_definition_is_read()
    {
        int from = Text.IndexOf("```json", StringComparison.Ordinal) + "```json".Length;
        using var json = JsonDocument.Parse(Text[from..Text.IndexOf("```", from, StringComparison.Ordinal)]);
        Assert.Equal(
            ["product", "count", "total"],
            StaticIndexRequest.Parse(json.RootElement).Definition.Fields.Select(static field => field.Name)
        );
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
