using System.Text.Json;
using Rookery.Fixtures;
using Rookery.Indexing.Automatic;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Tests.Answering;

/// <summary>
/// A writer moves accounts to other ids and groups, and amounts between accounts, each in one transaction. After each
/// transaction, each owner has one account, and the amounts sum up to the same total. So this must hold in every
/// answer that is not stale.
/// </summary>
public sealed class OneSnapshotModelTests
{
    private const int Owners = 12;
    private const int Groups = 3;
    private const int Total = Owners * 100;
    private const string EveryTermCounts = """{"MinimumTermFrequency":1,"MinimumDocumentFrequency":1}""";
    private static readonly TimeSpan Wait = TimeSpan.FromHours(1);

    private static readonly AutoIndexDefinition ByOwner = new(
        "Accounts",
        [
            new AutoIndexField(["amount"], AutoIndexFieldUses.None),
            new AutoIndexField(["owner"], AutoIndexFieldUses.None),
        ]
    );

    private readonly int[] _ids = [.. Enumerable.Range(0, Owners)];
    private readonly int[] _groups = [.. Enumerable.Range(0, Owners).Select(static owner => owner % Groups)];
    private readonly int[] _amounts = [.. Enumerable.Repeat(Total / Owners, Owners)];
    private readonly Lock _gate = new();
    private int _nextId = Owners;

    public static TheoryData<string> Queries { get; } =
        new()
        {
            "from Accounts where owner >= 0",
            "from Accounts where owner >= 0 and amount > -100000 order by amount as long desc",
            "from Accounts where owner >= 0 order by owner as long limit 5 offset 4",
            "from Accounts where owner >= 0 select owner, amount",
            "from Accounts group by g select g, sum(amount) as amount, count() as count",
            "from index 'Totals'",
            "from index 'Rows' where owner >= 0",
            "from index 'Rows' where owner >= 0 select owner, amount, loaded",
            "from index 'Rows' where owner >= 0 order by owner as long limit 5 offset 4",
            "from index 'Rows' select facet(g, sum(amount))",
            $"from index 'Rows' where moreLikeThis(owner = 3, '{EveryTermCounts}')",
        };

    [Theory]
    [MemberData(nameof(Queries))]
    public async Task An_answer_that_is_not_stale_reads_one_snapshot_while_documents_change(string query)
    {
        var random = new Random(query.Length);
        var node = IndexedNode.New(
            IndexedNode.SmallSteps with
            {
                DocumentsPerStep = 1 + random.Next(3),
                MinPendingBytes = random.Next(2) == 0 ? 1 : 1 << 10,
            }
        );
        node.Transact([.. Enumerable.Range(0, Owners).SelectMany(Written)]);
        Define(node);
        node.SettleAll();
        var queries = new QueriedNode(node, Act);
        for (int round = 0; round < 50; round++)
        {
            if (round % 20 == 19)
            {
                node = node.Restart(random.Next(2) == 0 ? random.Next() : null);
                node.Follow();
                queries = new QueriedNode(node, Act);
            }

            var asking = queries.AskAsync(query, Wait);
            while (!asking.IsCompleted)
            {
                Act();
                await Task.Yield();
            }

            var (isStale, rows) = await asking;
            Assert.False(isStale);
            Check(query, rows);

            // Sometimes nothing changes for so long that the node releases the snapshot that the index reflects.
            if (random.Next(4) == 0)
            {
                node.SettleAll();
                node.Time.Advance(TimeSpan.FromSeconds(11));
                node.Settle();
            }
        }

        node.Dispose();

        void Act()
        {
            lock (_gate)
            {
                for (int work = random.Next(4); work > 0; work--)
                {
                    if (random.Next(3) == 0)
                    {
                        Change(node, random);
                    }

                    node.Step();
                    node.Time.Advance(TimeSpan.FromMilliseconds(random.Next(100)));
                }
            }
        }
    }

