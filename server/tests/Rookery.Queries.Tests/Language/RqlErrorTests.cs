using System.Text;
using Rookery.Queries.Language;

namespace Rookery.Queries.Tests.Language;

/// <summary>Error messages, and their position as a caret in the query.</summary>
public sealed class RqlErrorTests
{
    [Theory]
    [InlineData("^", "The query ends where 'from' must follow.")]
    [InlineData("^select a from Users", "'select' stands where 'from' must stand.")]
    [InlineData("from ^", "The query ends where the name of a collection must follow.")]
    [InlineData("from Users u ^v", "'v' stands where a clause or the end of the query must stand.")]
    [InlineData("from Users as ^'u'", "'u' stands where an alias must stand.")]
    [InlineData("from Users where ^", "The query ends where a field or a condition must follow.")]
    [InlineData(
        "from Users where a ^5",
        "'5' stands where an operator (=, !=, <, <=, >, >=, in, all in, between) must stand."
    )]
    [InlineData("from Users where a = ^", "The query ends where a value must follow.")]
    [InlineData("from Users where a >^< 5", "'<' stands where a value must stand.")]
    [InlineData(
        "from Users where a = ^b",
        "'b' stands where a value must stand; a text needs quotes, and a field is compared with values only."
    )]
    [InlineData(
        "from Users where ^5 < age",
        "'5' stands where a field or a condition (the value comes after the operator) must stand."
    )]
    [InlineData("from Users where (a = 1^", "The query ends where ')' must follow.")]
    [InlineData("from Users where a = 1 and ^", "The query ends where a field or a condition must follow.")]
    [InlineData("from Users where a in ^'b'", "'b' stands where '(' must stand.")]
    [InlineData("from Users where a in ('b'^ 'c')", "'c' stands where ')' must stand.", 1)]
    [InlineData("from Users where a between 1 ^or 2", "'or' stands where 'and' must stand.")]
    [InlineData("from Users where ^foo(a)", "No function 'foo' can stand here.")]
    [InlineData("from Users where id(^x) = 1", "'x' is not the alias of 'from'; id() takes that alias or nothing.")]
    [InlineData("from Users where ^fuzzy(a > 1, 0.5)", "fuzzy() takes one equality: fuzzy(name = 'text', 0.5).")]
    [InlineData("from Users where search(a, 'b', ^xor)", "'xor' stands where 'and' or 'or' must stand.")]
    [InlineData("from Users where a = ^'b", "This text does not end: a closing ' is missing.")]
    [InlineData("from Users ^/* b", "This comment does not end: '*/' is missing.")]
    [InlineData("from Users where a = ^$", "A parameter needs a name after its '$'.")]
    [InlineData("from Users where a = ^#", "The character '#' has no meaning here.")]
    [InlineData("from Users where a = ^\U0001F600", "The character '\U0001F600' has no meaning here.")]
    [InlineData(
        "from Users where a = 5^b",
        "A number ends where 'b' stands; a name that begins with a digit needs quotes."
    )]
    [InlineData("from Users where ^'a..b' = 5", "The name of a field cannot be empty.")]
    [InlineData("from Users order ^a", "'a' stands where 'by' must stand.")]
    [InlineData("from Users where a = 1 filter_limit ^5", "'filter_limit' needs a 'filter'.")]
    [InlineData(
        "from Users as u include highlight(u.bio, 80, 1, $a), ^highlight(bio, 90, 2, $b)",
        "'highlight(bio)' is included twice: include it once."
    )]
    [InlineData(
        "from Users include explanations(), ^explanations($b)",
        "'explanations()' is included twice: include it once."
    )]
    [InlineData("from Users order by a nulls ^middle", "'middle' stands where 'first' or 'last' must stand.")]
    [InlineData(
        "from Users order by a as ^number",
        "'number' stands where 'string', 'long', 'double' or 'alphaNumeric' must stand."
    )]
    [InlineData(
        "from Users order by a as ^date desc",
        "'date' stands where 'string', 'long', 'double' or 'alphaNumeric' must stand."
    )]
    [InlineData(
        "from Users order by a as ^",
        "The query ends where 'string', 'long', 'double' or 'alphaNumeric' must follow."
    )]
    [InlineData(
        "from Users as u where u.a = 1 and ^x.b = 2",
        "'x' is no alias of this query. Write 'u.x.b' for a path of its documents."
    )]
    [InlineData(
        "from Users as u where search(^lines[].text, 'a')",
        "'lines' is no alias of this query. Write 'u.lines[].text' for a path of its documents."
    )]
    [InlineData(
        "from Users as u order by ^x.b desc",
        "'x' is no alias of this query. Write 'u.x.b' for a path of its documents."
    )]
    [InlineData(
        "from Users as u group by ^x.b select count()",
        "'x' is no alias of this query. Write 'u.x.b' for a path of its documents."
    )]
    [InlineData(
        "from Users as u load u.a as c select c.name, ^x.b as b",
        "'x' is no alias of this query. Write 'u.x.b' for a path of its documents."
    )]
    [InlineData(
        "from Users as u load ^x.a as c select c.name",
        "'x' is no alias of this query. Write 'u.x.a' for a path of its documents."
    )]
    [InlineData(
        "from Users as u select sum(^x.a)",
        "'x' is no alias of this query. Write 'u.x.a' for a path of its documents."
    )]
    [InlineData(
        "from Users as u include ^x.company",
        "'x' is no alias of this query. Write 'u.x.company' for a path of its documents."
    )]
    [InlineData(
        "from Users as u load u.company as c include u.boss, ^d.owner",
        "'d' is no alias of this query. Write 'u.d.owner' for a path of its documents."
    )]
    [InlineData("from Users where a = 1 ^where b = 2", "'where' occurs twice.")]
    [InlineData("from Users select a ^where b = 2", "'where' cannot follow 'select'.")]
    [InlineData("from Users limit 1 include b ^select a", "'select' cannot follow 'include'.")]
    [InlineData("from Users select a ^update { }", "'update' cannot follow 'select'.")]
    [InlineData("from Users limit ^-1", "'-1' stands where a whole number from 0 must stand.")]
    [InlineData(
        "from Users limit 1, 2 ^offset 5",
        "'offset' and the first number of 'limit' have the same meaning. Remove one of them."
    )]
    [InlineData(
        "from Users select facet(a), ^b",
        "facet() and suggest() cannot stand beside other parts of a selection."
    )]
    [InlineData("from Users select facet^()", "')' stands where a field, a range or an aggregate must stand.", 1)]
    [InlineData("from Users select ^{ a: 1", "This brace is not closed: '}' is missing.")]
    [InlineData("from Users select { a: ^'1 }", "This text of the script does not end: a closing ' is missing.")]
    [InlineData("declare function f() { } declare function ^f() { } from Users", "The function 'f' is declared twice.")]
    [InlineData("from Users as p select p.n as x, ^{ a: 1 }", "'{' stands where a field or a value must stand.")]
    public void A_syntax_error_shows_its_position(string marked, string message, int offset = 0) =>
        Check(QueryFault.Invalid, marked, message, offset);

