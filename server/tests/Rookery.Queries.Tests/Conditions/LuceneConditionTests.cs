using CsCheck;
using Rookery.Queries.Language;
using Rookery.Queries.Tests.Scanning;
using Rookery.Simulation;

namespace Rookery.Queries.Tests.Conditions;

/// <summary>What a clause of <c>lucene()</c> matches.</summary>
public sealed class LuceneConditionTests
{
    private static readonly string[] Words = ["ant", "bee", "cat", "dog"];

    private static readonly ScanExample Places = new(
        """{ "name": "Bistro du Centre", "t": ["x", "g"], "n": 5 }""",
        """{ "name": "Café Bystro", "t": ["x"], "n": [7, true] }""",
        """{ "name": "The Grill and Cafe", "t": "g x", "n": null }""",
        """{ "name": "Bar (171) \"Zum Löwen\"", "t": [["g"]] }""",
        """{ "name": 12345 }"""
    );

    [Theory]
    [InlineData("lucene(name, 'bistro')", "1")]
    [InlineData("lucene(name, 'BISTRO')", "1")]
    [InlineData("lucene(name, 'cafe')", "2 3")]
    [InlineData("lucene(name, 'bistro cafe')", "1 2 3")]
    [InlineData("lucene(name, 'bist*')", "1")]
    [InlineData("lucene(name, 'b?stro')", "1 2")]
    [InlineData("lucene(name, '*stro')", "1 2")]
    [InlineData("lucene(name, 'L?WE*')", "4")]
    [InlineData("lucene(name, '123*')", "5")]
    [InlineData("lucene(name, '*')", "1 2 3 4 5")]
    [InlineData("lucene(name, '(bistro OR cafe) AND NOT grill')", "1 2")]
    [InlineData("lucene(name, '+cafe +grill')", "3")]
    [InlineData("lucene(name, 'cafe -grill')", "2")]
    [InlineData("lucene(name, 'cafe AND grill OR bistro')", "3")]
    [InlineData("lucene(name, '\"du centre\"')", "1")]
    [InlineData("lucene(name, '\"centre du\"')", "")]
    [InlineData("lucene(name, '\"bistro centre\"')", "")]
    [InlineData("lucene(name, '\"bistro centre\"~1')", "1")]
    [InlineData("lucene(name, 'bistor~')", "1")]
    [InlineData("lucene(name, 'bistor~0.9')", "")]
    [InlineData("lucene(name, '[bistro TO cafe]')", "1 2 3")]
    [InlineData("lucene(name, '{bistro TO cafe}')", "2")]
    [InlineData("lucene(name, '[* TO 999]')", "4 5")]
    [InlineData("lucene(name, '\\\\(171\\\\)')", "4")]
    [InlineData("lucene(name, 'the')", "")]
    [InlineData("lucene(name, 'the AND grill')", "3")]
    [InlineData("lucene(name, '(the) OR bistro')", "1")]
    [InlineData("lucene(name, 'NOT bistro')", "")]
    [InlineData("lucene(name, '*:* NOT bistro')", "2 3 4 5")]
    [InlineData("lucene(name, 'grill AND (NOT bistro)')", "")]
    [InlineData("not lucene(name, 'bistro')", "2 3 4 5")]
    [InlineData("lucene(name, 'bistro^2 OR cafe')", "1 2 3")]
    [InlineData("lucene(t, 'x AND g')", "1 3")]
    [InlineData("lucene(t, 'g AND NOT x')", "4")]
    [InlineData("lucene(t, '\"x g\"')", "")]
    [InlineData("lucene(n, '5 OR true')", "1 2")]
    [InlineData("lucene(n, null)", "3")]
    [InlineData("lucene(n, $none)", "3")]
    [InlineData("lucene(name, $clause)", "1")]
    [InlineData("lucene(id(), 'users/1')", "1")]
    [InlineData("lucene(id(), 'USERS/? -users/3')", "1 2 4 5")]
    [InlineData("exact(lucene(name, 'Bistro*'))", "1")]
    [InlineData("exact(lucene(name, 'bistro*'))", "")]
    [InlineData("exact(lucene(name, '\"Bistro du Centre\" OR 12345'))", "1 5")]
    [InlineData("exact(lucene(name, 'Bistro'))", "")]
    [InlineData("exact(lucene(name, '\"Bistro du Centrr\"~0.5 OR Bistro\\\\ du\\\\ Centrr~'))", "1")]
    [InlineData("exact(lucene(t, '{a TO h}'))", "1 3 4")]
    [InlineData("exact(lucene(t, '{g TO g}'))", "")]
    public void A_clause_matches_the_words_of_a_document(string condition, string found) =>
        Assert.Equal(found, Places.WhereWords(condition, """{ "clause": "bistro", "none": null }"""));

