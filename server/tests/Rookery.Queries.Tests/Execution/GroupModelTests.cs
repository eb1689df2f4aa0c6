using System.Buffers;
using System.Text;
using Rookery.Fixtures;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Queries.Execution;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;
using Rookery.Queries.Tests.Scanning;

namespace Rookery.Queries.Tests.Execution;

/// <summary>
/// Compares answers of automatic map-reduce indexes to random grouped queries over changing documents with grouping all
/// documents.
/// </summary>
public sealed class GroupModelTests
{
    private static readonly string[][] Groupings =
    [
        ["a"],
        ["b", "a"],
        ["o.a", "@metadata.@collection"],
        ["l[].a"],
        ["l[].b", "b"],
        ["t[]"],
        ["array(t)", "o"],
        ["l.a"],
        ["l[].a", "array(t)", "l.b"],
    ];

    private static readonly string[] Aggregates =
    [
        "count()",
        "sum(n)",
        "avg(n)",
        "min(n)",
        "max(n)",
        "min(b)",
        "max(a)",
        "sum(l[].b)",
        "avg(t[])",
        "min(l[].a)",
        "max(o)",
        "sum(missing)",
    ];

    // Some numbers have more digits than sums represent exactly.
    private static readonly string[] Numbers =
    [
        "1",
        "2.50",
        "-3",
        "0.1",
        "0.2",
        "1e25",
        "-1e25",
        "1.2345678901234567e-5",
        "123456789012345678901.5",
        "1e400",
        "-1e400",
        "9007199254740993",
        "5e-324",
        "\"x\"",
        "null",
        "[1,2,0.3]",
    ];

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public void Random_grouped_queries_get_the_same_answer_from_an_index_as_from_a_scan(int seed)
    {
        var random = new Random(seed);
        var documents = new RandomQueries(random, isWide: seed % 2 == 0);
        bool hasLongKeys = seed % 2 == 0;
        var node = IndexedNode.New();
        foreach (string[] keys in Groupings)
        {
            Define(node, keys);
        }

        int withResults = 0;
        int onlyPage = 0;
        int compared = 0;
        int walked = 0;
        for (int round = 0; round < 20; round++)
        {
            Change(random, documents, hasLongKeys, node);
            if (random.Next(4) == 0)
            {
                node = node.Restart(random.Next(2) == 0 ? random.Next() : null);
            }

            node.SettleAll();
            for (int query = 0; query < 40; query++)
            {
                string text = DrawQuery(random);
                var walk = ForcedWalk.Any(random);
                using var grouped = new GroupExample(node, text) { Walk = walk };
                var expected = grouped.Scan();
                bool needsTotal = random.Next(4) > 0;
                var actual = grouped.Ask(needsTotal) ?? throw new InvalidOperationException($"{text} is not answered");
                Assert.True(
                    expected.Results.SequenceEqual(actual.Results, StringComparer.Ordinal)
                        && (expected.Total == actual.Total || !needsTotal),
                    $"seed {seed}, round {round}: {text}\nexpected {expected.Total}: "
                        + $"{string.Join(' ', expected.Results)}\nanswered {actual.Total}: "
                        + $"{string.Join(' ', actual.Results)} (only the page: {actual.ReadsOnlyPage})"
                );
                compared++;
                withResults += actual.Results.Count > 0 ? 1 : 0;
                onlyPage += actual.ReadsOnlyPage ? 1 : 0;
                walked += walk?.Completed ?? 0;
            }
        }

        // Otherwise the test would prove nothing. Ids of long keys do not determine the order of groups.
        Assert.InRange(withResults, compared / 2, compared);
        Assert.InRange(onlyPage, compared / (hasLongKeys ? 20 : 4), compared - (compared / 8));
        Assert.InRange(walked, hasLongKeys ? 1 : 20, int.MaxValue);
        node.Dispose();
    }

    private static void Define(IndexedNode node, string[] keys)
    {
        string query =
            $"from Users group by {string.Join(", ", keys)} select "
            + $"{string.Join(", ", Aggregates.Select(static (one, number) => $"{one} as x{number}"))}";
        var definition = AutoReduceDefinition.Of(
            "Users",
            CompiledQuery.Compile(RqlParser.Parse(query), QueryParameters.None).Groups!
        );
        node.ChangeIndexes(writer => writer.Put(definition.Name, definition.ToJson(), settings: default));
    }

    private static void Change(Random random, RandomQueries documents, bool hasLongKeys, IndexedNode node)
    {
        for (int change = random.Next(20); change >= 0; change--)
        {
            string id = $"users/{random.Next(40)}";
            if (random.Next(5) == 0)
            {
                node.Delete(id);
            }
            else
            {
                // The random documents have texts of 600 letters, which make keys long.
                string members = documents.Document()[1..^1];
                members = hasLongKeys
                    ? members
                    : members
                        .Replace(new string('x', 600), "", StringComparison.Ordinal)
                        .Replace(new string('X', 600), "", StringComparison.Ordinal);
                node.Put(
                    id,
                    $"{members}{(members.Length > 0 ? "," : "")}\"n\":{Numbers[random.Next(Numbers.Length)]}",
                    random.Next(8) == 0 ? "Others" : "Users"
                );
            }
        }
    }

