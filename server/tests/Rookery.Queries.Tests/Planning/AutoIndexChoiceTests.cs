using Rookery.Documents.Indexes;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Mapping;
using Rookery.Queries.Language;
using Rookery.Queries.Planning;

namespace Rookery.Queries.Tests.Planning;

/// <summary>Which automatic index answers a query, or is created for it.</summary>
public sealed class AutoIndexChoiceTests
{
    [Theory]
    [InlineData("from Users where name = 'a'", "Auto/Users/Byname")]
    [InlineData(
        "from Users as u where u.name = 'a' and (u.age > 3 or not exists(u.address.city))",
        "Auto/Users/Byaddress_cityAndageAndname"
    )]
    [InlineData("from Users where exact(name = 'a') order by age desc, score()", "Auto/Users/ByageAndExact(name)")]
    [InlineData(
        "from Users where search(bio, 'a') and bio = 'b' and startsWith(name, 'c')",
        "Auto/Users/BySearch(bio)Andname"
    )]
    [InlineData(
        "from Users where lines[].product in ('a') and boost(lines.product between 1 and 2, 3)",
        "Auto/Users/Bylines_product"
    )]
    [InlineData("from @all_docs where name = 'a' and id() != 'b'", "Auto/AllDocs/Byname")]
    [InlineData("from Users order by name", "Auto/Users/Byname")]
    [InlineData("from Users where name = 'a' filter age > 3", "Auto/Users/Byname")]
    [InlineData("from Users", null)]
    [InlineData("from Users where id() = 'a'", null)]
    [InlineData("from Users group by name select name, count()", null)]
    [InlineData("from index 'Users/ByName' where name = 'a'", null)]
    public void A_query_needs_the_fields_of_its_conditions_and_of_its_order(string query, string? index)
    {
        var needed = AutoIndexNeeds.Of(RqlParser.Parse(query), out string? why);
        Assert.Equal(index, needed?.Name);
        Assert.Equal(index is null, why is not null);
    }

    [Fact]
    public void The_most_current_and_then_the_narrowest_index_with_all_fields_is_used()
    {
        var needed = DefinitionOf("name");
        var wide = Candidate(DefinitionOf("age", "name", "city"), visible: 90);
        var exact = Candidate(DefinitionOf("name"), visible: 90);
        var other = Candidate(DefinitionOf("city"), visible: 100);
        Assert.Equal((exact.Name, null), Choose(needed, wide, exact, other));
        Assert.Equal((wide.Name, null), Choose(needed, wide with { VisibleEtag = 91 }, exact, other));
        Assert.Equal(
            (exact.Name, null),
            Choose(needed, wide with { VisibleEtag = 91, State = IndexState.Error }, exact, other)
        );

        var reasons = AutoIndexChoice.For(needed, [wide, exact, other], explains: true).Reasons;
        Assert.Equal(
            [
                new("Auto/Users/Bycity", "Lacks name."),
                new("Auto/Users/ByageAndcityAndname", "Has more fields than needed."),
                new PlanReason("Auto/Users/Byname", "Has all fields that the query needs.", IsChosen: true),
            ],
            reasons
        );
    }

    [Fact]
    public void A_new_index_also_gets_the_fields_of_the_most_similar_one()
    {
        var choice = AutoIndexChoice.For(
            DefinitionOf("age", "city"),
            [
                Candidate(DefinitionOf("name"), visible: 5),
                Candidate(DefinitionOf("city", "zip"), visible: 5),
                Candidate(new AutoIndexDefinition("Orders", DefinitionOf("age").Fields), visible: 5),
            ],
            explains: true
        );
        Assert.Equal("Auto/Users/ByageAndcityAndzip", choice.Name);
        Assert.Equal(choice.Name, choice.ToDefine?.Name);
        Assert.Equal(
            new PlanReason(
                "Auto/Users/ByageAndcityAndzip",
                "Will be created for the query, with the fields of Auto/Users/BycityAndzip.",
                IsChosen: true
            ),
            choice.Reasons[^1]
        );
        Assert.Equal(
            "Auto/Users/Byage",
            AutoIndexChoice.For(DefinitionOf("age"), candidates: [], explains: false).ToDefine?.Name
        );
    }

