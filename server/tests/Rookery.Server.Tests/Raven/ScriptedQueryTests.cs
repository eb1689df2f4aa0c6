using System.Text.Json;
using Rookery.Platform;

namespace Rookery.Server.Tests.Raven;

/// <summary>Projections by scripts, over HTTP.</summary>
public sealed class ScriptedQueryTests(RunningServer server) : IClassFixture<RunningServer>
{
    [Theory]
    [InlineData(
        "from Users as u where id() = 'users/1' select { name: u.first + ' ' + u.last, tags: u.tags.map(t => "
            + "t.id), friend: load(u.friend).first }",
        """{"name":"Ann Lee","tags":["x","y"],"friend":"Bob"}"""
    )]
    [InlineData("from Users order by age desc select { n: this.first } limit 2", """{"n":"Ann"},{"n":"Bob"}""")]
    [InlineData(
        "from Users as u where u.age > 25 select { id: id(u), c: u['@metadata']['@collection'], none: u.none }",
        """{"id":"users/1","c":"Users"}"""
    )]
    [InlineData(
        "declare function f(u, p) { return { n: u.first + p, q: $q[0] } } from Users as u where u.age < 25 "
            + "select f(u, $p)",
        """{"n":"Bob!","q":7}"""
    )]
    [InlineData(
        "declare function f(u) { return u } from Users as u where u.age < 25 select f(u)",
        """{"first":"Bob","friend":"users/1","age":20}"""
    )]
    [InlineData("declare function f() { } from Users as u where u.age < 25 select f()", "{}")]
    [InlineData(
        """declare function f(u, a, b, c) { return { a, b, c } } from Users as u where u.age < 25 select f(u, 'C:\dir\b\x41', 'it''s', "\d")""",
        """{"a":"C:\\dir\\b\\x41","b":"it's","c":"\\d"}"""
    )]
    [InlineData(
        "declare function f(a, b, c, d) { return { a, b, c, d } } from Users as u where u.age < 25 "
            + "select f(TRUE, NULL, 007, 1__0)",
        """{"a":true,"b":null,"c":7,"d":10}"""
    )]
    [InlineData("from Users as u where u.age < 25 select { '@metadata': { a: 1 }, b: 2 }", """{"b":2}""")]
    [InlineData(
        "from Orders as o load o.company as c, o.lines[].product as p[], c.owner as w select { c: c.name, p: "
            + "p.map(x => x.name), w: w.first }",
        """{"c":"Acme","p":["Pen","Ink"],"w":"Ann"}"""
    )]
    [InlineData(
        "from Orders as o load o.company as c, o.lines[].product as p[] select c.name as name, p.name as "
            + "products, o.lines[].q, id() as id, $q as q, 'x', o.none",
        """{"name":"Acme","products":["Pen","Ink"],"lines[].q":[2,1],"id":"orders/1","q":[7],"x":null,"none":null}"""
    )]
    [InlineData("from Orders as o load o.nothing as c select c.name as name, c", """{"name":null,"c":null}""")]
    public async Task Scripts_compute_the_results(string query, string results)
    {
        string db = await FillAsync();
        Assert.Equal(results, await ResultsAsync(db + "/queries", query));
        Assert.Equal(results, await ResultsAsync(db + "/streams/queries", query));
    }