    [Theory]
    [InlineData("from Users where ^spatial.within(a, spatial.circle(1, 2, 3))", "spatial.within()")]
    [InlineData("from Users where ^vector.search(v, $p0)", "vector.search()")]
    [InlineData("from Users where a in (^cmpxchg('k'))", "cmpxchg()")]
    [InlineData("from Users order by ^spatial.distance(a, b)", "spatial.distance()")]
    [InlineData("from Users order by ^custom(a, 'sorter')", "custom()")]
    [InlineData("from Users select ^timeseries(from HeartRate)", "timeseries()")]
    [InlineData("from Users include a, ^timeseries('hr', null, null)", "timeseries()")]
    [InlineData("from Users where ^revisions('p')", "revisions()")]
    [InlineData("^declare timeseries t() { } from Users", "declare timeseries")]
    [InlineData("^with { from Users } as u match (u)", "with")]
    [InlineData("^match (u)", "match")]
    [InlineData("from Users where a^[0].b = 1", "[0]")]
    [InlineData("from Users where a[]^[].b = 1", "[][]")]
    [InlineData("from Users select ^distinct { a: 1 }", "select distinct { … }")]
    [InlineData("from Users where ^spatial.contains(a, spatial.wkt($p0))", "spatial.contains()")]
    [InlineData("from Users where ^spatial.disjoint(a, spatial.wkt($p0))", "spatial.disjoint()")]
    [InlineData("from Users where ^spatial.intersects(spatial.point(a, b), spatial.wkt($p0))", "spatial.intersects()")]
    [InlineData("from Users where exact(^vector.search(embedding.text(a), $p0, 0.8, 10))", "vector.search()")]
    [InlineData("from Users where ^when($a != null, a = $a)", "when()")]
    [InlineData("from Users where a = 1 and ^when($a is not null, a = $a)", "when()")]
    [InlineData("from Users where at < ^now()", "now()")]
    [InlineData("from Users where at < ^now($p0)", "now()")]
    [InlineData("from Users where at >= ^today().AddDays", "today()")]
    [InlineData("from Users where at between ^today() and now()", "today()")]
    [InlineData("from Users where at in (^now())", "now()")]
    [InlineData("from Users where a = 1 filter at < ^now()", "now()")]
    [InlineData("from Users where a = ^cmpxchg($p0).Name", "cmpxchg()")]
    [InlineData("from Users select ^now() as at", "now()")]
    [InlineData("from Users select a, ^counters('likes')", "counters()")]
    [InlineData("from Users where ^counter('likes') > 1", "counter()")]
    [InlineData("from Users select ^counterRaw('likes')", "counterRaw()")]
    [InlineData("from Users select ^cmpxchg('k').Name", "cmpxchg()")]
    [InlineData("from Users as u select ^getMetadata(u)", "getMetadata()")]
    [InlineData("from Users as u select ^lastModified(u) as at", "lastModified()")]
    [InlineData("from Users group by ^1", "group by 1")]
    [InlineData("from Users group by ^null select count()", "group by null")]
    [InlineData("from Users group by a, ^$p0", "group by $p0")]
    [InlineData("from Users load ^$p as x select x.name", "load $p")]
    [InlineData("from Users as u load u.a as b, ^'users/1' as x select x.name", "load 'users/1'")]
    [InlineData("from Users where a = 1 ^with { from Users } as u", "with")]
    [InlineData("with ^edges (a) { } as e match (u)", "with", -5)]
    [InlineData("declare function f(x, y ^= 2) { return x } from Users", "a default value of a parameter")]
    [InlineData("declare function f(^{ n }) { return n } from Users", "a pattern as a parameter")]
    [InlineData("declare function f(x, ^[ n ]) { return n } from Users", "a pattern as a parameter")]
    [InlineData("declare function f(^...r) { return r } from Users", "a rest parameter")]
    [InlineData("declare ^async function f(x) { return x } from Users", "async function")]
    [InlineData("declare function^* f(x) { return x } from Users", "function*")]
    public void An_unsupported_part_is_refused_by_name(string marked, string part, int offset = 0) =>
        Check(QueryFault.NotSupported, marked, $"'{part}' is not supported by this version.", offset);

