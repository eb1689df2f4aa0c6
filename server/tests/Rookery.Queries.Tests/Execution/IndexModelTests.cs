using System.Globalization;
using Rookery.Indexing.Automatic;
using Rookery.Queries.Language;
using Rookery.Queries.Tests.Language;
using Rookery.Queries.Tests.Scanning;

namespace Rookery.Queries.Tests.Execution;

/// <summary>
/// Compares answers of indexes to random queries over changing random documents with answers of scans.
/// </summary>
public sealed class IndexModelTests
{
    private static readonly Source All = new(SourceKind.AllDocuments, "@all_docs", null, 0);

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Random_queries_get_the_same_answer_from_an_index_as_from_a_scan(int part)
    {
        int compared = 0;
        int evaluated = 0;
        int withResults = 0;
        for (int seed = part * 1000; seed < (part * 1000) + 25; seed++)
        {
            var random = new Random(seed);
            bool isWhole = random.Next(4) > 0;
            var queries = new RandomQueries(random, isWide: isWhole);
            using var example = new IndexExample(isWhole ? Whole : DrawPart(random));
            for (int round = 0; round < 10; round++)
            {
                Change(random, queries, example);
                for (int query = 0; query < 20; query++)
                {
                    var randomQuery = DrawQuery(random, queries);
                    bool needsTotal = random.Next(4) > 0;
                    var expected = example.Scan(randomQuery);
                    var answer = example.Ask(randomQuery, needsTotal, ForcedWalk.Any(random));
                    Assert.True(
                        expected.Results.SequenceEqual(answer.Results, StringComparer.Ordinal)
                            && (expected.Total == answer.Total || !needsTotal),
                        $"seed {seed}, round {round}, query {query}: {QueryPrinter.Print(randomQuery)}\nexpected "
                            + $"{expected.Total}: {string.Join(' ', expected.Results)}\nanswered {answer.Total}: "
                            + $"{string.Join(' ', answer.Results)} (evaluated documents: {answer.EvaluatedDocuments})"
                    );
                    compared++;
                    evaluated += answer.EvaluatedDocuments ? 1 : 0;
                    withResults += answer.Total > 0 ? 1 : 0;
                }
            }
        }

        // Otherwise the test would prove nothing: the index must answer most queries without the documents.
        Assert.InRange(evaluated, 0, compared / 2);
        Assert.InRange(withResults, compared / 4, compared);
    }

    /// <summary>An index of all fields that the queries use.</summary>
    private static AutoIndexDefinition Whole { get; } =
        new(
            null,
            RandomQueries
                .Paths.Select(static path => path.Replace("[]", "", StringComparison.Ordinal))
                .Distinct(StringComparer.Ordinal)
                .Select(static path => new AutoIndexField(
                    path.Split('.'),
                    AutoIndexFieldUses.Exact | AutoIndexFieldUses.Search
                ))
        );

    /// <summary>Returns an index that lacks some of the queried fields.</summary>
    private static AutoIndexDefinition DrawPart(Random random) =>
        new(
            null,
            Whole
                .Fields.Where(_ => random.Next(8) > 0)
                .Select(field =>
                    field with
                    {
                        Uses = random.Next(8) > 0 ? AutoIndexFieldUses.Exact : AutoIndexFieldUses.None,
                    }
                )
        );

    private static void Change(Random random, RandomQueries queries, IndexExample example)
    {
        int changes = example.Ids.Count == 0 ? 25 : random.Next(15);
        for (int change = 0; change < changes; change++)
        {
            string id = $"{(random.Next(2) == 0 ? "users" : "Orders")}/{random.Next(30)}";
            if (random.Next(4) == 0 && example.Ids.Contains(id))
            {
                example.Delete(id);
            }
            else
            {
                example.Put(id, queries.Document());
            }
        }

        example.Apply();
        if (random.Next(3) == 0)
        {
            example.Merge();
        }

        if (random.Next(6) == 0)
        {
            example.Restart(random.NextInt64());
        }
    }

    private static Query DrawQuery(Random random, RandomQueries queries) =>
        new()
        {
            Text = "",
            Source = All,
            Where = random.Next(10) == 0 ? null : queries.Condition(3),
            OrderBy = [.. Enumerable.Range(0, Math.Max(0, random.Next(-1, 3))).Select(_ => queries.Order())],
            Filter = random.Next(12) == 0 ? queries.Condition(1) : null,
            Select =
                random.Next(12) == 0
                    ? new FieldSelection(
                        [new SelectedField(new SelectedReference(queries.Field()), "f", Position: 0)],
                        random.Next(2) == 0
                    )
                    : null,
            Offset = random.Next(3) == 0 ? NumberOperandOf(random.Next(6)) : null,
            Limit = random.Next(2) == 0 ? NumberOperandOf(random.Next(12)) : null,
        };

    private static NumberOperand NumberOperandOf(int value) => new(value.ToString(CultureInfo.InvariantCulture), 0);
}
