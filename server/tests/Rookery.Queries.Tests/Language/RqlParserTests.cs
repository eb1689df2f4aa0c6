using Rookery.Queries.Language;

namespace Rookery.Queries.Tests.Language;

/// <summary>The syntax tree of a query, and the cache of parsed queries.</summary>
public sealed class RqlParserTests
{
    [Fact]
    public void A_repeated_text_is_parsed_once()
    {
        string text = "from Users where name = $p0 order by age";
        var first = ParsedQueries.Read(text);
        Assert.Same(first, ParsedQueries.Read(new string(text.AsSpan())));
        for (int number = 0; number < 1_000; number++)
        {
            string other = $"from Users where name = $p{number} limit {number}";
            Assert.Equal(QueryPrinter.Print(RqlParser.Parse(other)), QueryPrinter.Print(ParsedQueries.Read(other)));
        }

        Assert.Throws<QueryException>(static () => ParsedQueries.Read("from Users where"));
        Assert.Throws<QueryException>(static () => ParsedQueries.Read("from Users where"));
    }

    [Theory]
    [InlineData("from a{0}")]
    [InlineData("from Users select name as a{0}")]
    [InlineData("from Users where a{0} = 1")]
    [InlineData("from Users order by a{0}")]
    public void A_long_name_takes_memory_in_proportion_to_its_length(string form)
    {
        string text = form.Replace("{0}", string.Concat(Enumerable.Repeat(".a", 50_000)), StringComparison.Ordinal);
        long before = GC.GetAllocatedBytesForCurrentThread();
        RqlParser.Parse(text);
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 300L * text.Length);
    }

    [Theory]
    [InlineData("from Users", "Collection Users")]
    [InlineData("FROM 'Users';", "Collection Users")]
    [InlineData("from 'my coll\\'s'", "Collection my coll's")]
    [InlineData("from \"it''s\"", "Collection it''s")]
    [InlineData("from 'it''s'", "Collection it's")]
    [InlineData("from '@all_docs'", "AllDocuments @all_docs")]
    [InlineData("from @all_docs as d where d.a = 1", "AllDocuments @all_docs as d | where (Equal a 1)")]
    [InlineData("from @empty", "Collection @empty")]
    [InlineData("from index 'Users/ByName'", "Index Users/ByName")]
    [InlineData(
        "from index 'Users/ByName' as i where i.Name = $p0",
        "Index Users/ByName as i | where (Equal Name $p0)"
    )]
    [InlineData("from 'index' where a = 1", "Collection index | where (Equal a 1)")]
    [InlineData("from Users u where u.name = 'x'", "Collection Users as u | where (Equal name 'x')")]
    [InlineData("from Users.Old", "Collection Users.Old")]
    [InlineData("  /* all */ from // really\n Users -- ", null)]
    [InlineData("  /* all */ from // really\n Users // to the end", "Collection Users")]
    public void A_source_is_parsed(string text, string? expected) => Check(text, expected);

    [Theory]
    [InlineData("name = $p0", "(Equal name $p0)")]
    [InlineData("name == 'a' ", "(Equal name 'a')")]
    [InlineData("name != null", "(NotEqual name null)")]
    [InlineData("name <> true", "(NotEqual name true)")]
    [InlineData("age<5", "(Less age 5)")]
    [InlineData("age <= -5.25", "(LessOrEqual age -5.25)")]
    [InlineData("age > 1_000_000", "(Greater age 1000000)")]
    [InlineData("age >= 1e5", "(GreaterOrEqual age 1e5)")]
    [InlineData("age = 007", "(Equal age 7)")]
    [InlineData("age = 0", "(Equal age 0)")]
    [InlineData("age = -0.50E-3", "(Equal age -0.50E-3)")]
    [InlineData("exact(name = $p0)", "(exact (Equal name $p0))")]
    [InlineData("u.addr.city = 'x'", "(Equal addr.city 'x')")]
    [InlineData("u.tags[].n = 'x'", "(Equal tags[].n 'x')")]
    [InlineData("tags[] = 'x'", "(Equal tags[] 'x')")]
    [InlineData("'my field' = 1", "(Equal my field 1)")]
    [InlineData("a.'b c'.d = 1", "(Equal a.b c.d 1)")]
    [InlineData("'addr.street name' = 1", "(Equal addr.street name 1)")]
    [InlineData("'lines[].p q' = 1", "(Equal lines[].p q 1)")]
    [InlineData("u.a.1b.2 = 1", "(Equal a.1b.2 1)")]
    [InlineData("@metadata.@last-modified > $p0", "(Greater @metadata.@last-modified $p0)")]
    [InlineData("'@metadata'.'@collection' = 'x'", "(Equal @metadata.@collection 'x')")]
    [InlineData("u.name = 'x'", "(Equal name 'x')")]
    [InlineData("u = 'x'", "(Equal u 'x')")]
    [InlineData("u[].a = 'x'", "(Equal u[].a 'x')")]
    [InlineData("name in ($p0)", "(in name $p0)")]
    [InlineData("name in ('a', 'b', 3, null)", "(in name 'a' 'b' 3 null)")]
    [InlineData("name in ()", "(in name)")]
    [InlineData("tags all in ($p0)", "(allin tags $p0)")]
    [InlineData("age between $p0 and $p1", "(between age $p0 $p1)")]
    [InlineData("age between 1 and 2 and b = 1", "(and (between age 1 2) (Equal b 1))")]
    [InlineData("startsWith(name, $p0)", "(StartsWith name $p0)")]
    [InlineData("STARTSWITH(name, 'a')", "(StartsWith name 'a')")]
    [InlineData("endsWith(u.name, $p0)", "(EndsWith name $p0)")]
    [InlineData("exists(a)", "(exists a)")]
    [InlineData("regex(name, '^[a-z]\\d{2,4}?$')", "(Regex name '^[a-z]\\d{2,4}?$')")]
    [InlineData("lucene(name, 'a*')", "(lucene name 'a*')")]
    [InlineData("search(bio, $p0)", "(search bio $p0 or)")]
    [InlineData("search(bio, $p0, or)", "(search bio $p0 or)")]
    [InlineData("search(bio, $p0, and)", "(search bio $p0 and)")]
    [InlineData("boost(name = $p0, 2)", "(boost (Equal name $p0) 2)")]
    [InlineData("boost(search(name, $p0), $p1)", "(boost (search name $p0 or) $p1)")]
    [InlineData("fuzzy(name = $p0, 0.5)", "(fuzzy (Equal name $p0) 0.5)")]
    [InlineData("proximity(search(bio, $p0), 3)", "(proximity (search bio $p0 or) 3)")]
    [InlineData(
        "intersect(a = 1, b = 2 or b = 3, c = 4)",
        "(intersect (Equal a 1) (or (Equal b 2) (Equal b 3)) (Equal c 4))"
    )]
    [InlineData("moreLikeThis(id() = $p0, $p1)", "(like (Equal id() $p0) $p1)")]
    [InlineData("moreLikeThis($p0)", "(like $p0)")]
    [InlineData("moreLikeThis('users/1', '{\"Boost\":true}')", "(like 'users/1' '{\"Boost\":true}')")]
    [InlineData("id() = $p0", "(Equal id() $p0)")]
    [InlineData("id(u) in ($p0)", "(in id() $p0)")]
    [InlineData("startsWith(id(), $p0)", "(StartsWith id() $p0)")]
    [InlineData("true", "every")]
    [InlineData("()", "every")]
    [InlineData("true and not exists(a)", "(and every (not (exists a)))")]
    [InlineData("not not a = 1", "(not (not (Equal a 1)))")]
    [InlineData("not a = 1 and b = 2", "(and (not (Equal a 1)) (Equal b 2))")]
    [InlineData("a = 1 or b = 2 and c = 3 or d = 4", "(or (Equal a 1) (and (Equal b 2) (Equal c 3)) (Equal d 4))")]
    [InlineData("(a = 1 or b = 2) and c = 3", "(and (or (Equal a 1) (Equal b 2)) (Equal c 3))")]
    [InlineData("name = $p0 and not exists(a)", "(and (Equal name $p0) (not (exists a)))")]
    [InlineData("(name = $p0) or (not (b = 1))", "(or (Equal name $p0) (not (Equal b 1)))")]
    [InlineData("in = 1 and order = 2 and search = 3", "(and (Equal in 1) (Equal order 2) (Equal search 3))")]
    [InlineData("name = 'a\\'b\\\\c\\n\\u0041\\q'", "(Equal name 'a'b\\c\nA\\q')")]
    [InlineData("count() > 5 and sum(u.x.y) = 1", "(and (Greater Count() 5) (Equal Sum(x.y) 1))")]
    [InlineData("key() = 5", "(Equal key() 5)")]
    public void A_condition_is_parsed(string condition, string expected) =>
        Check($"from Users as u where {condition}", $"Collection Users as u | where {expected}");

    [Theory]
    [InlineData("order by a", "order Natural a")]
    [InlineData(
        "ORDER BY a AS long DESC, b as double, c as alphaNumeric asc, d as string, score(), random('s')",
        "order Long a desc, Double b, AlphaNumeric c, Text d, Score desc, Random 's'"
    )]
    [InlineData(
        "order by score() asc, random(), random($p0), id() desc, u.a.b",
        "order Score, Random, Random $p0, Natural id() desc, Natural a.b"
    )]
    [InlineData(
        "order by a as long desc nulls last, b NULLS FIRST, nulls nulls last",
        "order Long a desc nulls Last, Natural b nulls First, Natural nulls nulls Last"
    )]
    [InlineData("order by 'first name' desc", "order Natural first name desc")]
    [InlineData(
        "group by a, u.b[].c, array(u.lines[].p) as k order by count() as long desc select key(), count() as n",
        "group a, b[].c, array(lines[].p) as k | order Long Count() desc | select [key(), Count() as n]"
    )]
    [InlineData(
        "group by a, b select a as 'A', count() as count, sum(x) as X",
        "group a, b | select [a as A, Count() as count, Sum(x) as X]"
    )]
    [InlineData(
        "group by Array(u.lines[].p) where n > 2 select key() as k, min(a), MAX(b), avg(c), average(d)",
        "group array(lines[].p) | where (Greater n 2) | select [key() as k, Min(a), Max(b), Average(c), Average(d)]"
    )]
    [InlineData(
        "load u.friend as f, u.lines[].product as p[] select f.name, p.name as products",
        "load friend as f, lines[].product as p[] | select [f.name, p.name as products]"
    )]
    [InlineData("filter age = $p0 filter_limit $p1", "filter (Equal age $p0) | filter_limit $p1")]
    [InlineData(
        "where a = 1 filter age = 5 limit 2, 10 filter_limit 100",
        "where (Equal a 1) | filter (Equal age 5) | filter_limit 100 | offset 2 | limit 10"
    )]
    [InlineData(
        "select name, u.age as A, @metadata.@nested-object-types as __PROJECTED_NESTED_OBJECT_TYPES__",
        "select [name, age as A, @metadata.@nested-object-types as __PROJECTED_NESTED_OBJECT_TYPES__]"
    )]
    [InlineData("select distinct *", "select distinct []")]
    [InlineData("select *", "select []")]
    [InlineData("select distinct name", "select distinct [name]")]
    [InlineData(
        "select 1 as one, true as yes, null as none, $p0 as p, 'first name', id(), score() as s",
        "select [1 as one, true as yes, null as none, $p0 as p, first name, id(), score() as s]"
    )]
    [InlineData("select name as 'a.b', name as c.d", "select [name as a.b, name as c.d]")]
    [InlineData("select { a: u.name, b: '}' } include x", "select { a: u.name, b: '}' } | include Documents x")]
    [InlineData("update { this.n++; if (u.a) { put('x/') } }", "update { this.n++; if (u.a) { put('x/') } }")]
    [InlineData("select facet(brand)", "select [(facet brand)]")]
    [InlineData(
        "select facet(brand, $p0, sum(total), avg(u.x) as 'average x') as b, facet(id('facets/1'))",
        "select [(facet brand Sum(total) Average(x) as average x $p0) as b, (facet 'facets/1')]"
    )]
    [InlineData(
        "select facet(price < 100, price >= 100 and price < 200, price between 200 and 300, sum(a))",
        "select [(facet (Less price 100) (and (GreaterOrEqual price 100) (Less price 200)) (between price 200 "
            + "300) Sum(a))]"
    )]
    [InlineData(
        "select suggest(name, $p0, $p1) as s, suggest(name, 'x')",
        "select [(suggest name $p0 $p1) as s, (suggest name 'x')]"
    )]
    [InlineData(
        "include friend,u.x,u.lines[].product,'a "
            + "b',timings(),explanations($p0),highlight(name,10,1,$p0),highlight(u.bio, 5, $p2)",
        "include Documents friend, Documents x, Documents lines[].product, Documents a b, Timings, "
            + "Explanations $p0, Highlight name 10 1 $p0, Highlight bio 5 $p2"
    )]
    [InlineData("limit 10", "limit 10")]
    [InlineData("limit $p0, $p1", "offset $p0 | limit $p1")]
    [InlineData("limit null, 5", "offset null | limit 5")]
    [InlineData("limit 10 offset 5;", "offset 5 | limit 10")]
    [InlineData("offset 5 limit 10", "offset 5 | limit 10")]
    [InlineData("offset $p0", "offset $p0")]
    public void A_clause_is_parsed(string clause, string expected) =>
        Check($"from Users as u {clause}", $"Collection Users as u | {expected}");

    [Theory]
    [InlineData(" return `}${ { a: `}` }.a }`; /* } */ // }\n")]
    [InlineData(" return /[}/]\\/}/.test(u.a) ? u.a / 2 : \"}\\\"}\"; ")]
    [InlineData(" var a = u.b\n / 2; if (/}/.test(a)) { return {}; } return { a: (a) / 2 }; ")]
    public void A_script_ends_at_its_own_brace(string body)
    {
        Check(
            $"declare function f(u, p) {{{body}}} declare function g() {{}} from Users as u where a = 1 "
                + $"select f(u, $p0, 'x', u.a.b)",
            $"function f(u p){{{body}}} | function g(){{}} | Collection Users as u | where (Equal a 1) | "
                + $"select call f(u, $p0, 'x', u.a.b)"
        );
        Check($"from Users as u select {{{body}}} limit 5", $"Collection Users as u | select {{{body}}} | limit 5");
    }

    [Fact]
    public void Positions_are_those_of_the_text()
    {
        var query = RqlParser.Parse("from Users as u where  u.age > 5 and exists(name) order by x select { a: 1 }");
        var condition = Assert.IsType<AndCondition>(query.Where);
        Assert.Equal(11, query.Source.Position + 6);
        Assert.Equal(23, condition.Position);
        var first = Assert.IsType<ComparisonCondition>(condition.Conditions[0]);
        Assert.Equal((23, 23, 31), (first.Position, first.Field.Position, first.Value.Position));
        Assert.Equal(37, condition.Conditions[1].Position);
        Assert.Equal(59, query.OrderBy[0].Position);
        Assert.Equal(" a: 1 ", query.Text.Substring(Assert.IsType<ScriptSelection>(query.Select).Script.Position, 6));
    }

    private static void Check(string text, string? expected)
    {
        if (expected is null)
        {
            Assert.Throws<QueryException>(() => RqlParser.Parse(text));
            return;
        }

        Assert.Equal(expected, QueryPrinter.Print(RqlParser.Parse(text)));
    }
}
