using System.Text;
using Rookery.Documents.Indexes;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Mapping;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;
using Rookery.Queries.Planning;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Tests.Planning;

/// <summary>Automatic indexes of grouped queries: their names, their format, and which one answers a query.</summary>
public sealed class AutoReduceDefinitionTests
{
    [Theory]
    [InlineData(
        "from Orders group by company select company, count(), sum(total)",
        "Auto/Orders/ByCountAndtotalReducedBycompany"
    )]
    [InlineData(
        "from Orders group by company, address.city where sum(total) > 1 order by count()",
        "Auto/Orders/ByCountAndtotalReducedByaddress_cityAndcompany"
    )]
    [InlineData(
        "from Orders group by lines[].product, company select key(), sum(lines[].q) as q",
        "Auto/Orders/Bylines_qReducedBycompanyAndlines[]_product"
    )]
    [InlineData("from Orders group by tags[] select key()", "Auto/Orders/ReducedBytags[]")]
    [InlineData(
        "from Orders group by array(tags) select min(total) as a, avg(total) as b, sum(count) as c, count()",
        "Auto/Orders/ByAverage(total)AndCountAndMin(total)AndSum(count)ReducedBytags"
    )]
    [InlineData("from @all_docs group by type select count()", "Auto/AllDocs/ByCountReducedBytype")]
    public void The_name_of_an_index_shows_its_keys_and_aggregates(string query, string name) =>
        Assert.Equal(name, DefinitionOf(query).Name);

    [Fact]
    public void A_name_is_short_and_valid_for_any_names_of_fields()
    {
        var many = DefinitionOf(
            $"from Users group by {string.Join(", ", Enumerable.Range(0, 60).Select(static i => $"field{i}"))}"
        );
        var others = DefinitionOf(
            $"from Users group by {string.Join(", ", Enumerable.Range(0, 60).Select(static i => $"other{i}"))}"
        );
        Assert.NotEqual(many.Name, others.Name);
        Assert.All(
            [many, others, DefinitionOf("from Users group by 'a\\nb'")],
            static definition => Assert.Null(IndexRecord.NameProblem(definition.Name))
        );
    }

    /// <summary>Definitions are stored in logs and backups, so this form must stay readable.</summary>
    [Fact]
    public void The_format_is_stable_and_independent_of_the_order_of_keys_and_aggregates()
    {
        const string Json =
            """{"Type":"AutoMapReduce","Collection":"Orders","Array":["lines"],"Keys":[{"Path":["company"],"OfElement":false},{"Path":["lines","product"],"OfElement":true}],"Aggregates":[{"Kind":"Average","Path":["total"]},{"Kind":"Count","Path":[]},{"Kind":"Max","Path":["lines","q"]},{"Kind":"Min","Path":["lines","q"]},{"Kind":"Sum","Path":["total"]}]}""";
        foreach (
            string query in (string[])
                [
                    "from Orders group by company, lines[].product select count(), sum(total) as s, avg(total) "
                        + "as a, min(lines[].q) as b, max(lines.q) as c",
                    "from Orders group by lines[].product, company, company select max(lines[].q) as a, "
                        + "sum(total) as s, count(), min(lines[].q) as b, avg(total) as c, sum(total) as again",
                ]
        )
        {
            Assert.Equal(Json, Encoding.UTF8.GetString(DefinitionOf(query).ToJson()));
        }

        Assert.Equal(
            Json,
            Encoding.UTF8.GetString(AutoReduceDefinition.TryRead(Encoding.UTF8.GetBytes(Json))!.ToJson())
        );
        Assert.Null(AutoIndexDefinition.TryRead(Encoding.UTF8.GetBytes(Json)));
        Assert.Null(AutoReduceDefinition.TryRead("""{"Type":"AutoMap","Collection":null,"Fields":[]}"""u8.ToArray()));
    }

    [Theory]
    [InlineData("""{"Type":"AutoMapReduce","Collection":null,"Keys":[],"Aggregates":[]}""")]
    [InlineData(
        """{"Type":"AutoMapReduce","Collection":null,"Keys":[{"Path":["a"],"OfElement":true}],"Aggregates":[]}"""
    )]
    [InlineData(
        """{"Type":"AutoMapReduce","Collection":null,"Keys":[{"Path":["a"],"OfElement":false}],"Aggregates":[{"Kind":"Median","Path":["a"]}]}"""
    )]
    [InlineData(
        """{"Type":"AutoMapReduce","Collection":null,"Keys":[{"Path":["a"],"OfElement":false}],"Aggregates":[{"Kind":"Sum","Path":[]}]}"""
    )]
    public void A_definition_of_a_newer_version_is_refused(string json) =>
        Assert.Contains(
            "newer",
            Assert
                .Throws<IndexDefinitionException>(() => AutoReduceDefinition.TryRead(Encoding.UTF8.GetBytes(json)))
                .Message,
            StringComparison.Ordinal
        );