    private void Change(IndexedNode node, Random random)
    {
        int from = random.Next(Owners);
        int to = (from + 1 + random.Next(Owners - 1)) % Owners;
        int before = _ids[from];
        int amount = random.Next(50);
        switch (random.Next(3))
        {
            case 0:
                _ids[from] = _nextId++;
                break;
            case 1:
                _groups[from] = random.Next(Groups);
                break;
            default:
                break;
        }

        (_amounts[from], _amounts[to]) = (_amounts[from] - amount, _amounts[to] + amount);
        node.Transact([
            .. Written(from),
            .. before == _ids[from] ? [] : ((string, string?, string)[])[($"accounts/{before}", null, "Accounts")],
            .. Written(to),
        ]);
    }

    private (string Id, string? Members, string Collection)[] Written(int owner) =>
        [
            (
                $"accounts/{_ids[owner]}",
                $"\"owner\":{owner},\"g\":\"g{_groups[owner]}\",\"amount\":{_amounts[owner]},\"words\":\"of the bank\","
                    + $"\"peer\":\"copies/{owner}\"",
                "Accounts"
            ),
            ($"copies/{owner}", $"\"amount\":{_amounts[owner]}", "Copies"),
        ];

    private static void Define(IndexedNode node)
    {
        node.Define(ByOwner.Name, ByOwner);
        var groups = AutoReduceDefinition.Of(
            "Accounts",
            CompiledQuery
                .Compile(
                    RqlParser.Parse("from Accounts group by g select g, sum(amount) as amount, count() as count"),
                    QueryParameters.None
                )
                .Groups!
        );
        node.ChangeIndexes(writer => writer.Put(groups.Name, groups.ToJson(), settings: default));
        node.Define(
            """
            {"Maps":["map('Accounts', a => ({ g: a.g, amount: a.amount, count: 1 }))"],
             "Reduce":"groupBy(x => x.g).aggregate(g => ({ g: g.key, amount: g.values.reduce((t, x) => t + x.amount, 0), count: g.values.reduce((t, x) => t + x.count, 0) }))"}
            """,
            "Totals"
        );
        node.Define(
            """
            {"Maps":["map('Accounts', a => ({ owner: a.owner, g: a.g, amount: a.amount, words: a.words, loaded: load(a.peer, 'Copies').amount }))"],
             "Fields":{"words":{"Indexing":"Search"},"loaded":{"Storage":"Yes"}}}
            """,
            "Rows"
        );
    }

    private static void Check(string query, JsonElement[] rows)
    {
        if (query.Contains("facet", StringComparison.Ordinal))
        {
            var values = Assert.Single(rows).GetProperty("Values").EnumerateArray().ToList();
            Assert.Equal(Owners, values.Sum(static value => value.GetProperty("Count").GetInt32()));
            Assert.Equal(Total, values.Sum(static value => value.GetProperty("Sum").GetInt32()));
        }
        else if (
            query.Contains("group by", StringComparison.Ordinal) || query.Contains("Totals", StringComparison.Ordinal)
        )
        {
            Assert.Equal(Owners, rows.Sum(static row => row.GetProperty("count").GetInt32()));
            Assert.Equal(Total, SumOf(rows));
        }
        else
        {
            var owners = rows.Select(static row => row.GetProperty("owner").GetInt32()).ToList();
            if (query.Contains("offset 4", StringComparison.Ordinal))
            {
                Assert.Equal(Enumerable.Range(4, 5), owners);
                return;
            }

            if (query.Contains("moreLikeThis", StringComparison.Ordinal))
            {
                Assert.Equal(Enumerable.Range(0, Owners).Where(static owner => owner != 3), owners.Order());
                return;
            }

            Assert.Equal(Enumerable.Range(0, Owners), owners.Order());
            Assert.Equal(Total, SumOf(rows));
            if (query.Contains("order by", StringComparison.Ordinal))
            {
                var amounts = rows.Select(static row => row.GetProperty("amount").GetInt32()).ToList();
                Assert.Equal(amounts.OrderDescending(), amounts);
            }

            foreach (var row in rows.Where(static row => row.TryGetProperty("loaded", out _)))
            {
                Assert.Equal(row.GetProperty("amount").GetInt32(), row.GetProperty("loaded").GetInt32());
            }
        }
    }

    private static int SumOf(JsonElement[] rows) => rows.Sum(static row => row.GetProperty("amount").GetInt32());
}
