using Rookery.Indexing.Definitions;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Tests.Definitions;

/// <summary>Maps return the rows that RavenDB's maps return.</summary>
public sealed class MapTextTests
{
    private const string Document = """
        {"name":"Ann Lee","age":41,"company":"companies/1","tags":["a","B","a"],"at":"2026-11-24T03:45:07.1230000Z",
        "nothing":null,"price":2.5,"address":{"city":"Ulm","geo":{"lat":48.4}},
        "lines":[{"p":"x","q":2,"price":1.5},{"p":"y","q":3,"price":2},{"p":"z","q":0,"price":9}],
        "@metadata":{"@collection":"Users"}}
        """;

    public static TheoryData<string, string> JavaScript =>
        new()
        {
            { "map('Users', u => ({ name: u.name }))", """{"name":"Ann Lee"}""" },
            {
                "map(\"users\", (u) => { return { name: u.name, age: u.age + 1 }; });",
                """{"name":"Ann Lee","age":42}"""
            },
            {
                "map('Users', function (u) { return { name: u.name.toLowerCase(), count: 1 }; })",
                """{"name":"ann lee","count":1}"""
            },
            { "map('Users', function users(u) { return { n: u.tags.length }; })", """{"n":3}""" },
            { "map('Users', u => ({ a: u.tags['0'], b: u.name['0'], c: u.tags['01'] }))", """{"a":"a","b":"A"}""" },
            {
                "map('@all_docs', d => ({ c: getMetadata(d)['@collection'], i: id(d) }))",
                """{"c":"Users","i":"users/1"}"""
            },
            { "map('Dogs', d => ({ name: d.name }))", "" },
            {
                "map('Users', u => u.lines.map(l => ({ product: l.p, user: u.name })))",
                "{\"product\":\"x\",\"user\":\"Ann Lee\"}\n{\"product\":\"y\",\"user\":\"Ann "
                    + "Lee\"}\n{\"product\":\"z\",\"user\":\"Ann Lee\"}"
            },
            {
                "map('Users', u => { const rows = []; for (const l of u.lines) { if (l.q > 0) { rows.push({ p: "
                    + "l.p }); } } return rows; })",
                "{\"p\":\"x\"}\n{\"p\":\"y\"}"
            },
            {
                "map('Users', u => { var rows = []; u.lines.forEach(function (l) { rows.push({ p: l.p, v: l.q "
                    + "* l.price }) }); return rows; })",
                "{\"p\":\"x\",\"v\":3}\n{\"p\":\"y\",\"v\":6}\n{\"p\":\"z\",\"v\":0}"
            },
            {
                "map('Users', u => { var rows = []; for (var i = 0; i < u.lines.length; i++) { switch (u.lines[i].p) { "
                    + "case 'x': continue; default: rows.push({ p: u.lines[i].p, n: i }); } } return rows; })",
                "{\"p\":\"y\",\"n\":1}\n{\"p\":\"z\",\"n\":2}"
            },
            { "map('Users', u => { let n = 0; for (const name in u.address) n++; return { n }; })", """{"n":2}""" },
            {
                "map('Users', u => { const rows = []; for (let i = 0; i < u.lines.length; i++) "
                    + "rows[i] = { p: u.lines[i].p }; return rows })",
                "{\"p\":\"x\"}\n{\"p\":\"y\"}\n{\"p\":\"z\"}"
            },
            {
                "map('Users', u => { const rows = [{ a: 1 }]; for (const r of rows) r.b ??= 1; return rows })",
                "The map adds the member 'b' to a row, but the fields of an index must be known before documents are "
                    + "indexed: write it in the object, { b: … }."
            },
            { "map('Users', u => { if (u.age < 18) return null; return { age: u.age }; })", """{"age":41}""" },
            { "map('Users', u => { if (u.age > 18) return null; return { age: u.age }; })", "" },
            { "map('Users', u => [{ a: 1 }, null, { b: 2 }])", "{\"a\":1}\n{\"b\":2}" },
            {
                "map('Users', u => { const c = load(u.company, 'Companies'); return { city: c.city, missing: "
                    + "load('companies/9', 'Companies') }; })",
                """{"city":"Ulm","missing":null}"""
            },
            {
                "map('Users', u => ({ tags: u.tags, city: u.address.city, deep: u.x.y.z, lat: u.address.geo.lat }))",
                """{"tags":["a","B","a"],"city":"Ulm","lat":48.4}"""
            },
            {
                "map('Users', u => ({ kind: u.age >= 18 ? 'adult' : 'minor', nick: u.nick || u.name, n: "
                    + "u.nothing ?? 'none' }))",
                """{"kind":"adult","nick":"Ann Lee","n":"none"}"""
            },
            {
                "map('Users', u => ({ text: `${u.name} (${u.age})`, total: u.lines.reduce((s, l) => s + l.q * "
                    + "l.price, 0) }))",
                """{"text":"Ann Lee (41)","total":9}"""
            },
            {
                "/* of users */ // all\nmap('Users', u => u.age > 50 && { age: u.age } || { young: true })",
                """{"young":true}"""
            },
            { "map('Users', u => u.lines)", "refused" },
            { "map('Users', u => 5)", "refused" },
        };

