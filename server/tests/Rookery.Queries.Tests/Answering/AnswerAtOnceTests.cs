using Rookery.Fixtures;
using Rookery.Queries.Language;

namespace Rookery.Queries.Tests.Answering;

/// <summary>Queries that the fast path answers, because they need no wait.</summary>
public sealed class AnswerAtOnceTests
{
    [Fact]
    public async Task The_words_of_a_model_take_memory_of_a_query_that_is_answered_at_once()
    {
        const int Words = 10_000,
            BytesPerWord = 100;
        using var node = IndexedNode.New();
        node.Define(
            """{"Maps":["map('Users', u => ({ title: u.title }))"],"Fields":{"title":{"Indexing":"Search"}}}""",
            "Titles"
        );
        node.Put("users/1", "\"title\":\"word1\"");
        node.SettleAll();
        string text = string.Join(' ', Enumerable.Range(0, Words).Select(static number => $"word{number}"));
        string query =
            $$"""from index 'Titles' where moreLikeThis('{"title":"{{text}}"}', '{"MinimumTermFrequency":1,"MinimumDocumentFrequency":1,"MaximumNumberOfTokensParsed":100000}')""";
        Assert.True(await new QueriedNode(node, static () => { }).AskAtOnceAsync(query));
        var small = new QueriedNode(node, static () => { }, memoryBytes: Words * BytesPerWord);
        var refused = await Assert.ThrowsAsync<QueryException>(() => small.AskAtOnceAsync(query));
        Assert.Equal(QueryFault.TooCostly, refused.Fault);
    }
}
