using System.Globalization;
using System.Text.Json;
using Rookery.Fixtures;
using Rookery.Indexing.Definitions;
using Rookery.Indexing.Indexes;

namespace Rookery.Indexing.Tests.Definitions;

/// <summary>
/// The rows of a map/reduce index depend only on the documents: not on the order of their changes, on earlier versions,
/// or on the pages of rows.
/// </summary>
[Trait("Effort", "Whole")]
public sealed class ReduceOrderTests
{
    private const string Map = "from u in docs.Users select new { u.k, u.a, u.b, u.d, u.tags }";

    /// <summary>Each reduce computes its result in a different way.</summary>
    [Theory]
    [InlineData("k: g.key, a: g.values.reduce((s, v) => s + v.a, 0), b: 0, d: null, tags: null")]
    [InlineData("k: g.key, a: g.values.reduce((s, v) => s + (v.a || 0), 0), b: g.values[0].b, d: '', tags: null")]
    [InlineData(
        "k: g.key, a: g.values[0].a, b: g.values.reduce((m, v) => Math.max(m, v.b), 0), d: "
            + "g.values[0].d, tags: g.values.flatMap(v => v.tags)"
    )]
    [InlineData(
        "k = g.Key, a = g.Sum(x => x.a), b = g.Sum(x => x.b), d = g.Max(x => x.d), tags = "
            + "g.SelectMany(x => x.tags).Distinct()"
    )]
    [InlineData(
        "k = g.Key, a = g.Sum(x => (decimal)x.a), b = g.Sum(x => (double)x.b), d = g.OrderBy(x => "
            + "x.d).First().d, tags = g.Last().tags"
    )]
    [InlineData("k = g.Key, a = g.First().a, b = g.Last().b, d = g.Min(x => x.d), tags = g.SelectMany(x => x.tags)")]
    [InlineData(
        "k = g.Key, a = g.OrderBy(x => x.d).Last().a, b = g.OrderByDescending(x => x.d).First().b, "
            + "d = g.Max(x => x.d), tags = 0"
    )]
    [InlineData(
        "k = g.Key, a = g.Max(x => x.a), b = g.Min(x => x.b), d = g.Select(x => "
            + "x.d).Distinct().First(), tags = g.SelectMany(x => x.tags).OrderBy(t => t).Take(3)"
    )]
    public void Rows_are_the_same_in_any_order_and_after_any_history(string members)
    {
        string reduce = members.StartsWith("k:", StringComparison.Ordinal)
            ? $"groupBy(r => r.k).aggregate(g => ({{ {members} }}))"
            : $"from r in results group r by r.k into g select new {{ {members} }}";
        foreach (int count in (int[])[1, 16, 17, 48, 150])
        {
            string? expected = null;
            for (int seed = 0; seed < 3; seed++)
            {
                var random = new Random(seed);
                using var node = IndexedNode.New();
                Define(node, reduce);
                int[] order = [.. Enumerable.Range(0, count)];
                random.Shuffle(order);

                // Some documents are deleted, some get their last content late, and indexing pauses in between.
                foreach (int number in order)
                {
                    node.Put($"users/{number}", MembersOf(seed % 2 == 0 ? number : number + 1));
                    node.Put($"users/x{number}", MembersOf(number + 7));
                    if (random.Next(20) == 0)
                    {
                        node.Settle();
                    }
                }

                node.SettleAll();
                random.Shuffle(order);
                foreach (int number in order)
                {
                    node.Delete($"users/x{number}");
                    node.Put($"users/{number}", MembersOf(number));
                }

                node.SettleAll();
                string rows = string.Join('\n', node.ReadRows("a"));
                Assert.Empty(node.Host.ReadErrors(node.Database(), "a"));
                expected ??= rows;
                Assert.Equal(expected, rows);
            }
        }
    }

