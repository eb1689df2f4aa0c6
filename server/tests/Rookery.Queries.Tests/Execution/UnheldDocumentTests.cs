using Rookery.Fixtures;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Queries.Execution;
using Rookery.Queries.FullText;
using Rookery.Queries.Language;
using Rookery.Queries.Planning;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Tests.Execution;

/// <summary>Automatic indexes with documents that have more values than an index holds of one document.</summary>
public sealed class UnheldDocumentTests
{
    // More than the 131,072 values that an index holds of a document.
    private const int ManyValues = 132_000;

    private static readonly AutoIndexDefinition ByValuesAndKind = new(
        "Users",
        [
            new AutoIndexField(["a"], AutoIndexFieldUses.None),
            new AutoIndexField(["k"], AutoIndexFieldUses.None),
            new AutoIndexField(["t"], AutoIndexFieldUses.Search),
        ]
    );

    private static readonly string Words = string.Join(' ', Enumerable.Repeat("w", ManyValues));
    private static readonly string Values = string.Join(',', Enumerable.Repeat("1", ManyValues));

    /// <summary>An earlier version answered without the document, also for fields of which it has one value.</summary>
    [Theory]
    [InlineData("k = 1", false)]
    [InlineData("k = 1", true)]
    [InlineData("exists(k)", false)]
    [InlineData("a[] = 1", false)]
    [InlineData("search(t, 'w')", true)]
    public void An_index_does_not_answer_while_it_could_not_hold_a_document(string condition, bool hasManyWords)
    {
        var node = IndexedNode.New();
        node.Define(ByValuesAndKind.Name, ByValuesAndKind);
        node.Put("users/1", "\"k\":1,\"a\":[1],\"t\":\"w\"");
        node.SettleAll();
        Assert.Equal(1, CountResults(node, condition));

        node.Put(
            "users/2",
            $"\"k\":1,\"a\":[{(hasManyWords ? "1" : Values)}],\"t\":\"{(hasManyWords ? Words : "w")}\""
        );
        node.SettleAll();
        Assert.Null(CountResults(node, condition));
        Assert.Single(node.Host.ReadErrors(node.Database(), ByValuesAndKind.Name));

        node = node.Restart();
        node.SettleAll();
        Assert.Null(CountResults(node, condition));
        var choice = Choose(node, condition);
        Assert.Null(choice.IndexName);
        Assert.Equal(ByValuesAndKind.Name, choice.UnheldIndex);
        Assert.Contains("more values than the index 'Auto/Users/", choice.Reasons[^1].Text, StringComparison.Ordinal);

        node.Put("users/2", "\"k\":1,\"a\":[1],\"t\":\"w\"");
        node.SettleAll();
        Assert.Equal(2, CountResults(node, condition));
        Assert.NotNull(Choose(node, condition).IndexName);
        node.Dispose();
    }

    /// <summary>Returns the number of results of the index; null if it does not answer.</summary>
    private static long? CountResults(IndexedNode node, string condition)
    {
        var share = new MemoryBudget(64 << 20).AddShare("queries", limitBytes: 64 << 20);
        using var answer = new IndexedQueries(node.Host).TryAnswer(
            node.Database(),
            ByValuesAndKind.Name,
            Compile(condition),
            new QueryMemory(share),
            new PatientClock()
        );
        return answer?.TotalResults;
    }

    private static IndexChoice Choose(IndexedNode node, string condition) =>
        new IndexedQueries(node.Host).ChooseIndex(
            node.Database(),
            RqlParser.Parse($"from Users where {condition}"),
            Compile(condition).Target,
            explains: true
        );

    private static CompiledQuery Compile(string condition) =>
        CompiledQuery.Compile(
            RqlParser.Parse($"from Users where {condition}"),
            QueryParameters.None,
            new FullTextConditions(static _ => IndexedQueries.Analyzer)
        );

    private sealed class PatientClock : IWorkLimits
    {
        public void CheckLimits() { }
    }
}