    [Theory]
    [InlineData(
        "from Users as u\nselect {\n  a: u.first.localeCompare('a')\n}",
        501,
        "'localeCompare'.\nLine 3, column 13"
    )]
    [InlineData("from Users as u select { a: new Set() }", 501, "'new Set'.\nLine 1, column 29")]
    [InlineData(
        "declare function f(a, b) { return {} } from Users as u select f('\\d''', v)",
        501,
        ".\nLine 1, column 73"
    )]
    [InlineData(
        "declare function f(u) { try { } catch (e) { } } from Users as u select f(u)",
        501,
        "'try'.\nLine 1, column 25"
    )]
    [InlineData("from Users as u select { a: put('x', u) }", 501, "'put'")]
    [InlineData("from Users as u select { a: , }", 400, "not ','.\nLine 1, column 29")]
    [InlineData("from Users as u select { a: 1", 400, "'}' is missing")]
    [InlineData("from Users as u group by u.age select { a: 1 }", 501, "groups")]
    [InlineData("from Orders as o load o.company as c select distinct c.name", 501, "distinct")]
    [InlineData(
        "declare function f(u) { return 1 } from Users as u select f(u)",
        400,
        "document 'users/1' failed: it yields no object"
    )]
    [InlineData("declare function f(u) { return [u] } from Users as u select f(u)", 400, "yields an array")]
    [InlineData("declare function f(u) { return f(u) } from Users as u select f(u)", 400, "deeper than 100 levels")]
    [InlineData("from Users as u select { a: 'x'.repeat(4000000) }", 400, "more steps")]
    [InlineData("from Users as u select { a: $many.map(i => load('users/' + i)) }", 400, "more than 256 documents")]
    [InlineData("from Users as u select { a: $many.map(i => $many) }", 400, "more steps")]
    public async Task Invalid_scripts_are_refused_with_their_position(string query, int status, string text)
    {
        string db = await FillAsync();
        string body = BodyOf(query, many: true);
        (await server.SendAsync("POST", db + "/queries", body)).IsRefusal(status, text);
        (await server.SendAsync("POST", db + "/streams/queries", body)).IsRefusal(status, text);
    }

    [Fact]
    public async Task A_script_beyond_the_size_limit_is_invalid_not_unsupported()
    {
        string db = await FillAsync();
        string deep = new string('(', 200) + "1" + new string(')', 200);
        (await server.SendAsync("POST", db + "/queries", BodyOf($"from Users as u select {{ a: {deep} }}"))).IsRefusal(
            400,
            "nests deeper"
        );
        (
            await server.SendAsync(
                "PATCH",
                db + "/docs?id=users/1",
                JsonSerializer.Serialize(new { Patch = new { Script = $"this.a = {deep}" } })
            )
        ).IsRefusal(400, "nests deeper");
    }

