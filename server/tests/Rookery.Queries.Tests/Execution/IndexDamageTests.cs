using System.Text.Json;
using Rookery.Fixtures;
using Rookery.Indexing.Definitions;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Queries.Execution;
using Rookery.Queries.FullText;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;
using Rookery.Simulation;

namespace Rookery.Queries.Tests.Execution;

/// <summary>
/// Damage that is found while an answer is written starts a rebuild of the index, as damage found by a search does.
/// </summary>
public sealed class IndexDamageTests : IDisposable
{
    private const string Names = "Users/Names";
    private readonly IndexedNode _node = IndexedNode.New(cacheBytes: 0);
    private readonly QueryMemory _memory = new(new MemoryBudget(64 << 20).AddShare("queries", limitBytes: 64 << 20));

    public IndexDamageTests()
    {
        using var definition = JsonDocument.Parse(
            """{"Name":"Users/Names","Maps":["from u in docs.Users select new { u.name }"],"Fields":{"name":{"Storage":"Yes"}}}"""
        );
        _node.ChangeIndexes(writer =>
            writer.Put(Names, StaticIndexRequest.Parse(definition.RootElement).Definition.ToJson(), settings: default)
        );
        for (int i = 0; i < 50; i++)
        {
            _node.Put($"users/{i}", $"\"name\":\"n{i}\"");
        }

        _node.SettleAll();
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Damage_found_while_reading_results_starts_a_rebuild(bool isOfRows)
    {
        using (var answer = Search())
        {
            Assert.Equal(50, answer.TotalResults);
            BreakSegments();
            var refusal = Assert.Throws<IndexDamagedException>(() =>
                isOfRows ? answer.ReadRow(0).Length : answer.Documents[0].Id.Length
            );
            Assert.Contains("'Users/Names' turned out to be damaged", refusal.Message, StringComparison.Ordinal);
        }

        AssertRebuilt();
    }

    [Fact]
    public void Damage_found_while_listing_terms_starts_a_rebuild()
    {
        BreakSegments();
        Assert.Throws<IndexDamagedException>(() =>
        {
            using var terms = new IndexedQueries(_node.Host).OpenTerms(
                _node.Database(),
                Names,
                ofReplacement: false,
                "name"
            );
            return terms!.Read(after: null, count: 10);
        });
        AssertRebuilt();
    }

    [Fact]
    public void An_unreadable_page_found_by_a_search_starts_a_rebuild()
    {
        BreakSegments();
        Assert.Null(TrySearch());
        AssertRebuilt();
    }

    public void Dispose() => _node.Dispose();

    /// <summary>Lets all reads of the index's segments fail from now on.</summary>
    private void BreakSegments() =>
        _node.Disk.Inject(
            new DiskFault(AtCall: 1, Errno.InputOutput)
            {
                Calls = DiskCalls.Read,
                PathContains = "/segment-",
                Sticky = true,
            }
        );

    /// <summary>Fails unless the index is rebuilt and answers again, and the queries hold no memory.</summary>
    private void AssertRebuilt()
    {
        Assert.True(_node.Serving(Names).IsResetRequested);
        _node.Disk.ClearFaults();
        _node.SettleAll();
        using (var answer = Search())
        {
            Assert.Equal("\"name\":\"n0\"", System.Text.Encoding.UTF8.GetString(answer.ReadRow(0)));
        }

        Assert.Equal(0, _memory.HeldBytes);
    }

    private IndexAnswer Search() => TrySearch() ?? throw new InvalidOperationException("The index does not answer.");

    private IndexAnswer? TrySearch()
    {
        var queries = new IndexedQueries(_node.Host);
        var rows = queries.FindRowSource(_node.Database(), Names)!;

        // An order without ranks; otherwise the ids of few results are read during the search.
        var query = RqlParser.Parse("from @all_docs where startsWith(name, 'n') order by name as string select name");
        return queries.TryAnswer(
            _node.Database(),
            Names,
            CompiledQuery.Compile(query, QueryParameters.None, new FullTextConditions(rows.AnalyzerOf), rows),
            _memory,
            new PatientClock()
        );
    }

    private sealed class PatientClock : IWorkLimits
    {
        public void CheckLimits() { }
    }
}
