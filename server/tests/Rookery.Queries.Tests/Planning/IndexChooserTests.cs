using Rookery.Indexing.Automatic;
using Rookery.Indexing.Mapping;
using Rookery.Queries.Conditions;
using Rookery.Queries.Execution;
using Rookery.Queries.FullText;
using Rookery.Queries.Language;
using Rookery.Queries.Planning;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Tests.Planning;

/// <summary>Whether a query is answered by an existing index, a new one or a scan of documents.</summary>
public sealed class IndexChooserTests
{
    [Theory]
    [InlineData("from Users where id() = 'users/1' and name = 'ann'", "names ids")]
    [InlineData("from Users where startsWith(id(), 'users/') and name = 'ann'", "a prefix of ids")]
    [InlineData("from Users", "neither conditions")]
    [InlineData("from Users filter name = 'ann'", "neither conditions")]
    [InlineData("from Users order by random()", "neither conditions")]
    [InlineData("from Users group by name select count()", "groups")]
    public void Documents_are_scanned_if_that_is_cheaper_or_no_index_helps(string query, string reason)
    {
        var route = Plan(query, documents: 1_000_000);
        Assert.Null(route.IndexName);
        Assert.Contains(reason, Assert.Single(route.Reasons).Text, StringComparison.Ordinal);
    }

    [Fact]
    public void A_query_of_too_many_fields_creates_no_index()
    {
        string condition = string.Join(
            " or ",
            Enumerable.Range(0, IndexChooser.MaxFields + 1).Select(static number => $"f{number} = 1")
        );
        Assert.Null(Plan($"from Users where {condition}", documents: 1_000_000).IndexName);
    }

    [Theory]
    [InlineData(0, "Documents are scanned until the new index is built: there are only 0.")]
    [InlineData(IndexChooser.FewDocuments, "Documents are scanned until the new index is built: there are only 256.")]
    [InlineData(IndexChooser.FewDocuments + 1, "Will be created for the query.")]
    public void An_index_is_created_for_any_number_of_documents(long documents, string reason)
    {
        var route = Plan("from Users where name = 'ann'", documents);
        Assert.Equal("Auto/Users/Byname", route.IndexName);
        Assert.Equal(route.IndexName, route.ToDefine?.Name);
        Assert.False(route.IsBuilt);
        var chosen = Assert.Single(route.Reasons, static one => one.IsChosen);
        Assert.Contains(reason, chosen.Text, StringComparison.Ordinal);
    }

    [Fact]
    public void Scores_need_an_index_even_of_few_documents()
    {
        var route = Plan("from Users where search(bio, 'fish')", documents: 1);
        Assert.Equal("Auto/Users/BySearch(bio)", route.IndexName);
        Assert.True(route.IsScanExpensive);
    }

    [Theory]
    [InlineData(0, IndexState.Normal, false)]
    [InlineData(7, IndexState.Normal, true)]
    [InlineData(7, IndexState.Paused, true)]
    public void An_existing_index_answers_once_it_is_built(long visibleEtag, IndexState state, bool isBuilt)
    {
        var definition = new AutoIndexDefinition(
            "Users",
            [
                new AutoIndexField(["name"], AutoIndexFieldUses.None),
                new AutoIndexField(["age"], AutoIndexFieldUses.None),
            ]
        );
        var route = Plan(
            "from users where name = 'ann' order by age",
            documents: 3,
            new AutoCandidate<AutoIndexDefinition>(definition.Name, definition, state, visibleEtag)
        );
        Assert.Equal(
            (definition.Name, (AutoIndexDefinition?)null, isBuilt),
            (route.IndexName, route.ToDefine, route.IsBuilt)
        );
        Assert.NotEmpty(route.Reasons);
    }

    [Theory]
    [InlineData("from Users where name = 'ann'")]
    [InlineData("from Users where id() = 'users/1'")]
    [InlineData("from Users where age = 1 order by name")]
    public void Reasons_are_written_only_on_request(string text)
    {
        AutoCandidate<AutoIndexDefinition>[] candidates =
        [
            .. Enumerable
                .Range(0, 40)
                .Select(static i => new AutoIndexDefinition(
                    "Users",
                    [new AutoIndexField([$"f{i}"], AutoIndexFieldUses.None)]
                ))
                .Select(static one => new AutoCandidate<AutoIndexDefinition>(one.Name, one, IndexState.Normal, 5)),
        ];
        var query = RqlParser.Parse(text);
        using var words = new FullTextConditions(static _ => IndexedQueries.Analyzer);
        var target = CompiledQuery.Compile(query, QueryParameters.None, words).Target;
        var explained = IndexChooser.Choose(query, target, static () => 1_000, candidates, explains: true);
        var unexplained = IndexChooser.Choose(query, target, static () => 1_000, candidates, explains: false);
        Assert.NotEmpty(explained.Reasons);
        Assert.Empty(unexplained.Reasons);
        Assert.Equal((explained.IndexName, explained.IsBuilt), (unexplained.IndexName, unexplained.IsBuilt));
    }

    private static IndexChoice Plan(string text, long documents, params AutoCandidate<AutoIndexDefinition>[] candidates)
    {
        var query = RqlParser.Parse(text);
        using var words = new FullTextConditions(static _ => IndexedQueries.Analyzer);
        return IndexChooser.Choose(
            query,
            CompiledQuery.Compile(query, QueryParameters.None, words).Target,
            () => documents,
            candidates,
            explains: true
        );
    }
}