    public static TheoryData<string, string> Linq =>
        new()
        {
            { "docs.Users.Select(u => new { u.name, count = 1 })", """{"name":"Ann Lee","count":1}""" },
            {
                "docs.Users.Select(u => new {\r\n    name = u.name,\r\n    city = u.address.city\r\n})",
                """{"name":"Ann Lee","city":"Ulm"}"""
            },
            { "from doc in docs.Users select new { doc.name }", """{"name":"Ann Lee"}""" },
            {
                "from doc in docs select new { c = MetadataFor(doc)[\"@collection\"], d = "
                    + "doc[\"@metadata\"][\"@collection\"], doc.Id }",
                """{"c":"Users","d":"Users","Id":"users/1"}"""
            },
            {
                "from u in docs[\"Users\"] where u.age > 18 && u.nothing == null select new { u.age, u.address.city, }",
                """{"age":41,"city":"Ulm"}"""
            },
            { "from u in docs.Users where u.age < 18 select new { u.age }", "" },
            { "from u in docs.Users where u.missing < 18 || u.nothing >= 0 select new { u.age }", "" },
            {
                "from u in docs.Users from l in u.lines where l.q > 0 let v = l.q * l.price select new { l.p, "
                    + "v, u.name }",
                "{\"p\":\"x\",\"v\":3.0,\"name\":\"Ann Lee\"}\n{\"p\":\"y\",\"v\":6,\"name\":\"Ann Lee\"}"
            },
            { "from u in docs.Users from l in u.none select new { l.p }", "" },
            {
                "docs.Users.SelectMany(u => u.lines, (u, l) => new { u.name, l.p })",
                "{\"name\":\"Ann Lee\",\"p\":\"x\"}\n{\"name\":\"Ann Lee\",\"p\":\"y\"}\n{\"name\":\"Ann "
                    + "Lee\",\"p\":\"z\"}"
            },
            {
                "docs.Users.SelectMany(u => u.lines.Select(l => new { l.p }))",
                "{\"p\":\"x\"}\n{\"p\":\"y\"}\n{\"p\":\"z\"}"
            },
            {
                "docs.Users.SelectMany(u => u.lines, (u, l) => new { u = u, l = l }).Where(x => x.l.q >= "
                    + "3).Select(x => new { a = x.u.age, p = x.l.p })",
                """{"a":41,"p":"y"}"""
            },
            {
                "docs.Users.Where(u => u.name.StartsWith(\"Ann\")).Select(user => new { n = "
                    + "user.name.ToUpper().Trim().Substring(0, 3), l = user.name.Length, s = user.name.Split(' ') })",
                """{"n":"ANN","l":7,"s":["Ann","Lee"]}"""
            },
            {
                "from u in docs.Users let c = LoadDocument<Company>(u.company, \"Companies\") select new { "
                    + "c.name, other = this.LoadDocument(\"companies/2\", \"Companies\").city }",
                """{"name":"Acme","other":"Köln"}"""
            },
            {
                "from u in docs.Users select new { a = u.nothing ?? \"none\", b = u.age > 40 ? 'x' : 'y', "
                    + "c = (int)u.price, d = u.age.ToString(), e = (double)u.age / 2, f = -u.age % 7 }",
                """{"a":"none","b":"x","c":2,"d":"41","e":20.5,"f":-6}"""
            },
            {
                "from u in docs.Users select new { s = u.name + \"!\" + u.nothing, n = u.nothing + 1, m = "
                    + "u.missing * 2, t = 1 + 2 * 3 }",
                """{"s":"Ann Lee!","n":null,"m":null,"t":7}"""
            },
            {
                "from u in docs.Users select new { u.at.Year, m = u.at.Month, d = u.at.Day, h = u.at.Hour, i = "
                    + "u.at.Minute, s = u.at.Second }",
                """{"Year":2026,"m":11,"d":24,"h":3,"i":45,"s":7}"""
            },
            {
                "from u in docs.Users select new { q = u.lines.Sum(l => l.q), c = u.lines.Count(), d = "
                    + "u.lines.Count(l => l.q > 0), a = u.lines.Any(l => l.q > 2), z = u.lines.All(l => l.q > 0), m "
                    + "= u.lines.Max(l => l.price), v = u.lines.Average(l => l.q), i = u.lines.Min(l => l.p) }",
                """{"q":5,"c":3,"d":2,"a":true,"z":false,"m":9,"v":1.6666666666666667,"i":"x"}"""
            },
            {
                "from u in docs.Users select new { a = u.lines.First().p, b = u.lines.FirstOrDefault(l => l.q "
                    + "== 3).p, c = u.lines.Last().p, e = u.none.FirstOrDefault(), k = "
                    + "u.lines.Skip(1).Take(1).Select(l => l.p), r = u.tags.Reverse(), t = "
                    + "u.tags.Distinct().ToList() }",
                """{"a":"x","b":"y","c":"z","e":null,"k":["y"],"r":["a","B","a"],"t":["a","B"]}"""
            },
            {
                "from u in docs.Users select new { p = from l in u.lines where l.q > 0 select l.p, w = new[] { "
                    + "u.name, u.tags[1] }, j = string.Join(\"-\", u.tags), e = string.IsNullOrEmpty(u.missing), f = "
                    + "u.tags.Contains(\"B\"), g = u.name.Contains(\"Lee\") }",
                """{"p":["x","y"],"w":["Ann Lee","B"],"j":"a-B-a","e":true,"f":true,"g":true}"""
            },
            {
                "from u in docs.Users select new { r = Math.Round(u.price), x = Math.Max(u.age, 50), n = "
                    + "!u.flag, o = new { u.age, inner = u?.address?.city } }",
                """{"r":2.0,"x":50,"n":true,"o":{"age":41,"inner":"Ulm"}}"""
            },
            {
                "from doc in docs.Users.Where(x => x.age > 1) select new Result { Name = doc.name, Tags = new "
                    + "string[] { \"t\" } };",
                """{"Name":"Ann Lee","Tags":["t"]}"""
            },
            { "docs.Users.Select((Func<dynamic, dynamic>)(u => new { q = Enumerable }))", "refused" },
            {
                "docs.Users.Select((Func<dynamic, dynamic>)(u => new { q = u.lines.Sum((Func<dynamic, "
                    + "decimal>)(l => (decimal)l.q)), h = u.price.HasValue, v = u.price.Value }))",
                """{"q":5,"h":true,"v":2.5}"""
            },
            {
                "from u in docs.Users let x = u.lines.Select(l => l.p) select new { x, x2 = @\"a\"\"b\\\", u.age }",
                """{"x":["x","y","z"],"x2":"a\"b\\","age":41}"""
            },
            {
                "from u in docs.Users select new { a = u.lines.Aggregate(0, (s, l) => s + l.q), b = 1.5m, c = "
                    + "10L, d = u.age == 41 && true, e = u.name != \"x\", f = u.name.Equals(\"Ann Lee\") }",
                """{"a":5,"b":1.5,"c":10,"d":true,"e":true,"f":true}"""
            },
        };