    [Fact]
    public void The_fields_of_an_index_are_limited_and_a_stopped_index_is_not_extended_or_defined_twice()
    {
        var widest = Candidate(
            DefinitionOf([.. Enumerable.Range(0, AutoIndexChoice.MaxMergedFields).Select(static i => $"f{i}")]),
            visible: 5
        );
        Assert.Equal("Auto/Users/Byage", AutoIndexChoice.For(DefinitionOf("age"), [widest], explains: false).Name);
        var failed = Candidate(DefinitionOf("age"), visible: 5) with { State = IndexState.Error };
        Assert.Equal((failed.Name, null), Choose(DefinitionOf("age"), failed));
        Assert.Equal(
            [new PlanReason(failed.Name, "Is in state Error.")],
            AutoIndexChoice.For(DefinitionOf("age"), [failed], explains: true).Reasons
        );
    }

    [Fact]
    public void A_definition_that_is_too_long_to_be_stored_is_neither_made_nor_merged()
    {
        string half = new('é', IndexRecord.MaxDefinitionBytes / 12); // JSON has six bytes for this letter
        Assert.Equal((null, null), Choose(DefinitionOf(half + half)));
        var needed = DefinitionOf("a" + half);
        var (name, definition) = Choose(needed, Candidate(DefinitionOf("b" + half), visible: 5));
        Assert.Equal((needed.Name, needed.Name), (name, definition?.Name));
    }

    /// <summary>Names of indexes ignore the case of all letters; those of fields and of collections do not.</summary>
    [Fact]
    public void An_index_of_other_fields_or_of_another_collection_never_answers_although_its_name_is_equal()
    {
        var otherField = Candidate(DefinitionOf("Age"), visible: 5) with { State = IndexState.Paused };
        Assert.Equal((null, null), Choose(DefinitionOf("age"), otherField));
        var fields = DefinitionOf("age").Fields;
        var otherCollection = Candidate(new AutoIndexDefinition("Ärzte", fields), visible: 5);
        Assert.Equal((null, null), Choose(new AutoIndexDefinition("ärzte", fields), otherCollection));
        Assert.Equal(
            [
                PlanReason.OfDocuments(
                    "Documents are scanned: an index with other content has the name Auto/Ärzte/Byage."
                ),
            ],
            AutoIndexChoice.For(new AutoIndexDefinition("ärzte", fields), [otherCollection], explains: true).Reasons
        );
    }

    [Fact]
    public void A_narrower_index_is_superfluous_once_a_wider_one_has_caught_up()
    {
        var narrow = Candidate(DefinitionOf("name"), visible: 90);
        // An index that has seen fewer changes than the narrow one cannot replace it yet.
        var wide = Candidate(DefinitionOf("name", "age"), visible: 89);
        Assert.Empty(AutoCandidates.Superfluous([narrow, wide]));
        Assert.Equal([narrow.Name], AutoCandidates.Superfluous([narrow, wide with { VisibleEtag = 90 }]));
        Assert.Empty(AutoCandidates.Superfluous([narrow, wide with { VisibleEtag = 90, State = IndexState.Paused }]));
        Assert.Empty(AutoCandidates.Superfluous([narrow, narrow with { Name = "twin" }]));
        Assert.Empty(
            AutoCandidates.Superfluous([
                Candidate(DefinitionOf("name"), visible: 0),
                Candidate(DefinitionOf("name", "age"), visible: 0),
            ])
        );
    }

    private static (string? Name, AutoIndexDefinition? ToDefine) Choose(
        AutoIndexDefinition needed,
        params AutoCandidate<AutoIndexDefinition>[] candidates
    ) =>
        (
            AutoIndexChoice.For(needed, candidates, explains: true).Name,
            AutoIndexChoice.For(needed, candidates, explains: false).ToDefine
        );

    private static AutoCandidate<AutoIndexDefinition> Candidate(AutoIndexDefinition definition, long visible) =>
        new(definition.Name, definition, IndexState.Normal, visible);

    private static AutoIndexDefinition DefinitionOf(params string[] fields) =>
        new("Users", fields.Select(static field => new AutoIndexField([field], AutoIndexFieldUses.None)));
}
