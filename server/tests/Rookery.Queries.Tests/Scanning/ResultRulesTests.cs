using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Tests.Scanning;

/// <summary>
/// The rules of docs/reference/rql.md ("What values mean") about orders and results, each by its number.
/// </summary>
public sealed class ResultRulesTests
{
    private static readonly ScanExample Things = new(
        """{ "v": 10, "s": "v10" }""",
        """{ "v": "b", "s": "v2" }""",
        """{ "v": null, "s": "V002" }""",
        """{ "v": [3, "a"], "s": "v" }""",
        """{ "s": 7 }""",
        """{ "v": true, "s": ["z", "a"] }""",
        """{ "v": 9.75, "s": "v2a" }"""
    );

    private static readonly ScanExample Orders = new(
        """{ "company": "a", "total": 0.1, "lines": [ { "p": "x", "n": 2 }, { "p": "y", "n": 3 } ], "tags": ["t", "u"] }""",
        """{ "company": "A", "total": 7, "lines": [ { "p": "x", "n": 5 }, { "n": 1 } ] }""",
        """{ "company": "a", "total": 0.2, "lines": [], "tags": ["t", "u"] }""",
        """{ "total": "many", "lines": { "p": "y", "n": null }, "tags": [] }""",
        """{ "company": 1.0, "total": 9007199254740993, "tags": "t" }""",
        """{ "company": 1, "total": [ 1, 2 ] }"""
    );

    // The order, and the numbers of the things (from 1) in that order.
    [Theory]
    [InlineData("v", "3 5 6 4 7 1 2")]
    [InlineData("v desc", "2 4 1 7 6 3 5")]
    [InlineData("v as long", "2 3 4 5 6 7 1")]
    [InlineData("v as double desc", "1 7 4 2 3 5 6")]
    [InlineData("v as string", "3 5 1 4 7 2 6")]
    [InlineData("s as alphaNumeric", "5 6 4 2 3 7 1")]
    [InlineData("s as alphaNumeric desc, v", "6 1 7 3 2 4 5")]
    [InlineData("id() desc", "7 6 5 4 3 2 1")]
    [InlineData("v nulls first", "3 5 6 4 7 1 2")]
    [InlineData("v nulls last", "6 4 7 1 2 3 5")]
    [InlineData("v desc nulls first", "3 5 2 4 1 7 6")]
    [InlineData("v desc nulls last", "2 4 1 7 6 3 5")]
    [InlineData("v as long nulls last", "4 7 1 2 3 5 6")]
    [InlineData("v as double desc nulls first", "2 3 4 5 6 1 7")]
    [InlineData("v as string nulls last", "1 4 7 2 6 3 5")]
    [InlineData("v as alphaNumeric nulls last, s", "4 7 1 2 6 5 3")]
    [InlineData("id() nulls last", "1 2 3 4 5 6 7")]
    public void Rules_20_to_23_results_have_the_order_of_their_values(string order, string numbers) =>
        Assert.Equal(numbers, Things.Numbers($"from Things order by {order}"));

    [Theory]
    [InlineData("from Users select distinct t")]
    [InlineData("from Users order by n select distinct t")]
    [InlineData("from Users select distinct *")]
    public void Results_are_equal_however_their_texts_are_escaped(string query) =>
        Assert.Single(
            new ScanExample("""{"t":["a",{"b":"/"}]}""", """{"t":["\u0061",{"\u0062":"\/"}]}""").Ask(query).Results
        );

    [Fact]
    public void Rule_24_equal_seeds_give_equal_orders_and_different_seeds_different_ones()
    {
        var many = new ScanExample(Enumerable.Repeat("{}", 50));
        string shuffled = many.Numbers("from Users order by random('a')");
        Assert.Equal(shuffled, many.Numbers("from Users order by random('a')"));
        Assert.NotEqual(shuffled, many.Numbers("from Users order by random('b')"));
        Assert.NotEqual(shuffled, many.Numbers("from Users"));
        Assert.Equal(50, shuffled.Split(' ').Distinct().Count());
    }

    [Fact]
    public void Rule_25_without_an_order_the_first_written_comes_first() =>
        Assert.Equal("1 2 3 4 5 6 7", Things.Numbers("from Things order by score()"));