    [Fact]
    public void A_stored_definition_with_an_ambiguous_result_is_reported_and_other_indexes_open()
    {
        const string Reduce = "groupBy(r => r.k).aggregate(g => ({ k: g.key, a: g.values.length }))";
        var node = IndexedNode.New();
        var counted = new StaticIndexDefinition(
            ["map('Users', u => ({ k: u.k, a: 1 }))"],
            Reduce,
            options: [],
            configuration: []
        );
        node.ChangeIndexes(writer => writer.Put("counted", counted.ToJson(), settings: default));
        Define(node, "groupBy(r => r.k).aggregate(g => ({ k: g.key, a: 1, b: g.values[0].b, d: 2, tags: 3 }))");
        node.Put("users/1", MembersOf(1));
        node.SettleAll();
        Assert.Single(node.ReadRows("a"));
        node = node.Restart();
        node.SettleAll();
        Assert.Single(node.ReadRows("a"));
        Assert.StartsWith(
            "The index counted of database shop is not maintained on this node: The member 'a' of the reduce "
                + "depends on",
            Assert.Single(node.Troubles),
            StringComparison.Ordinal
        );
        node.Dispose();
    }

    /// <summary>
    /// Opening an index tries its reduce for up to two seconds. This reduce would be rejected, so its index opens only
    /// if the server trusts the recorded trial.
    /// </summary>
    [Fact]
    public void A_server_version_that_has_tried_a_reduce_does_not_try_it_again()
    {
        const string Reduce = "groupBy(r => r.k).aggregate(g => ({ k: g.key, a: g.values.length }))";
        var counted = new StaticIndexDefinition(
            ["map('Users', u => ({ k: u.k, a: 1 }))"],
            Reduce,
            options: [],
            configuration: []
        );
        var node = IndexedNode.New();
        Define(node, "groupBy(r => r.k).aggregate(g => ({ k: g.key, a: 1, b: g.values[0].b, d: 2, tags: 3 }))");
        node.ChangeIndexes(writer => writer.Put("counted", counted.ToJson(), settings: default));
        node.SettleAll();
        Assert.Single(node.Troubles);
        const string Root = IndexedNode.Directory + "/indexes";
        var folders = new IndexFolders(node.Disk, Root);
        string path = Path.Combine(Root, node.Database().Number.ToString(CultureInfo.InvariantCulture), "2");
        Assert.True(folders.IsTried(node.Database().Number, 1, ReduceTrial.MarkOf(DefinitionOf(node, "a"))));
        node.Disk.CreateDirectory(path);
        folders.RecordTrial(path, ReduceTrial.MarkOf(counted.ToJson()));
        node = node.Restart();
        node.SettleAll();
        Assert.Empty(node.Troubles);
        folders.RecordTrial(path, ReduceTrial.MarkOf("another"u8));
        node = node.Restart();
        node.SettleAll();
        Assert.Single(node.Troubles);
        node.Dispose();
    }

    private static byte[] DefinitionOf(IndexedNode node, string index)
    {
        using var reader = node.Database().OpenReader();
        return reader.FindIndex(index)!.Definition.ToArray();
    }

    private static void Define(IndexedNode node, string reduce)
    {
        string definition = JsonSerializer.Serialize(
            new
            {
                Name = "a",
                Maps = new[] { Map },
                Reduce = reduce,
            }
        );
        using var json = JsonDocument.Parse(definition);
        var request = StaticIndexRequest.Parse(json.RootElement);
        node.ChangeIndexes(writer => writer.Put(request.Name, request.Definition.ToJson(), settings: default));
    }

    /// <summary>
    /// Returns values that are equal but written differently, values that doubles cannot hold, and dates with offsets.
    /// </summary>
    private static string MembersOf(int number)
    {
        string[] amounts = ["0.1", "0.7", "1", "1.0", "10e-1", "9007199254740993", "2.30"];
        string[] dates =
        [
            "2024-05-06T10:00:00Z",
            "2024-05-06T12:00:00+02:00",
            "2024-05-06T09:00:00-01:00",
            "2024-05-05",
            "2024-05-05T00:00:00",
        ];
        return $"\"k\":{(number % 5 == 0 ? "1" : "1.0")},\"a\":{amounts[number % 7]},\"b\":{amounts[number * 3 % 5]}"
            + $",\"d\":\"{dates[number % 5]}\",\"tags\":[\"t{number * 7 % 11}\",\"t{number % 3}\"]";
    }
}
