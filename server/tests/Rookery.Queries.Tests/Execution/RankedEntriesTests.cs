using Rookery.Indexing.Automatic;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Queries.Execution;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Tests.Execution;

/// <summary>
/// The order of an index's entries by the ranks of their values, and by documents where ranks do not suffice.
/// </summary>
public sealed class RankedEntriesTests
{
    /// <summary>
    /// The result is discarded if some entry's place is known only from its document. Until then the comparison must be
    /// consistent, because sorting throws on a cycle (a before b, b before c, c before a).
    /// </summary>
    [Fact]
    public void Entries_have_a_consistent_order_even_if_only_documents_decide_it()
    {
        // With a number and a text in one field, the index does not know which one a text order uses.
        string[] ages = ["\"a\"", "\"b\"", "\"c\"", "3", "[1,\"b\"]"];
        var random = new Random(1);
        using var example = new IndexExample(
            new AutoIndexDefinition(
                collection: null,
                [
                    new AutoIndexField(["name"], AutoIndexFieldUses.None),
                    new AutoIndexField(["age"], AutoIndexFieldUses.None),
                ]
            )
        );
        int[] numbers = [.. Enumerable.Range(0, 40)];
        random.Shuffle(numbers);
        foreach (int number in numbers)
        {
            example.Put(
                $"users/{number}",
                $$"""{"name":"n{{random.Next(2)}}","age":{{ages[random.Next(ages.Length)]}}}"""
            );
        }

        example.Apply();
        var plan = CompiledQuery.Compile(
            RqlParser.Parse("from @all_docs order by name, age as string limit 5"),
            QueryParameters.None,
            fullText: null
        );
        using var snapshot = example.OpenSnapshot();
        var segment = snapshot.Segments.Single().Reader;
        using var work = new AnswerWork(
            new QueryMemory(new MemoryBudget(1 << 20).AddShare("queries", limitBytes: 1 << 20)),
            new PatientClock()
        );
        var sort = SegmentSort.Open(
            plan,
            segment,
            example.Fields,
            new ConditionCursors(segment, example.Fields, work),
            work
        )!;
        Assert.Equal(1, sort.RankedColumns);
        RankedEntry[] entries =
        [
            .. Enumerable
                .Range(0, segment.Entries)
                .Select(entry => new RankedEntry
                {
                    Entry = entry,
                    Rank = sort.Rank(0, entry),
                    Etag = -1,
                }),
        ];
        var documents = segment.Documents();
        var buffer = new PooledBytes();
        bool[][] isBefore =
        [
            .. entries.Select(one =>
                entries
                    .Select(other => RankedEntries.Compare(plan.Sort, sort, documents, buffer, one, other) < 0)
                    .ToArray()
            ),
        ];
        buffer.Release();
        Assert.True(sort.NeedsDocument);
        for (int one = 0; one < entries.Length; one++)
        {
            for (int other = 0; other < entries.Length; other++)
            {
                // Of two entries, exactly one is before the other.
                Assert.Equal(one != other, isBefore[one][other] != isBefore[other][one]);
                for (int third = 0; third < entries.Length; third++)
                {
                    Assert.False(
                        isBefore[one][other] && isBefore[other][third] && !isBefore[one][third],
                        $"{one} comes before {other}, that before {third}, and this before the first"
                    );
                }
            }
        }
    }

    private sealed class PatientClock : IWorkLimits
    {
        public void CheckLimits() { }
    }
}