    [Theory]
    [InlineData("from Users select facet(a) include ^counters('likes')", "counters()")]
    [InlineData("from Users select suggest(a, 'b') include c, ^cmpxchg('mail')", "cmpxchg()")]
    [InlineData("from Users select facet(a) include timings(), ^highlight(b, 80, 2)", "highlight()")]
    [InlineData("from Users select facet(a) include ^explanations()", "explanations()")]
    public void Facets_and_suggestions_refuse_what_their_answer_would_not_contain(string marked, string included) =>
        Check(
            QueryFault.NotSupported,
            marked,
            $"'include {included}' beside facets or suggestions is not supported. Ask for it in a query of its own."
        );

    [Theory]
    [InlineData("from Users as u where ^c.name = 'a' load u.company as c select c.name", "c.name")]
    [InlineData("from Users as u load u.company as c filter ^c.city = 'Ulm' select u.name", "c.city")]
    [InlineData("from Users load lines[].product as p[] order by ^p[].name select name", "p[].name")]
    public void A_loaded_document_is_refused_in_conditions(string marked, string path) =>
        Check(
            QueryFault.NotSupported,
            marked,
            $"'{path}' is a field of a loaded document, which only 'select' may use in this version. To "
                + $"search by it, define a static index with LoadDocument."
        );