    [Theory]
    [InlineData("company, missing as m, id() as i", """{"company":"a","m":null,"i":"users/1"}""")]
    [InlineData("lines[].p, lines.n as n, tags", """{"lines[].p":["x","y"],"n":[2,3],"tags":["t","u"]}""")]
    [InlineData(
        "lines[].missing as m, lines[].p.q as q, tags[].x as x",
        """{"m":[null,null],"q":[null,null],"x":[null,null]}"""
    )]
    [InlineData("1 as v, $p as p, @metadata.@collection as c", """{"v":1,"p":"x","c":"@empty"}""")]
    public void Rule_26_a_projection_returns_the_selected_members(string select, string row) =>
        Assert.Equal(row, Orders.Rows($"from Orders where id() = 'users/1' select {select}", """{ "p": "x" }"""));

    [Fact]
    public void Rule_26_a_field_may_have_the_name_of_the_alias() =>
        Assert.Equal(
            """{"company":"a"}""",
            Orders.Rows("from Orders as company where id() = 'users/1' select company.company")
        );

    [Theory]
    [InlineData("company as '@metadata'")]
    [InlineData("@metadata")]
    public void Rule_26_a_member_named_like_the_metadata_of_results_is_refused(string select) =>
        Assert.Equal(
            QueryFault.NotSupported,
            Assert.Throws<QueryException>(() => Orders.Rows($"from Orders select {select}")).Fault
        );

    [Theory]
    [InlineData("a[].x", """{"a[].x":[1,null,null,2,null,3,4]}""")]
    [InlineData("a.x as v", """{"v":[1,null,null,2,null,3,4]}""")]
    [InlineData("b[].c[].d as v", """{"v":[1,null,null,2,null,null]}""")]
    [InlineData("b.c.d as v, e[].f as w, e[].f[].g as x", """{"v":[1,null,null,2,null,null],"w":[],"x":[]}""")]
    public void Rule_26_each_element_of_an_array_keeps_its_index(string select, string row) =>
        Assert.Equal(
            row,
            new ScanExample(
                """{ "a": [ { "x": 1 }, { "y": 2 }, 5, [ { "x": 2 }, {} ], { "x": [3, 4] } ], "b": [ { "c": [ { "d": 1 }, {} ] }, {}, { "c": { "d": 2 } }, { "c": [] }, { "c": 7 }, null ], "e": [] }"""
            ).Rows($"from Users select {select}")
        );

    [Theory]
    [InlineData(
        "select distinct company",
        """{"company":"a"} {"company":"A"} {"company":null} {"company":1.0} {"company":1}""",
        5
    )]
    [InlineData("order by total desc select distinct company limit 2", """{"company":null} {"company":1.0}""", 5)]
    [InlineData("select distinct tags limit 1, 2", """{"tags":null} {"tags":[]}""", 4)]
    [InlineData(
        "order by company filter company = 'a' filter_limit 4 select distinct company",
        """{"company":"a"}""",
        1
    )]
    public void Rule_27_distinct_returns_equal_results_once(string clauses, string rows, long total)
    {
        (IReadOnlyList<string> results, long all) = Orders.Ask($"from Orders {clauses}");
        Assert.Equal(rows, string.Join(' ', results));
        Assert.Equal(total, all);
    }

    [Theory]
    [InlineData("order by n", "a b")]
    [InlineData("order by n desc", "a b")]
    [InlineData("order by m", "b a")]
    [InlineData("order by m desc", "b a")]
    public void Rule_27_the_first_in_order_of_equal_results_is_kept(string order, string keys)
    {
        var pairs = new ScanExample(
            """{ "k": "a", "n": 3, "m": 2 }""",
            """{ "k": "b", "n": 2, "m": 3 }""",
            """{ "k": "a", "n": 1, "m": 2 }""",
            """{ "k": "b", "n": 2, "m": 1 }"""
        );
        Assert.Equal(
            keys,
            string.Join(' ', pairs.Ask($"from Users {order} select distinct k").Results.Select(static row => row[6]))
        );
    }

