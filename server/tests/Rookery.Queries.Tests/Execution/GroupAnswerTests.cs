using System.Globalization;
using Rookery.Fixtures;
using Rookery.Indexing.Automatic;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;
using Rookery.Search.Segments.Store;

namespace Rookery.Queries.Tests.Execution;

/// <summary>Answers of automatic map-reduce indexes to grouped queries, at the limits of what they index.</summary>
public sealed class GroupAnswerTests
{
    private const string ByCity = "from Users group by city select city, count() as n, sum(x) as x, max(name) as last";

    [Theory]
    [InlineData("too many groups")]
    [InlineData("a long key")]
    [InlineData("a long value")]
    public void A_scan_answers_while_the_index_excludes_a_document(string exclusion)
    {
        using var node = IndexedNode.New();
        string query = exclusion is "too many groups"
            ? "from Users group by tags[] select key() as k, count() as n"
            : ByCity;
        Define(node, query);
        node.Put("users/1", "\"city\":\"Ulm\",\"tags\":[1]");
        string many = string.Join(',', Enumerable.Range(0, MappedRows.MaxRows + 1));
        node.Put(
            "users/2",
            exclusion switch
            {
                "too many groups" => $"\"tags\":[{many}]",
                "a long key" => $"\"city\":\"{new string('x', AutoReduceMap.MaxKeyBytes)}\"",
                _ => $"\"city\":\"Ulm\",\"name\":\"{new string('x', AutoReduceMap.MaxValueBytes)}\"",
            }
        );
        node.SettleAll();
        using (var example = new GroupExample(node, query))
        {
            Assert.Null(example.Ask());
            Assert.Contains(
                "Documents are scanned",
                example.Queries.ChooseIndex(node.Database(), example.Plan).Reasons[^1].Text,
                StringComparison.Ordinal
            );
        }

        node.Put("users/2", "\"city\":\"Bonn\",\"tags\":[1,1,2]");
        node.SettleAll();
        using var again = new GroupExample(node, query);
        Assert.Equal(again.Scan().Results, again.Ask()!.Value.Results);
    }

    [Fact]
    public void The_maximum_number_of_groups_of_a_document_is_indexed()
    {
        using var node = IndexedNode.New();
        const string Query = "from Users group by tags[] select key() as k, count() as n";
        Define(node, Query);
        node.Put("users/1", $"\"tags\":[{string.Join(',', Enumerable.Range(0, MappedRows.MaxRows).Concat([7, 7]))}]");
        node.SettleAll();
        using var example = new GroupExample(node, Query);
        Assert.Equal(example.Scan().Results, example.Ask()!.Value.Results);
        Assert.Contains("\"k\":7,\"n\":3", example.Ask()!.Value.Results);
    }

    /// <summary>
    /// Rows of the maximum width, with values of the maximum length, must fit into the pages of the store.
    /// </summary>
    [Fact]
    public void The_widest_rows_with_the_longest_values_are_indexed()
    {
        using var node = IndexedNode.New();
        string[] aggregates =
        [
            .. Enumerable
                .Range(0, AutoReduceChoice.MaxFields - 1)
                .Select(static i => $"{(i % 2 == 0 ? "max" : "sum")}(f{i}) as f{i}"),
        ];
        string query = $"from Users group by city select city, {string.Join(", ", aggregates)}";
        Define(node, query);
        for (int user = 0; user < 40; user++)
        {
            string text = new((char)('a' + (user % 26)), AutoReduceMap.MaxValueBytes - 2);
            string members = string.Join(
                ',',
                Enumerable
                    .Range(0, aggregates.Length)
                    .Select(i => i % 2 == 0 ? $"\"f{i}\":\"{text}\"" : $"\"f{i}\":1e30{user % 8}")
            );
            node.Put($"users/{user}", $"\"city\":\"{new string('y', AutoReduceMap.MaxKeyBytes - 20)}\",{members}");
        }

        node.SettleAll();
        using var example = new GroupExample(node, query);
        Assert.Empty(node.Host.ReadErrors(node.Database(), node.Host.ReadStatus(node.Database()).Single().Name));
        Assert.Equal(example.Scan().Results, example.Ask()!.Value.Results);
    }