    [Theory]
    [InlineData("declare function f(u) { return u.a } from Users filter ^f(this) = 1")]
    [InlineData("declare function f(u) { return u.a } from Users as u where ^f(u)")]
    [InlineData("declare function f(u) { return u.a } from Users as u order by ^f(u)")]
    public void A_declared_function_is_refused_outside_of_select(string marked) =>
        Check(
            QueryFault.NotSupported,
            marked,
            "'f' is a declared function, which only 'select' may call in this version."
        );

    [Fact]
    public void After_the_alias_a_field_named_like_a_loaded_document_is_the_documents_own_field() =>
        Assert.NotNull(
            RqlParser.Parse("from Users as u where u.c.name = 'a' and c = 'b' load u.company as c select c.name").Where
        );

    [Fact]
    public void Nesting_above_the_limit_is_refused()
    {
        string fits = new string('(', 120) + "a = 1" + new string(')', 120);
        Assert.NotNull(RqlParser.Parse("from Users where " + fits).Where);
        foreach (string opening in (string[])["(", "not ", "exact(", "boost(", "intersect(", "moreLikeThis("])
        {
            string text = "from Users where " + string.Concat(Enumerable.Repeat(opening, 100_000));
            var error = Assert.Throws<QueryException>(() => RqlParser.Parse(text));
            Assert.Equal(QueryFault.Invalid, error.Fault);
            Assert.StartsWith("Conditions are nested deeper than 128 levels.", error.Message, StringComparison.Ordinal);
        }
    }

    [Fact]
    public void An_in_accepts_at_most_ten_thousand_values()
    {
        string terms = string.Join(',', Enumerable.Range(0, ConditionReader.MaxTerms));
        Assert.Equal(
            10_000,
            Assert.IsType<InCondition>(RqlParser.Parse($"from Users where a in ({terms})").Where).Values.Count
        );
        var error = Assert.Throws<QueryException>(() => RqlParser.Parse($"from Users where a in ({terms},1)"));
        Assert.Equal(QueryFault.TooCostly, error.Fault);
    }

    [Fact]
    public void A_caret_is_below_the_position()
    {
        const string Text = "from Users\r\nwhere a = 1\r\n\tand b >> 2\r\nlimit 5";
        var error = Assert.Throws<QueryException>(() => RqlParser.Parse(Text));
        Assert.Equal(
            "'>' stands where a value must stand.\nLine 3, column 9:\n\tand b >> 2\n\t       ^",
            QueryErrorText.Of(error, Text)
        );
    }

    [Fact]
    public void A_long_line_is_shown_around_the_position()
    {
        string text =
            "from Users where a in (" + string.Join(", ", Enumerable.Range(0, 1000)) + ") ! " + new string('x', 1000);
        var error = Assert.Throws<QueryException>(() => RqlParser.Parse(text));
        string[] lines = QueryErrorText.Of(error, text).Split('\n');
        Assert.Equal(4, lines.Length);
        Assert.Equal(160, lines[2].Length);
        Assert.Equal('!', lines[2][lines[3].IndexOf('^', StringComparison.Ordinal)]);
        Assert.StartsWith("Line 1, column ", lines[1], StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("")]
    [InlineData("x")]
    public void A_long_line_is_shown_from_and_to_a_whole_character(string before)
    {
        string text = before + string.Concat(Enumerable.Repeat("😀", 200));
        string shown = QueryErrorText.Of(new QueryException(QueryFault.Invalid, "Wrong.", 201), text).Split('\n')[2];
        Assert.Equal(shown, Encoding.UTF8.GetString(Encoding.UTF8.GetBytes(shown)));
    }

    [Fact]
    public void An_error_without_a_position_is_only_its_message() =>
        Assert.Equal(
            "Too much.",
            QueryErrorText.Of(new QueryException(QueryFault.TooCostly, "Too much."), "from Users")
        );

    private static void Check(QueryFault fault, string marked, string message, int offset = 0)
    {
        int position = marked.IndexOf('^', StringComparison.Ordinal);
        string text = marked.Remove(position, 1);
        var error = Assert.Throws<QueryException>(() => RqlParser.Parse(text));
        Assert.Equal(message, error.Message);
        Assert.Equal((fault, position + offset), (error.Fault, error.Position));
    }
}