    [Theory]
    [MemberData(nameof(JavaScript))]
    [MemberData(nameof(Linq))]
    public void A_map_returns_these_rows(string text, string rows)
    {
        if (rows is "refused")
        {
            Assert.Throws<ScriptException>(() => IndexScript.CompileMap(text));
            return;
        }

        Assert.Equal(rows, DefinitionExample.Map(text, Document));
    }

    [Theory]
    [InlineData("map('Users', u => ({ b: u.b, a: { c: 1 } }))", "b a")]
    [InlineData("map('Users', u => [{ a: 1 }, { b: 1, a: 2 }])", "a b")]
    [InlineData("map('Users', u => { if (u.x) { return { x: 1 } } else { return u.l.map(l => ({ y: l })) } })", "x y")]
    [InlineData("map('Users', u => { const r = { a: 1 }; return [r].concat([{ b: 2 }]); })", "a b")]
    [InlineData("map('Users', u => { const r = { a: 1 }; r.b = u.b; if (u.c) { r['c'] = 1 } return r; })", "a b c")]
    [InlineData("map('Users', u => { let r = {}; r.a = 1; r.b += 1; return [r]; })", "a b")]
    [InlineData("from u in docs.Users from l in u.lines select new { l.p, u.name }", "p name")]
    [InlineData("docs.Users.SelectMany(u => u.l.Select(l => new { l.p }).Distinct())", "p")]
    public void Fields_are_known_before_the_first_document(string text, string fields) =>
        Assert.Equal(fields, string.Join(' ', IndexScript.CompileMap(text).Fields));