    [Theory]
    [InlineData(
        "group by company select company, count() as n",
        """{"company":null,"n":1} {"company":1,"n":2} {"company":"A","n":1} {"company":"a","n":2}"""
    )]
    [InlineData("group by company", """{"company":null} {"company":1} {"company":"A"} {"company":"a"}""")]
    [InlineData(
        "group by lines[].p select key() as p, count(), sum(lines[].n) as n",
        """{"p":null,"Count":1,"n":1} {"p":"x","Count":2,"n":7} {"p":"y","Count":2,"n":3}"""
    )]
    [InlineData("group by lines[].p, company where company = 1 select key() as k", "")]
    [InlineData(
        "group by array(tags) select tags as k, count() as c",
        """{"k":null,"c":2} {"k":"t","c":1} {"k":["t","u"],"c":2} {"k":[],"c":1}"""
    )]
    [InlineData(
        "group by tags select tags as k, count() as c",
        """{"k":null,"c":2} {"k":"t","c":1} {"k":["t","u"],"c":2} {"k":[],"c":1}"""
    )]
    [InlineData("group by tags[] select key() as k, count() as c", """{"k":"t","c":3} {"k":"u","c":2}""")]
    [InlineData(
        "group by tags[], company where tags = 'u' select key() as k",
        """{"k":{"tags[]":"u","company":"a"}}"""
    )]
    [InlineData(
        "group by company select key(), count() as n",
        """{"company":null,"n":1} {"company":1,"n":2} {"company":"A","n":1} {"company":"a","n":2}"""
    )]
    [InlineData(
        "group by tags[], company where tags = 'u' select key(), count()",
        """{"Key":{"tags[]":"u","company":"a"},"Count":2}"""
    )]
    [InlineData("group by array(tags) as t where tags = 't' select key()", """{"t":"t"} {"t":["t","u"]}""")]
    [InlineData("group by company where company = 1 select key(), company", """{"Key":1,"company":1}""")]
    [InlineData("group by tags[] where tags = 'u' select key()", """{"tags[]":"u"}""")]
    public void Rule_28_documents_with_equal_keys_form_a_group(string clauses, string rows) =>
        Assert.Equal(rows, Orders.Rows($"from Orders {clauses}"));

    [Fact]
    public void Rule_28_a_key_has_one_form_however_its_documents_write_it()
    {
        var documents = new ScanExample(
            """{"a":"\u00e9\/","n":1.0}""",
            """{"a":"\u00E9/","n":1e0}""",
            """{"a":"é/","n":1}"""
        );
        Assert.Equal(
            """{"a":"é/","n":1,"c":3}""",
            documents.Rows("from Users group by a, n select a, n, count() as c")
        );
    }

    [Theory]
    [InlineData(
        "group by company where count() > 1 order by sum(total) desc select company as c, sum(total) as t",
        """{"c":1,"t":9007199254740996} {"c":"a","t":0.3}"""
    )]
    [InlineData(
        "group by company where company = 'A' order by n desc, company select company, count() as n",
        """{"company":"a","n":2} {"company":"A","n":1}"""
    )]
    [InlineData(
        "group by company order by company desc select company limit 1, 2",
        """{"company":"a"} {"company":1}"""
    )]
    [InlineData("group by company filter company = 'a' filter_limit 3 select company", """{"company":"A"}""")]
    public void Rule_29_groups_are_filtered_and_sorted_by_their_keys_and_aggregates(string clauses, string rows) =>
        Assert.Equal(rows, Orders.Rows($"from Orders {clauses}"));

    [Theory]
    [InlineData("count() as v", "1 2 1 2")]
    [InlineData("sum(total) as v", "0 9007199254740996 7 0.3")]
    [InlineData("avg(total) as v", "null 3002399751580332 7 0.15")]
    [InlineData("min(total) as v", "\"many\" 1 7 0.1")]
    [InlineData("max(total) as v", "\"many\" 9007199254740993 7 0.2")]
    [InlineData("max(missing) as v", "null null null null")]
    public void Rule_30_an_aggregate_computes_a_value_of_each_group(string select, string values) =>
        Assert.Equal(
            values,
            Orders
                .Rows($"from Orders group by company select {select}")
                .Replace("{\"v\":", "", StringComparison.Ordinal)
                .Replace("}", "", StringComparison.Ordinal)
        );