    [Theory]
    [InlineData("lucene(name, 'a AND phone:b')", QueryFault.NotSupported, "'phone:'")]
    [InlineData("lucene(name, 5)", QueryFault.Invalid, "'lucene'")]
    [InlineData("lucene(name, $list)", QueryFault.Invalid, "'lucene'")]
    [InlineData("lucene(name, '')", QueryFault.Invalid, "term")]
    public void An_invalid_Lucene_clause_is_refused(string condition, QueryFault fault, string named)
    {
        var refusal = Assert.Throws<QueryException>(() => Places.WhereWords(condition, """{ "list": [] }"""));
        Assert.Equal(fault, refusal.Fault);
        Assert.Contains(named, refusal.Message, StringComparison.Ordinal);
    }

    /// <summary>
    /// Operators mean the same as in Lucene: all required terms, no excluded term, and at least one optional term if
    /// none is required.
    /// </summary>
    [Fact]
    public void Random_clauses_match_by_their_operators()
    {
        string[][] documents =
        [
            .. Enumerable
                .Range(0, 16)
                .Select(static bits => Words.Where((_, word) => (bits >> word & 1) == 1).ToArray()),
        ];
        var example = new ScanExample(
            documents.Select(static words =>
                $$"""{ "w": [{{string.Join(',', words.Select(static word => $"\"{word}\""))}}] }"""
            )
        );
        ClauseOf(depth: 2)
            .CheckEach(
                300,
                clause =>
                {
                    string expected = string.Join(
                        ' ',
                        documents
                            .Index()
                            .Where(document => clause.Holds(document.Item))
                            .Select(static document => $"{document.Index + 1}")
                            .Order(StringComparer.Ordinal)
                    );
                    Assert.Equal(expected, example.WhereWords($"lucene(w, '{clause.Text}')"));
                }
            );
    }

    private static Gen<Clause> ClauseOf(int depth)
    {
        var word = Gen.OneOf(Words)
            .Select(static word => new Clause(word, words => words.Contains(word, StringComparer.Ordinal)));
        var part =
            depth == 0
                ? word
                : Gen.Frequency(
                    (2, word),
                    (1, ClauseOf(depth - 1).Select(static clause => clause with { Text = $"({clause.Text})" }))
                );
        return Gen.Select(Gen.OneOf("", "+", "-"), part, static (sign, clause) => (Sign: sign, Clause: clause))
            .Array[1, 3]
            .Select(static parts => new Clause(
                string.Join(' ', parts.Select(static part => part.Sign + part.Clause.Text)),
                words =>
                    parts.All(part => part.Sign is "" || part.Clause.Holds(words) == part.Sign is "+")
                    && parts.Any(part =>
                        part.Sign is "+"
                        || (
                            part.Sign is ""
                            && parts.All(static other => other.Sign is not "+")
                            && part.Clause.Holds(words)
                        )
                    )
            ));
    }

    /// <summary>The text of a clause, and whether it matches a document with the given words.</summary>
    private sealed record Clause(string Text, Func<string[], bool> Holds);
}