    [Fact]
    public void An_index_with_more_aggregates_of_the_same_groups_answers()
    {
        var wide = DefinitionOf("from Orders group by a, b select count(), sum(n)");
        Assert.True(wide.Covers(DefinitionOf("from orders group by b, a select sum(n)")));
        Assert.False(wide.Covers(DefinitionOf("from Orders group by a, b select max(n)")));
        Assert.False(wide.Covers(DefinitionOf("from Orders group by a select count()")));
        Assert.False(wide.Covers(DefinitionOf("from Others group by a, b select count()")));
        Assert.False(
            DefinitionOf("from Orders group by a[] select count()")
                .Covers(DefinitionOf("from Orders group by a select count()"))
        );
        Assert.False(
            DefinitionOf("from Orders group by a[], l.b").Covers(DefinitionOf("from Orders group by a, l[].b"))
        );
    }

    [Fact]
    public void An_index_with_all_aggregates_is_used_or_another_one_is_widened_or_created()
    {
        var count = Candidate("from Orders group by a select count()", visible: 90);
        var wide = Candidate("from Orders group by a select count(), sum(n)", visible: 90);
        var other = Candidate("from Orders group by b select count()", visible: 99);
        Assert.Equal((count.Name, null), Choose("from Orders group by a select count()", wide, count, other));
        Assert.Equal(
            (wide.Name, null),
            Choose("from Orders group by a select count()", wide with { VisibleEtag = 91 }, count, other)
        );
        Assert.Equal(
            (count.Name, null),
            Choose(
                "from Orders group by a select count()",
                wide with
                {
                    VisibleEtag = 91,
                    State = IndexState.Error,
                },
                count
            )
        );
        Assert.Equal(
            ("Auto/Orders/ByCountAndMin(n)ReducedBya", "Auto/Orders/ByCountAndMin(n)ReducedBya"),
            Choose("from Orders group by a select min(n)", count, other)
        );
        Assert.Equal(
            ("Auto/Orders/BynReducedBya", "Auto/Orders/BynReducedBya"),
            Choose("from Orders group by a select sum(n)", other, count with { State = IndexState.Paused })
        );

        // The index of the key A would have the same name as that of the key a.
        Assert.Equal((null, null), Choose("from Orders group by A select count()", count));
    }

    [Fact]
    public void A_count_and_the_sum_of_a_field_named_count_have_different_indexes()
    {
        const string Count = "from Orders group by a select count()";
        const string Sum = "from Orders group by a select sum(count)";
        Assert.Equal(
            ("Auto/Orders/BySum(count)ReducedBya", "Auto/Orders/BySum(count)ReducedBya"),
            Choose(Sum, Candidate(Count, visible: 90) with { State = IndexState.Disabled })
        );
        Assert.Equal(
            ("Auto/Orders/ByCountReducedBya", "Auto/Orders/ByCountReducedBya"),
            Choose(Count, Candidate(Sum, visible: 90) with { State = IndexState.Disabled })
        );
    }

    /// <summary>
    /// Earlier versions gave an index another name: they capitalized the fields in it, and sorted them in that form.
    /// </summary>
    [Theory]
    [InlineData(IndexState.Normal)]
    [InlineData(IndexState.Paused)]
    [InlineData(IndexState.Disabled)]
    [InlineData(IndexState.Error)]
    public void An_index_with_another_name_and_all_that_the_query_needs_is_not_defined_twice(IndexState state)
    {
        const string Query = "from Users group by city select city, count(), sum(age)";
        const string OldName = "Auto/Users/ByAgeAndCountReducedByCity";
        var old = Candidate(Query, visible: 90) with { Name = OldName, State = state };
        Assert.Equal((OldName, null), Choose(Query, old));
        Assert.DoesNotContain(
            AutoReduceChoice.For(DefinitionOf(Query), [old]).Reasons,
            static reason => reason.Text.Contains("Will be created", StringComparison.Ordinal)
        );

        // The index with the aggregates of both would have the content of the old index.
        var count = Candidate("from Users group by city select count()", visible: 90);
        Assert.Equal((OldName, null), Choose("from Users group by city select sum(age)", count, old));
    }