    [Theory]
    [InlineData("r.b = 2")]
    [InlineData("r.b /* why */ = 2")]
    [InlineData("r/* a. */./* b */b// c\n+= 2")]
    [InlineData("r['b'] /* why */ = 2")]
    [InlineData("++ /* why */ r.b")]
    [InlineData("`${r.b = 2}`")]
    public void A_member_that_a_callback_adds_to_a_row_makes_the_map_fail(string statement) =>
        Assert.StartsWith(
            "The map adds the member 'b' to a row, but the fields of an index must be known before documents",
            DefinitionExample.Map(
                "map('Users', u => { const rows = [{ a: 1 }]; rows.forEach(r => { "
                    + statement
                    + " }); return rows; })",
                Document
            ),
            StringComparison.Ordinal
        );

    [Theory]
    [InlineData("function twice(n) { return n * 2 } map('Users', u => ({ n: twice(u.age) }))", "{\"n\":60}")]
    [InlineData(
        "// two\nfunction a(n) { return b(n) + 1 };\n function b(n) { return n * 2 }\nmap('Users', "
            + "function (u) { return { n: a(u.age) } });",
        "{\"n\":61}"
    )]
    [InlineData(
        "function add(r) { r.b = 1; return r } map('Users', u => { const r = { n: 1 }; add(r); return r })",
        "The map adds the member 'b' to a row, but the fields of an index must be known before documents are indexed: "
            + "write it in the object, { b: … }."
    )]
    public void Functions_may_be_declared_before_the_map(string text, string row) =>
        Assert.Equal(row, DefinitionExample.Map(text, """{"age":30,"@metadata":{"@collection":"Users"}}"""));

    [Fact]
    public void A_computed_member_of_a_row_is_refused() =>
        Assert.Throws<ScriptException>(() =>
            IndexScript.CompileMap("map('Users', u => { const r = { a: 1 }; r[u.name] = 2; return r; })")
        );

    [Theory]
    [InlineData("map('Users', u => ({ name: u.name }))", "Users")]
    [InlineData("map('@all_docs', u => ({ name: u.name }))", null)]
    [InlineData("docs.Users.Select(u => new { u.name })", "Users")]
    [InlineData("docs.Select(u => new { u.name })", null)]
    [InlineData("from u in docs select new { u.name }", null)]
    public void The_collection_of_a_map_is_determined(string text, string? collection) =>
        Assert.Equal(collection, IndexScript.CompileMap(text).Collection);

    [Fact]
    public void Loaded_collections_are_determined() =>
        Assert.Equal(
            ["Companies"],
            IndexScript
                .CompileMap("docs.Users.Select(u => new { c = LoadDocument<X.Y>(u.company, \"Companies\").name })")
                .Program.LoadedCollections
        );

    [Fact]
    public void A_map_still_runs_after_a_large_document()
    {
        string large = $$$"""{"n":1,"text":"{{{new string('x', 100_000)}}}","@metadata":{"@collection":"Users"}}""";
        Assert.Equal(
            "{\"n\":1}\n{\"n\":2}",
            DefinitionExample.MapAll(
                "map('Users', u => ({ n: u.n }))",
                large,
                """{"n":2,"@metadata":{"@collection":"Users"}}"""
            )
        );
    }

    [Fact]
    public void The_error_says_why_a_map_fails()
    {
        Assert.Equal(
            "The map failed: the script calls toLowerCase on a value that is no text.",
            DefinitionExample.Map("map('Users', u => ({ n: u.age.toLowerCase() }))", Document)
        );
        Assert.Contains(
            "more steps",
            DefinitionExample.Map(
                "map('Users', u => { let a = [1]; for (const x of a) { a.push(x) } return { a } })",
                Document
            ),
            StringComparison.Ordinal
        );
        Assert.Contains(
            "2048 rows",
            DefinitionExample.Map(
                "map('Users', u => u.l.map(x => ({ x })))",
                $$$"""{"l":[{{{string.Join(',', Enumerable.Repeat(1, 2049))}}}],"@metadata":{"@collection":"Users"}}"""
            ),
            StringComparison.Ordinal
        );
    }
}
