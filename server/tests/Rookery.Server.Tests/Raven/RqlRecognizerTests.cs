using System.Text;
using Rookery.Server.Raven;
using Rookery.Server.Raven.Queries;

namespace Rookery.Server.Tests.Raven;

public sealed class RqlRecognizerTests
{
    [Theory]
    [InlineData("from Users", "Users")]
    [InlineData("from 'Users'", "Users")]
    [InlineData("FROM \"Users\"", "Users")]
    [InlineData("from 'my coll\\'s'", "my coll's")]
    [InlineData("from 'it''s'", "it's")]
    [InlineData("from '@all_docs'", null)]
    [InlineData("from @all_docs", null)]
    [InlineData("from @empty", "@empty")]
    [InlineData("  from /* which? */ Users // these\n", "Users")]
    [InlineData("from Users as u", "Users")]
    [InlineData("from Users u;", "Users")]
    public void A_collection_is_recognised(string query, string? collection) => Assert.Equal(collection, Read(query).Collection);

    [Theory]
    [InlineData("from Users limit 5", 0, 5L)]
    [InlineData("from Users limit 10, 5", 10, 5L)]
    [InlineData("from Users limit $skip, $take", 3, 4L)]
    [InlineData("from Users limit $none, $take", 0, 4L)]
    [InlineData("from Users limit $skip, $none", 3, null)]
    [InlineData("from Users limit 5 offset 7", 7, 5L)]
    [InlineData("from Users offset 7", 7, null)]
    [InlineData("from Users limit 0", 0, 0L)]
    public void Pages_are_recognised(string query, long offset, long? limit)
    {
        var read = Read(query, """{"skip":3,"take":4,"none":null}""");
        Assert.Equal(offset, read.Offset);
        Assert.Equal(limit, read.Limit);
    }

    [Theory]
    [InlineData("from Users where id() = $one", "users/1")]
    [InlineData("from Users where id() = 'users/2'", "users/2")]
    [InlineData("from Users as u where id(u) == $one", "users/1")]
    [InlineData("from Users where (id() in ($several))", "users/3,users/4")]
    [InlineData("from Users where id() in ('a', $one, $several)", "a,users/1,users/3,users/4")]
    [InlineData("from Users where id() in ()", "")]
    public void Conditions_on_ids_are_recognised(string query, string ids)
    {
        var condition = Read(query, """{"one":"users/1","several":["users/3",null,"users/4"]}""").Condition!;
        Assert.Equal(IdConditionKind.OneOf, condition.Kind);
        Assert.Equal(ids, string.Join(',', condition.Values));
    }

    [Fact]
    public void A_prefix_of_ids_is_recognised()
    {
        var condition = Read("from Users where startsWith(id(), $p)", """{"p":"users/1"}""").Condition!;
        Assert.Equal(IdConditionKind.StartsWith, condition.Kind);
        Assert.Equal(["users/1"], condition.Values);
    }

    [Fact]
    public void Includes_are_recognised_with_and_without_alias() =>
        Assert.Equal(["buyer", "lines[].product", "a b"], Read("from Orders as o include o.buyer, lines[].product, 'a b' limit 1").Includes);

    [Theory]
    [InlineData("from Users where name = 'ann'", "'where' at position 17")]
    [InlineData("from Users where id() = 'a' or id() = 'b'", "where with 'or'")]
    [InlineData("from Users where id() != 'a'", "'where id() with '!='' at position 22")]
    [InlineData("from Users order by name", "'order by' at position 11")]
    [InlineData("from Users group by name", "'group by' at position 11")]
    [InlineData("from Users select name", "'select' at position 11")]
    [InlineData("from Users load x as y", "'load' at position 11")]
    [InlineData("from Users filter a = 1", "'filter' at position 11")]
    [InlineData("from Users update { this.x = 1 }", "'update' at position 11")]
    [InlineData("from Users include counters('likes')", "'include counters(…)' at position 19")]
    [InlineData("from index 'Users/ByName'", "'from index' at position 5")]
    [InlineData("declare function f() {} from Users", "'declare' at position 0")]
    public void What_needs_more_is_refused_by_name_and_position(string query, string named)
    {
        var refused = Assert.Throws<RefusedException>(() => Read(query));
        Assert.Equal(501, refused.Status);
        Assert.Contains(named, refused.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("")]
    [InlineData("select 1")]
    [InlineData("from")]
    [InlineData("from 'Users")]
    [InlineData("from Users limit")]
    [InlineData("from Users limit -1")]
    [InlineData("from Users where id() =")]
    [InlineData("from Users where id() = $missing")]
    [InlineData("from Users where id() = $number")]
    [InlineData("from Users where id() in ('a'")]
    [InlineData("from Users where startsWith(id(), $list)")]
    [InlineData("from Users limit $text")]
    [InlineData("from Users $")]
    [InlineData("from Users /* and")]
    [InlineData("from Users ^")]
    [InlineData("from Users u v")]
    public void What_is_no_query_is_refused_with_400(string query) =>
        Assert.Equal(400, Assert.Throws<RefusedException>(() => Read(query, """{"number":1,"list":["a","b"],"text":"x"}""")).Status);

    [Fact]
    public void Any_text_is_read_or_refused()
    {
        string[] words = ["from", "Users", "'a'", "where", "id()", "=", "in", "(", ")", ",", "$p", "limit", "1", "include", "a.b[]", "startsWith", "as", "u", "'", "/*", "\\", "\"", "offset", "null", ";", "\u0000", "Ø"];
        for (int seed = 0; seed < 5_000; seed++)
        {
            var random = new Random(seed);
            string query = string.Join(' ', Enumerable.Range(0, random.Next(12)).Select(_ => words[random.Next(words.Length)]));
            try
            {
                Read("from Users " + query, """{"p":"x"}""");
            }
            catch (RefusedException refused)
            {
                Assert.True(refused.Status is 400 or 501, $"seed {seed}: {query}: {refused.Status}");
            }
        }
    }

    private static IdQuery Read(string query, string parameters = "{}")
    {
        string body = $$"""{"Query":{{System.Text.Json.JsonSerializer.Serialize(query)}},"QueryParameters":{{parameters}}}""";
        var read = QueryRequest.Read(Encoding.UTF8.GetBytes(body)).Query;
        return read with { Limit = read.Limit == long.MaxValue ? null : read.Limit };
    }
}