    [Fact]
    public void A_page_ordered_by_an_aggregate_reads_only_its_groups_after_each_change()
    {
        using var node = IndexedNode.New();
        Define(node, ByCity);
        for (int user = 0; user < 200; user++)
        {
            node.Put(
                string.Create(CultureInfo.InvariantCulture, $"users/{user}"),
                string.Create(CultureInfo.InvariantCulture, $"\"city\":\"c{user % 20}\",\"x\":{user}")
            );
        }

        node.SettleAll();
        node.Put("users/19", "\"city\":\"C19\",\"x\":1");
        node.Delete("users/18");
        node.SettleAll();
        using var example = new GroupExample(
            node,
            "from Users group by city order by sum(x) desc select city, sum(x) as x, count() as n limit 2"
        );
        var answer = example.Ask()!.Value;
        Assert.True(answer.ReadsOnlyPage);
        // Without x = 19, c19 has 39 + 59 + … + 199. All 20 cities have users, and C19 differs from c19.
        Assert.Equal(["\"city\":\"c19\",\"x\":1071,\"n\":9", "\"city\":\"c17\",\"x\":1070,\"n\":10"], answer.Results);
        Assert.Equal(21, answer.Total);
        using var where = new GroupExample(
            node,
            "from Users group by city where count() < 10 order by city desc select city"
        );
        Assert.Equal(["\"city\":\"C19\"", "\"city\":\"c19\"", "\"city\":\"c18\""], where.Ask()!.Value.Results);
        Assert.True(where.Ask()!.Value.ReadsOnlyPage);
    }

    // The key of the query, its value in each of two documents (null for the elements of l), and the key of both.
    [Theory]
    [InlineData("t", """["a\n","/"]""", """["\u0061\u000a","\/"]""", """["a\u000a","/"]""")]
    [InlineData("t", "[1,0]", "[1e0,-0.0]", "[1,0]")]
    [InlineData("array(t)", "[1.50]", "[15e-1]", "[1.5]")]
    [InlineData("array(l[].v)", null, null, "[1,\"a\"]")]
    [InlineData(
        "o",
        """{"b":[{"y":1,"x":2}],"a":"\u00e4","a!":null}""",
        """{"a!":null,"a":"ä","b":[{"x":2.0,"\u0079":1}]}""",
        """{"a!":null,"a":"ä","b":[{"x":2,"y":1}]}"""
    )]
    public void Keys_that_are_arrays_or_objects_are_equal_by_value(
        string key,
        string? one,
        string? other,
        string expectedKey
    )
    {
        using var node = IndexedNode.New();
        string query = $"from Users group by {key} select key() as k, count() as n";
        Define(node, query);
        string member = key.Replace("array(", "", StringComparison.Ordinal).TrimEnd(')');
        node.Put("users/1", one is null ? """ "l":[{"v":1.0},{"v":"\u0061"}] """ : $"\"{member}\":{one}");
        node.Put("users/2", other is null ? """ "l":[{"v":1},{},{"v":"a"}] """ : $"\"{member}\":{other}");
        node.SettleAll();
        using var example = new GroupExample(node, query);
        Assert.Equal([$"\"k\":{expectedKey},\"n\":2"], example.Scan().Results);
        Assert.Equal(example.Scan().Results, example.Ask()!.Value.Results);
    }

    private static void Define(IndexedNode node, string query)
    {
        var definition = AutoReduceDefinition.Of(
            "Users",
            CompiledQuery.Compile(RqlParser.Parse(query), QueryParameters.None).Groups!
        );
        node.ChangeIndexes(writer => writer.Put(definition.Name, definition.ToJson(), settings: default));
    }
}