    [Fact]
    public void The_aggregates_of_an_index_fit_into_its_rows()
    {
        string many = string.Join(
            ", ",
            Enumerable.Range(0, AutoReduceChoice.MaxFields - 1).Select(static i => $"sum(f{i}) as f{i}")
        );
        var widest = Candidate($"from Orders group by a select {many}", visible: 5);
        Assert.Equal("Auto/Orders/ByCountReducedBya", Choose("from Orders group by a select count()", widest).Name);
        Assert.Equal(widest.Name, Route($"from Orders group by a select {many}", documents: 1000).IndexName);
        Assert.Contains(
            "17 keys and aggregates",
            Route($"from Orders group by a select {many}, count()", documents: 1000).Reasons.Single().Text,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void A_definition_that_is_too_long_to_be_stored_is_neither_made_nor_merged()
    {
        string half = new('é', IndexRecord.MaxDefinitionBytes / 12); // JSON has six bytes for this letter
        var route = Route($"from Orders group by a select sum({half}{half})", documents: 1000);
        Assert.Null(route.IndexName);
        Assert.Null(route.ToDefine);
        string needed = $"from Orders group by a select sum(a{half})";
        var (name, definition) = Choose(needed, Candidate($"from Orders group by a select sum(b{half})", visible: 5));
        Assert.Equal((DefinitionOf(needed).Name, name), (name, definition));
    }

    [Fact]
    public void An_index_with_fewer_aggregates_is_superfluous_once_the_other_has_caught_up()
    {
        var count = Candidate("from Orders group by a select count()", visible: 90);
        var wide = Candidate("from Orders group by a select count(), sum(n)", visible: 89);
        Assert.Empty(AutoCandidates.Superfluous([count, wide]));
        Assert.Equal([count.Name], AutoCandidates.Superfluous([count, wide with { VisibleEtag = 90 }]));
        Assert.Empty(AutoCandidates.Superfluous([count, wide with { VisibleEtag = 90, State = IndexState.Paused }]));
        Assert.Empty(
            AutoCandidates.Superfluous([count, Candidate("from Orders group by b select count(), sum(n)", visible: 90)])
        );
    }

    [Fact]
    public void An_index_of_groups_is_created_for_any_number_of_documents()
    {
        const string Query = "from Orders group by a select count()";
        var few = Route(Query, IndexChooser.FewDocuments);
        Assert.Equal(("Auto/Orders/ByCountReducedBya", few.ToDefine?.Name), (few.IndexName, few.IndexName));
        Assert.Null(Assert.Single(few.Reasons, static reason => reason.IsChosen).Index);
        var route = Route(Query, IndexChooser.FewDocuments + 1);
        Assert.Equal("Auto/Orders/ByCountReducedBya", route.IndexName);
        Assert.Equal(route.IndexName, route.ToDefine?.Name);
        Assert.False(route.IsBuilt || route.IsScanExpensive);
        Assert.True(IndexChooser.ChooseForGroups(Plan(Query), static () => 1, [Candidate(Query, visible: 5)]).IsBuilt);
        Assert.False(IndexChooser.ChooseForGroups(Plan(Query), static () => 1, [Candidate(Query, visible: 0)]).IsBuilt);
    }

    [Fact]
    public void The_number_of_indexes_of_groups_in_a_database_is_limited()
    {
        AutoCandidate<AutoReduceDefinition>[] others =
        [
            .. Enumerable
                .Range(0, IndexChooser.MaxReduceIndexes)
                .Select(static i => Candidate($"from Orders group by f{i} select count()", visible: 5)),
        ];
        Assert.NotNull(
            IndexChooser
                .ChooseForGroups(Plan("from Orders group by a select count()"), static () => 1000, others[1..])
                .ToDefine
        );
        var route = IndexChooser.ChooseForGroups(
            Plan("from Orders group by a select count()"),
            static () => 1000,
            others
        );
        Assert.Null(route.IndexName);
        Assert.Contains("no more are created", route.Reasons.Single().Text, StringComparison.Ordinal);
        Assert.Equal(
            others[0].Name,
            IndexChooser
                .ChooseForGroups(Plan("from Orders group by f0 select count()"), static () => 1000, others)
                .IndexName
        );
    }

    private static IndexChoice Route(string query, long documents) =>
        IndexChooser.ChooseForGroups(Plan(query), () => documents, candidates: []);

    private static (string? Name, string? ToDefine) Choose(
        string query,
        params AutoCandidate<AutoReduceDefinition>[] candidates
    ) =>
        AutoReduceChoice.For(DefinitionOf(query), candidates) is var choice
            ? (choice.Name, choice.ToDefine?.Name)
            : default;

    private static AutoCandidate<AutoReduceDefinition> Candidate(string query, long visible) =>
        new(DefinitionOf(query).Name, DefinitionOf(query), IndexState.Normal, visible);

    private static CompiledQuery Plan(string query) =>
        CompiledQuery.Compile(RqlParser.Parse(query), QueryParameters.None);

    private static AutoReduceDefinition DefinitionOf(string query) =>
        Plan(query) is var plan ? AutoReduceDefinition.Of(plan.Target.Collection, plan.Groups!) : null!;
}