    [Fact]
    public async Task A_result_that_is_too_large_is_refused()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync(
            "PUT",
            db + "/docs?id=texts/1",
            $$"""{"text":"{{new string('x', 900_000)}}","@metadata":{"@collection":"Texts"} }"""
        );
        string body = BodyOf("from Texts as t select { a: [t.text, t.text, t.text, t.text, t.text] }");
        (await server.SendAsync("POST", db + "/queries", body)).IsRefusal(400, "larger than 4.0 MiB");
        (await server.SendAsync("POST", db + "/streams/queries", body)).IsRefusal(400, "larger than 4.0 MiB");
    }

    /// <summary>A script takes memory only while it runs, and none that is reserved for other queries.</summary>
    [Fact]
    public async Task Memory_of_scripts_is_bounded_and_released()
    {
        var small = new RunningServer { Memory = new MemoryBudget(16 << 20) };
        await small.InitializeAsync();
        try
        {
            string db = await small.CreateDatabaseAsync();
            foreach (string id in (string[])["users/1", "users/2"])
            {
                Assert.Equal(
                    201,
                    (
                        await small.SendAsync(
                            "PUT",
                            $"{db}/docs?id={id}",
                            $$"""{"text":"{{new string('x', 500_000)}}","@metadata":{"@collection":"Users"} }"""
                        )
                    ).Status
                );
            }

            // A text takes 1 MB of memory. Twice as much fits into the share of queries, eight times as much does not.
            const string Doubled = "from Users as u select { n: (u.text + u.text).length }";
            const string Eightfold =
                "declare function twice(t) { return t + t } from Users as u select { n: "
                + "twice(twice(twice(u.text))).length }";
            for (int round = 0; round < 3; round++)
            {
                Assert.Equal("""{"n":1000000},{"n":1000000}""", await ResultsAsync(db + "/queries", Doubled, small));
                (await small.SendAsync("POST", db + "/queries", BodyOf(Eightfold))).IsRefusal(
                    400,
                    "more memory than there is now"
                );
            }

            Assert.Equal(0, small.Memory.Shares.Single(share => share.Name is "queries").UsedBytes);
        }
        finally
        {
            await small.DisposeAsync();
        }
    }

    [Theory]
    [InlineData("from Users as u where boost(u.age > 25, 3) select { n: u.first }", """{"n":"Ann",""")]
    [InlineData("from Users as u where boost(u.age > 25, 3) load u.friend as f select f.first as n", """{"n":"Bob",""")]
    public async Task Results_of_scripts_have_their_score(string query, string members)
    {
        string db = await FillAsync();
        var answer = await server.SendAsync("POST", db + "/queries", BodyOf(query));
        Assert.Contains(
            "[" + members + "\"@metadata\":{\"@projection\":true,\"@id\":\"users/1\",\"@index-score\":3}}]",
            answer.Body,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task Includes_and_ETags_work_as_for_other_queries()
    {
        string db = await FillAsync();
        string query = BodyOf(
            "from Users as u where id() = 'users/1' select { f: load(u.friend).first } include friend"
        );
        var answer = await server.SendAsync("POST", db + "/queries", query);
        Assert.Equal("users/2", Assert.Single(answer.Json.GetProperty("Includes").EnumerateObject().ToArray()).Name);
        Assert.Equal(
            304,
            (await server.SendAsync("POST", db + "/queries", query, ("If-None-Match", answer.Tag!))).Status
        );
        await server.SendAsync(
            "PUT",
            db + "/docs?id=users/2",
            """{"first":"Rob","@metadata":{"@collection":"Users"}}"""
        );
        var changed = await server.SendAsync("POST", db + "/queries", query, ("If-None-Match", answer.Tag!));
        Assert.Equal("Rob", changed.Json.GetProperty("Results")[0].GetProperty("f").GetString());
    }

    // Encodes a query with the parameters to which the tests refer; $many is longer than a script may load or repeat.
    private static string BodyOf(string query, bool many = false) =>
        JsonSerializer.Serialize(
            new
            {
                Query = query,
                QueryParameters = new
                {
                    p = "!",
                    q = (int[])[7],
                    many = Enumerable.Range(1000, many ? 1200 : 0),
                },
            }
        );

    /// <summary>Returns the results without their metadata, after checking it.</summary>
    private async Task<string> ResultsAsync(string url, string query, RunningServer? other = null)
    {
        var answer = await (other ?? server).SendAsync("POST", url, BodyOf(query));
        Assert.True(answer.Status == 200, answer.Body);
        return string.Join(',', answer.Json.GetProperty("Results").EnumerateArray().Select(WithoutMetadata));
    }

    private static string WithoutMetadata(JsonElement result)
    {
        string text = result.GetRawText();
        int at = text.LastIndexOf("\"@metadata\":{\"@projection\":true,\"@id\":\"", StringComparison.Ordinal);
        Assert.True(at > 0, $"the result has no metadata of a projection: {text}");
        return text[..at].TrimEnd(',') + "}";
    }

    private async Task<string> FillAsync()
    {
        string db = await server.CreateDatabaseAsync();
        (string Id, string Json)[] documents =
        [
            (
                "users/1",
                """{"first":"Ann","last":"Lee","tags":[{"id":"x"},{"id":"y"}],"friend":"users/2","age":31,"@metadata":{"@collection":"Users"}}"""
            ),
            ("users/2", """{"first":"Bob","friend":"users/1","age":20,"@metadata":{"@collection":"Users"}}"""),
            ("companies/1", """{"name":"Acme","owner":"users/1","@metadata":{"@collection":"Companies"}}"""),
            ("products/1", """{"name":"Pen"}"""),
            ("products/2", """{"name":"Ink"}"""),
            (
                "orders/1",
                """{"company":"companies/1","lines":[{"product":"products/1","q":2},{"product":"products/2","q":1}],"@metadata":{"@collection":"Orders"}}"""
            ),
        ];
        foreach (var (id, json) in documents)
        {
            Assert.Equal(201, (await server.SendAsync("PUT", $"{db}/docs?id={id}", json)).Status);
        }

        return db;
    }
}
