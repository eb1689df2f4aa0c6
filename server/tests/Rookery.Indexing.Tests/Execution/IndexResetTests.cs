using Rookery.Indexing.Automatic;
using Rookery.Indexing.Tests.Indexes;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Queries.Execution;
using Rookery.Queries.FullText;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;

namespace Rookery.Indexing.Tests.Execution;

public sealed class IndexResetTests
{
    private static readonly AutoIndexDefinition ByName = new(
        "Users",
        [new AutoIndexField(["name"], AutoIndexFieldUses.None)]
    );

    [Fact]
    public void An_index_that_was_reset_after_the_wait_does_not_answer()
    {
        using var node = IndexedNode.New();
        node.Define(ByName.Name, ByName);
        for (int i = 0; i < 30; i++)
        {
            node.Put($"users/{i}", "\"name\":\"ann\"");
        }

        node.SettleAll();
        long reached = node.Serving(ByName.Name).VisibleEtag;
        Assert.Equal(30, Ask(node, reached));
        Assert.True(node.Host.Reset(node.Database(), ByName.Name));
        node.Host.Follow();
        Assert.Null(Ask(node, reached));
        Assert.Equal(0, Ask(node, 0));
        node.SettleAll();
        Assert.Equal(30, Ask(node, reached));
    }

    private static long? Ask(IndexedNode node, long atLeast)
    {
        var share = new MemoryBudget(64 << 20).AddShare("queries", 64 << 20);
        var plan = CompiledQuery.Compile(
            RqlParser.Parse("from Users where name = 'ann'"),
            QueryParameters.None,
            new FullTextConditions(static _ => IndexedQueries.Analyzer)
        );
        using var answer = new IndexedQueries(node.Host).TryAnswer(
            node.Database(),
            ByName.Name,
            plan,
            new QueryMemory(share),
            new PatientClock(),
            atLeast: atLeast
        );
        return answer?.TotalResults;
    }

    private sealed class PatientClock : IScanClock
    {
        public void OnWork() { }
    }
}