    [Theory]
    [InlineData("where exists(company) filter total < 1", "1 3", 2)]
    [InlineData("filter total < 1 filter_limit 2", "1", 1)]
    [InlineData("filter total < 1 filter_limit 0", "", 0)]
    [InlineData("order by total as double filter total < 1 filter_limit 2", "1", 1)]
    [InlineData("order by total as double desc filter exists(company) filter_limit 3", "5 2 6", 3)]
    public void Rule_31_filter_evaluates_results_in_the_order_of_the_answer(string clauses, string numbers, long total)
    {
        (IReadOnlyList<string> results, long all) = Orders.Ask($"from Orders {clauses}");
        Assert.Equal(numbers, string.Join(' ', results.Select(static id => id[6..])));
        Assert.Equal(total, all);
    }

    [Theory]
    [InlineData("limit 2", "1 2")]
    [InlineData("limit 1, 2", "2 3")]
    [InlineData("order by v limit 1, 2", "5 6")]
    [InlineData("order by v limit 6, 5", "2")]
    [InlineData("limit 99, 5", "")]
    [InlineData("limit 0", "")]
    [InlineData("limit $none, $none", "1 2 3 4 5 6 7")]
    public void Rule_32_paging_comes_last_and_the_total_counts_all_results(string clauses, string numbers)
    {
        (IReadOnlyList<string> results, long total) = Things.Ask($"from Things {clauses}", """{ "none": null }""");
        Assert.Equal(numbers, string.Join(' ', results.Select(static id => id[6..])));
        Assert.Equal(7, total);
    }

    [Fact]
    public void An_evaluation_without_a_total_ends_with_its_page()
    {
        CompiledQuery plan = CompiledQuery.Compile(RqlParser.Parse("from Things limit 1, 2"), QueryParameters.None);
        (IReadOnlyList<string> results, long total) = Things.Ask(plan, needsTotal: false);
        Assert.Equal(["users/2", "users/3"], results);
        Assert.Equal(3, total);
    }

