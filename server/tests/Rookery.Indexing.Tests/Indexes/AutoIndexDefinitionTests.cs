using System.Text;
using Rookery.Documents.Indexes;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Mapping;

namespace Rookery.Indexing.Tests.Indexes;

/// <summary>Definitions of automatic indexes: their names, which covers which, and their stored form.</summary>
public sealed class AutoIndexDefinitionTests
{
    [Fact]
    public void The_name_of_an_index_shows_its_collection_and_fields()
    {
        Assert.Equal("Auto/Users/ByageAndname", DefinitionOf("Users", FieldOf("name"), FieldOf("age")).Name);
        Assert.Equal(
            "Auto/AllDocs/Byaddress_cityAndSearch(bio)AndExact(name)",
            DefinitionOf(
                null,
                FieldOf(["address", "city"]),
                FieldOf(["bio"], AutoIndexFieldUses.Search),
                FieldOf(["name"], AutoIndexFieldUses.Exact)
            ).Name
        );
        Assert.Equal(
            "Auto/Users/ByExact(Search(bio))",
            DefinitionOf("Users", FieldOf(["bio"], AutoIndexFieldUses.Search | AutoIndexFieldUses.Exact)).Name
        );
    }

    [Fact]
    public void A_name_is_short_and_valid_for_any_names_of_fields()
    {
        var many = DefinitionOf("Users", [.. Enumerable.Range(0, 200).Select(static i => FieldOf($"field{i}"))]);
        var others = DefinitionOf("Users", [.. Enumerable.Range(0, 200).Select(static i => FieldOf($"other{i}"))]);
        Assert.NotEqual(many.Name, others.Name);
        Assert.All(
            [many, others, DefinitionOf("Users", FieldOf("a\nb")), DefinitionOf("Users", FieldOf(""))],
            static definition => Assert.Null(IndexRecord.NameProblem(definition.Name))
        );
    }

    [Fact]
    public void A_definition_covers_another_with_a_subset_of_its_fields()
    {
        var wide = DefinitionOf("Users", FieldOf(["name"], AutoIndexFieldUses.Search), FieldOf("age"));
        Assert.True(wide.Covers(DefinitionOf("users", FieldOf("name"))));
        Assert.True(wide.Covers(wide));
        Assert.False(wide.Covers(DefinitionOf("Users", FieldOf(["name"], AutoIndexFieldUses.Exact))));
        Assert.False(wide.Covers(DefinitionOf("Users", FieldOf("name"), FieldOf("city"))));
        Assert.False(wide.Covers(DefinitionOf("Orders", FieldOf("name"))));
        Assert.False(wide.Covers(DefinitionOf(null, FieldOf("name"))));
    }

    [Fact]
    public void A_merged_definition_covers_both()
    {
        var one = DefinitionOf("Users", FieldOf(["name"], AutoIndexFieldUses.Search), FieldOf("age"));
        var other = DefinitionOf("Users", FieldOf(["name"], AutoIndexFieldUses.Exact), FieldOf(["lines", "product"]));
        var both = one.MergedWith(other);
        Assert.True(both.Covers(one) && both.Covers(other));
        Assert.Equal("Auto/Users/ByageAndlines_productAndExact(Search(name))", both.Name);
        Assert.Equal(both.ToJson(), other.MergedWith(one).ToJson());
    }

    /// <summary>Definitions are stored in logs and backups, so this form must stay readable.</summary>
    [Fact]
    public void The_format_is_stable_and_independent_of_the_order_of_fields()
    {
        var definition = DefinitionOf(
            "Users",
            FieldOf(["name"], AutoIndexFieldUses.Search),
            FieldOf(["lines", "product"])
        );
        const string Json =
            """{"Type":"AutoMap","Collection":"Users","Fields":[{"Path":["lines","product"],"Uses":0},{"Path":["name"],"Uses":2}]}""";
        Assert.Equal(Json, Encoding.UTF8.GetString(definition.ToJson()));
        Assert.Equal(Json, Encoding.UTF8.GetString(Parse(Json).ToJson()));
        Assert.Null(Parse("""{"Type":"AutoMap","Collection":null,"Fields":[]}""").Collection);
    }

    [Theory]
    [InlineData("""{"Type":"AutoMap","Fields":[]}""")]
    [InlineData("""{"Type":"AutoMap","Collection":"a","Fields":[{"Path":[],"Uses":0}]}""")]
    [InlineData("""{"Type":"AutoMap","Collection":"a","Fields":[{"Path":["a"],"Uses":8}]}""")]
    [InlineData("""{"Type":"AutoMap","Collection":"a","Fields":[{"Path":["a"],"Uses":800}]}""")]
    [InlineData("""{"Type":"AutoMap","Collection":"a","Fields":[{"Path":[1],"Uses":0}]}""")]
    [InlineData("""{"Type":"AutoMap","Collection":1,"Fields":[]}""")]
    public void A_definition_of_a_newer_program_is_reported(string json) =>
        Assert.Throws<IndexDefinitionException>(() => Parse(json));

    private static AutoIndexDefinition Parse(string json) => AutoIndexDefinition.TryRead(Encoding.UTF8.GetBytes(json))!;

    private static AutoIndexDefinition DefinitionOf(string? collection, params AutoIndexField[] fields) =>
        new(collection, fields);

    private static AutoIndexField FieldOf(string name) => FieldOf([name]);

    private static AutoIndexField FieldOf(string[] path, AutoIndexFieldUses uses = AutoIndexFieldUses.None) =>
        new(path, uses);
}