    private static string DrawQuery(Random random)
    {
        string[] keys = [.. Groupings[random.Next(Groupings.Length)]];
        if (random.Next(3) == 0)
        {
            random.Shuffle(keys);
        }

        string[] computed =
        [
            .. Enumerable.Range(0, random.Next(4)).Select(_ => Aggregates[random.Next(Aggregates.Length)]),
        ];
        string[] plainKeys =
        [
            .. keys.Select(static key =>
                key.Replace("array(", "", StringComparison.Ordinal).Replace(")", "", StringComparison.Ordinal)
            ),
        ];
        string Field() =>
            random.Next(2) == 0 ? plainKeys[random.Next(keys.Length)] : Aggregates[random.Next(Aggregates.Length)];
        string Condition() =>
            random.Next(9) switch
            {
                0 => $"{Field()} > {random.Next(4)}",
                1 => $"{Field()} = 'a'",
                2 => $"not {Field()} = 1",
                3 => $"exact({Field()} = 'A')",
                4 => $"{Field()} in (1, 'ab', null)",
                5 => $"startsWith({Field()}, 'a')",
                6 => $"exists({Field()})",
                7 => "count() between 1 and 3",
                _ => $"{Field()} <= '2026-11-21'",
            };
        string where =
            random.Next(2) == 0
                ? ""
                : $" where {Condition()}"
                    + $"{(random.Next(2) == 0 ? "" : (random.Next(2) == 0 ? " and " : " or ") + Condition())}";
        string Order() =>
            random.Next(10) switch
            {
                0 => "random('seed')",
                1 => $"{Field()} as alphaNumeric",
                2 => $"{Field()} as double desc",
                3 => $"{Field()} as long",
                var any => $"{Field()}{(any % 2 == 0 ? " desc" : "")}",
            };
        string order =
            random.Next(3) == 0
                ? ""
                : $" order by {string.Join(", ", Enumerable.Range(0, random.Next(1, 3)).Select(_ => Order()))}";
        string filter = random.Next(8) == 0 ? $" filter {Condition()}" : "";
        string[] selected =
        [
            .. plainKeys.Select(static (key, number) => $"{key} as k{number}"),
            .. computed.Select(static (one, number) => $"{one} as x{number}"),
        ];
        string select =
            random.Next(6) == 0
                ? ""
                : $" select {(random.Next(8) == 0 ? "distinct " : "")}"
                    + $"{(random.Next(3) == 0 ? "key() as whole, " : "")}"
                    + $"{string.Join(", ", selected[random.Next(selected.Length)..])}";
        string page = random.Next(2) == 0 ? "" : $" limit {random.Next(4)}, {random.Next(8)}";
        return $"from Users group by {string.Join(", ", keys)}{where}{order}{filter}{select}{page}";
    }
}

/// <summary>One grouped query, answered by an index and by a scan.</summary>
internal sealed class GroupExample : IDisposable
{
    private const long PlentyBytes = 64 << 20;

    private readonly IndexedNode _node;
    private readonly CompiledQuery _plan;
    private readonly QueryMemory _memory = new(new MemoryBudget(PlentyBytes).AddShare("queries", PlentyBytes));

    public GroupExample(IndexedNode node, string query)
    {
        _node = node;
        _plan = CompiledQuery.Compile(RqlParser.Parse(query), QueryParameters.None);
    }

    /// <summary>Decides when a page is found by walking the terms of its order.</summary>
    public OrderWalk? Walk { get; init; }

    public GroupedQueries Queries => new(_node.Host) { OrderWalk = Walk };

    public CompiledQuery Plan => _plan;

    /// <summary>Returns the answer of a scan.</summary>
    public (List<string> Results, long Total) Scan()
    {
        byte[] history = Encoding.ASCII.GetBytes(_node.Database().HistoryId);
        using var run = _plan.Start(_memory, new PatientClock());
        using var reader = _node.Database().OpenReader();
        using var documents = reader.SeekByEtag(0);
        while (documents.MoveNext())
        {
            if (documents.View.Collection.SequenceEqual("Users"u8))
            {
                run.Add(new QueriedDocument(documents.View, documents.Etag, history));
            }
        }

        return Write(run.Finish());
    }

    /// <summary>Returns the answer of the index that the planner chooses; null if it chooses a scan.</summary>
    public (List<string> Results, long Total, bool ReadsOnlyPage)? Ask(bool needsTotal = true)
    {
        if (Queries.ChooseIndex(_node.Database(), _plan) is not { IndexName: { } name, IsBuilt: true })
        {
            return null;
        }

        using var answer = Queries.TryAnswer(_node.Database(), name, _plan, _memory, new PatientClock(), needsTotal);
        return answer is null
            ? null
            : (Write(answer.Results).Results, answer.Results.TotalResults, answer.ReadsOnlyPage);
    }

    public void Dispose() => Assert.Equal(0, _memory.HeldBytes);

    private static (List<string> Results, long Total) Write(ScanResults results)
    {
        var written = new List<string>();
        for (int group = 0; group < results.GroupCount; group++)
        {
            var output = new ArrayBufferWriter<byte>();
            results.WriteMembers(group, output);
            written.Add(Encoding.UTF8.GetString(output.WrittenSpan));
        }

        return (written, results.TotalResults);
    }

    private sealed class PatientClock : IWorkLimits
    {
        public void CheckLimits() { }
    }
}
