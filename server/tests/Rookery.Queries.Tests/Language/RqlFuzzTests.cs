using Rookery.Queries.Language;

namespace Rookery.Queries.Tests.Language;

/// <summary>The parser gets changed queries, most of which are invalid.</summary>
public sealed class RqlFuzzTests
{
    // Queries that together have each part of the language.
    private static readonly string[] Seeds =
    [
        "from Users as u where (u.name = $p0 or not exists(a.b[].c)) and age between 1 and 2.5e3 order by a as "
            + "long desc, score(), random('s') limit $p0, $p1",
        "declare function f(u, p) { return { a: `x${ u.b }`, r: /[}]/ }; } from index 'A/B' as u load u.friend "
            + "as f, u.x[] as y[] select f(u, $p0) include a, highlight(b, 1, 2)",
        "from @all_docs group by a, array(l[].p) where search(a, 'b \"c d\"', and) filter k = 1 select key() as k, count(), "
            + "sum(x.y) as z offset 5 filter_limit 7",
        "from 'it''s' where proximity(search(a, 'b'), 3) and boost(fuzzy(a = 'x', 0.5), 2) and intersect(a = "
            + "1, b = 2) select facet(a < 5, a > 5 and a < 9, sum(b) as 'c'), suggest(a, $t) /* x */ // y",
        "from Users where a all in ('x', \"y\\\"\", null, true, -0.5) and moreLikeThis(id() = 'x', '{}') "
            + "filter b != 1 update { this.x++; }",
    ];

    private static readonly string[] Pieces =
    [
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "'",
        "\"",
        "`",
        "${",
        "/",
        "*",
        "//",
        "/*",
        "*/",
        "\\",
        "$",
        "$p",
        ",",
        ";",
        ".",
        "=",
        "<",
        ">",
        "!",
        "-",
        "_",
        "@",
        "\n",
        "\0",
        "é",
        "\ud800",
        " and ",
        " or ",
        " not ",
        " in ",
        " all ",
        " from ",
        " where ",
        " select ",
        " order by ",
        " group by ",
        " load ",
        " include ",
        " limit ",
        " as ",
        "0",
        "1e",
        "9.",
        "id()",
        "facet(",
        "null",
    ];

    [Fact]
    public void Any_text_gives_a_query_or_an_error_with_a_position()
    {
        var random = new Random(20_260_618);
        int queries = 0;
        for (int round = 0; round < 20_000; round++)
        {
            string text = Mutate(random, Seeds[random.Next(Seeds.Length)]);
            try
            {
                Assert.Same(text, RqlParser.Parse(text).Text);
                queries++;
            }
            catch (QueryException error)
            {
                Assert.InRange(error.Position, 0, text.Length);
                Assert.EndsWith("^", QueryErrorText.Of(error, text), StringComparison.Ordinal);
            }
        }

        // Both many valid and many invalid texts must occur.
        Assert.InRange(queries, 500, 15_000);
    }

    private static string Mutate(Random random, string text)
    {
        for (int edits = random.Next(1, 4); edits > 0; edits--)
        {
            int position = random.Next(text.Length + 1);
            int removed = random.Next(3) == 0 ? random.Next(Math.Min(12, text.Length - position) + 1) : 0;
            string added = random.Next(4) switch
            {
                0 => "",
                1 => Cut(random, Seeds[random.Next(Seeds.Length)]),
                _ => Pieces[random.Next(Pieces.Length)],
            };
            text = text.Remove(position, removed).Insert(position, added);
        }

        return text;
    }

    private static string Cut(Random random, string seed)
    {
        int start = random.Next(seed.Length);
        return seed.Substring(start, random.Next(Math.Min(30, seed.Length - start)));
    }
}