    [Theory]
    [InlineData("from Orders group by a[].x, b[].y select count()", QueryFault.NotSupported, "several arrays")]
    [InlineData("from Orders group by company select total", QueryFault.Invalid, "'total'")]
    [InlineData("from Orders group by company where total = 1 select company", QueryFault.Invalid, "'total'")]
    [InlineData("from Orders order by count()", QueryFault.Invalid, "group by")]
    [InlineData("from Orders select a, b as a", QueryFault.Invalid, "named 'a'")]
    [InlineData("from Orders as o group by o.company select { x: o.total }", QueryFault.NotSupported, "groups")]
    [InlineData("from Orders as o load o.company as c select distinct c.name", QueryFault.NotSupported, "distinct")]
    [InlineData(
        "from Orders as o load o.company as c select c.name, score()",
        QueryFault.NotSupported,
        "beside 'load'"
    )]
    [InlineData("from Orders as o select { x: new Date() }", QueryFault.NotSupported, "'new Date()'")]
    [InlineData("from Orders as o select { x: p }", QueryFault.NotSupported, "the name 'p'")]
    [InlineData("from Orders as o select { x: }", QueryFault.Invalid, "A value")]
    [InlineData("from Orders group by company select facet(company)", QueryFault.Invalid, "facet")]
    [InlineData("from Orders select facet(id('facets/x'))", QueryFault.NotSupported, "facet setup")]
    [InlineData("from Orders select facet(company, '5')", QueryFault.Invalid, "JSON object")]
    [InlineData("from Orders select facet(company, '{\"Start\":-1}')", QueryFault.Invalid, "'Start'")]
    [InlineData("from Orders select suggest(company, 5)", QueryFault.Invalid, "a text")]
    [InlineData(
        "from Orders select suggest(company, 'x', '{\"Distance\":\"Far\"}')",
        QueryFault.Invalid,
        "JaroWinkler"
    )]
    [InlineData("from index 'Orders/ByCompany'", QueryFault.NotSupported, "from index")]
    [InlineData("from Orders group by x order by score()", QueryFault.NotSupported, "score()")]
    [InlineData("from Orders limit 'x'", QueryFault.Invalid, "")]
    [InlineData("from Orders group by company select count() include company", QueryFault.Invalid, "names no member")]
    [InlineData("from Orders group by company as c include company", QueryFault.Invalid, "which have 'c'")]
    [InlineData(
        "from Orders as o load o.company as c select c.name include c.boss",
        QueryFault.NotSupported,
        "loaded document 'c'"
    )]
    [InlineData(
        "from Orders as o load o.company as c select c.name include 'c.boss'",
        QueryFault.NotSupported,
        "loaded document 'c'"
    )]
    [InlineData(
        "from Orders as o load o.company as c, c.boss as b select b.name include b",
        QueryFault.NotSupported,
        "loaded document 'b'"
    )]
    [InlineData(
        "from Orders as o load o.company as c include highlight(c.name, 9, 1)",
        QueryFault.NotSupported,
        "'c' is a loaded document"
    )]
    [InlineData("from Orders include timings(1)", QueryFault.Invalid, "takes nothing")]
    [InlineData("from Orders include explanations('{}', 1)", QueryFault.Invalid, "one object of options")]
    [InlineData(
        "from Orders select facet(company, '{\"PageSise\":1}')",
        QueryFault.Invalid,
        "'PageSise' is not an option of 'facet'"
    )]
    [InlineData(
        "from Orders select suggest(company, 'x', '{\"Acuracy\":1}')",
        QueryFault.Invalid,
        "'Acuracy' is not an option of 'suggest'"
    )]
    [InlineData(
        "from Orders include highlight(company, 9, 1, '{\"Pre\":[]}')",
        QueryFault.Invalid,
        "'Pre' is not an option of 'highlight'"
    )]
    [InlineData(
        "from Orders include explanations('{\"Key\":1}')",
        QueryFault.Invalid,
        "'Key' is not an option of 'explanations'"
    )]
    [InlineData(
        "from Orders include highlight(company, 9, 1, '{\"PreTags\":[\"a\"],\"pretags\":[\"b\"]}')",
        QueryFault.Invalid,
        "'pretags' of 'highlight' is given twice"
    )]
    [InlineData(
        "from Orders select suggest(company, 'x', '{\"Accuracy\":1.5}')",
        QueryFault.Invalid,
        "'Accuracy' of 'suggest' must be a number from 0 to 1"
    )]
    [InlineData(
        "from Orders include highlight(company, 9, 1, '{\"GroupKey\":\"\\\\ud800\"}')",
        QueryFault.Invalid,
        "'GroupKey' of 'highlight' contains half of a surrogate pair"
    )]
    [InlineData(
        "from Orders include highlight(company, 9, 1, '{\"PreTags\":[\"a\",\"\\\\udc00\"]}')",
        QueryFault.Invalid,
        "'PreTags' of 'highlight' contains half of a surrogate pair"
    )]
    [InlineData(
        "from Orders select facet(company, '{\"TermSortMode\":\"\\\\ud800\"}')",
        QueryFault.Invalid,
        "'TermSortMode' of 'facet' contains half of a surrogate pair"
    )]
    [InlineData("from Orders where exact(search(company, 'a'))", QueryFault.NotSupported, "'exact' around 'search'")]
    [InlineData("from Orders where exact(not fuzzy(t = 'a', 0.5))", QueryFault.NotSupported, "'exact' around 'fuzzy'")]
    [InlineData(
        "from Orders where exact(company = 'a' and proximity(search(company, 'a b'), 2))",
        QueryFault.NotSupported,
        "'exact' around 'proximity'"
    )]
    [InlineData(
        "from Orders where exact(moreLikeThis('orders/1'))",
        QueryFault.NotSupported,
        "'exact' around 'moreLikeThis'"
    )]
    [InlineData("from Orders order by random() nulls last", QueryFault.Invalid, "'nulls first' and 'nulls last'")]
    [InlineData("from Orders order by score() desc nulls first", QueryFault.Invalid, "'nulls first' and 'nulls last'")]
    [InlineData(
        "from Orders select facet(total < 10, '{\"TermSortMode\":\"CountDesc\"}')",
        QueryFault.Invalid,
        "'TermSortMode' CountDesc"
    )]
    [InlineData(
        "from Orders select facet(sum(total), '{\"TermSortMode\":\"CountDesc\"}')",
        QueryFault.Invalid,
        "'TermSortMode' CountDesc"
    )]
    [InlineData("from Orders select facet('{\"PageSize\":1}')", QueryFault.Invalid, "A facet needs a field")]
    [InlineData("from Orders select facet(company, '{}', '{}')", QueryFault.Invalid, "has its options once")]
    public void An_error_names_the_invalid_or_unsupported_part(string query, QueryFault fault, string named)
    {
        QueryException refusal = Assert.Throws<QueryException>(() => Orders.Ask(query));
        Assert.Equal(fault, refusal.Fault);
        Assert.Contains(named, refusal.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Only_a_text_of_more_bytes_than_a_word_may_have_is_too_long_for_suggestions()
    {
        const string Mark = "\u0301"; // comparisons of words ignore it
        string longest = new('x', 255);
        foreach (string text in (string[])["", Mark, longest, longest + Mark])
        {
            Orders.Ask($"from Orders select suggest(company, '{text}')");
        }

        var refusal = Assert.Throws<QueryException>(() =>
            Orders.Ask($"from Orders select suggest(company, '{longest}x')")
        );
        Assert.Equal(QueryFault.TooCostly, refusal.Fault);
        Assert.Contains("more than 255 bytes", refusal.Message, StringComparison.Ordinal);
    }

    /// <summary>Formerly, a longer list of tags was replaced by the default.</summary>
    [Fact]
    public void More_tags_of_a_highlight_than_allowed_are_refused()
    {
        string tags = string.Join(',', Enumerable.Repeat("\"x\"", 65));
        var refusal = Assert.Throws<QueryException>(() =>
            Orders.Ask($"from Orders include highlight(company, 9, 1, '{{\"PostTags\":[{tags}]}}')")
        );
        Assert.Contains(
            "'PostTags' of 'highlight' must be a list of at most 64 texts",
            refusal.Message,
            StringComparison.Ordinal
        );
    }

    [Theory]
    [InlineData("from Users where id() = 'b' and x = 1", "Users ids:b")]
    [InlineData("from @all_docs where id() in ('b', 'a', 'B', 5)", " ids:a,b")]
    [InlineData("from Users where startsWith(id(), 'u/')", "Users prefix:u/")]
    [InlineData("from Users where startsWith(id(), 'u/') and id() = 'u/1'", "Users ids:u/1")]
    [InlineData("from Users where id() = 'a' or x = 1", "Users ")]
    [InlineData("from Users where not id() = 'a'", "Users ")]
    public void The_target_names_the_documents_to_read(string query, string expected)
    {
        ScanTarget target = CompiledQuery.Compile(RqlParser.Parse(query), QueryParameters.None).Target;
        Assert.Equal(
            expected,
            $"{target.Collection} {(target.Ids is null ? "" : "ids:" + string.Join(',', target.Ids))}"
                + $"{(target.IdPrefix is null ? "" : "prefix:" + target.IdPrefix)}"
        );
    }

    [Fact]
    public void Exceeding_the_memory_share_is_an_error()
    {
        var many = new ScanExample(
            Enumerable
                .Range(0, 2000)
                .Select(static number => $$"""{ "n": {{number}}, "t": "{{new string('x', 100)}}{{number}}" }""")
        )
        {
            Budget = new MemoryBudget(64 * 1024),
        };
        Assert.Equal("2000 1999", many.Numbers("from Users order by n desc limit 2"));
        foreach (
            string query in new[]
            {
                "from Users order by t",
                "from Users group by t select t",
                "from Users select distinct t",
                "from Users order by n select distinct t limit 1",
            }
        )
        {
            Assert.Equal(QueryFault.TooCostly, Assert.Throws<QueryException>(() => many.Ask(query)).Fault);
        }

        Assert.Equal(0, many.Budget.UsedBytes);
        Assert.Equal(2000, many.Ask("from Users limit 1").Total);
    }
}
