using System.Globalization;
using Rookery.Queries.Language;

namespace Rookery.Queries.Tests.Language;

/// <summary>Clauses of Lucene's query language: terms without a sign are optional, + is required, - excluded.</summary>
public sealed class LuceneParserTests
{
    [Theory]
    [InlineData("bistro", "bistro")]
    [InlineData("  bistro   cafe ", "bistro cafe")]
    [InlineData("a AND b", "+a +b")]
    [InlineData("a && b", "+a +b")]
    [InlineData("a OR b", "a b")]
    [InlineData("a || b", "a b")]
    [InlineData("a AND b OR c", "+a +b c")]
    [InlineData("a OR b AND c", "a +b +c")]
    [InlineData("a AND NOT b", "+a -b")]
    [InlineData("a NOT b", "a -b")]
    [InlineData("NOT a AND b", "-a +b")]
    [InlineData("+a -b !c", "+a -b -c")]
    [InlineData("+ a - b", "+a -b")]
    [InlineData("a -b AND c", "a -b +c")]
    [InlineData("(bistro OR cafe) AND NOT grill", "+(bistro cafe) -grill")]
    [InlineData("a AND (b (c AND d))", "+a +(b (+c +d))")]
    [InlineData("and or not ANDROID NOTE AND-b to", "and or not ANDROID NOTE AND-b to")]
    [InlineData("users/1-A a-b a+b x&y &&z", "users/1-A a-b a+b x&y &&z")]
    [InlineData("\"sales representative\"", "\"sales representative\"")]
    [InlineData("\"a \\\"b\\\" \\\\\"", "\"a \"b\" \\\"")]
    [InlineData("\"fluent french\"~5", "\"fluent french\"~5")]
    [InlineData("\"fluent french\"~5^2.5", "(\"fluent french\"~5)^2.5")]
    [InlineData("bist* b?stro *stro * ?", "bist* b?stro *stro * ?")]
    [InlineData("bistor~", "bistor~0.5")]
    [InlineData("bistor~0.7^3 x^3~0", "(bistor~0.7)^3 (x~0)^3")]
    [InlineData("bistro^2 OR (a b)^0.5", "(bistro)^2 ((a b))^0.5")]
    [InlineData("[apple TO banana] {a TO b}", "[apple TO banana] {a TO b}")]
    [InlineData("[* TO b] {\"a b\" TO *} [a b]^2", "[* TO b] {a b TO *} ([a TO b])^2")]
    [InlineData("[2026-01-01T00:00:00 TO \"*\"]", "[2026-01-01T00:00:00 TO \"*\"]")]
    [InlineData("bistro AND Phone:981*", "+bistro +Phone:981*")]
    [InlineData("a:b c : \"d e\" f:(g h:i) j:[k TO l]", "a:b c:\"d e\" (f:g h:i) j:[k TO l]")]
    [InlineData("*:* -a", "EVERY -a")]
    [InlineData("\\(171\\) a\\:b a\\*b \\u0041\\\\ \\AND a\\ b", "(171) a:b a*b A\\ AND \"a b\"")]
    public void A_clause_is_parsed_by_the_classic_rules(string clause, string expected) =>
        Assert.Equal(expected, Print(Parse(clause)));

    [Theory]
    [InlineData("")]
    [InlineData("  ")]
    [InlineData("(a")]
    [InlineData("a)")]
    [InlineData("()")]
    [InlineData("a AND")]
    [InlineData("OR a")]
    [InlineData("a AND OR b")]
    [InlineData("NOT NOT a")]
    [InlineData("+-a")]
    [InlineData("\"a")]
    [InlineData("[a TO b")]
    [InlineData("[a TO b}")]
    [InlineData("[a]")]
    [InlineData("a^")]
    [InlineData("a^0")]
    [InlineData("a^b")]
    [InlineData("a~1")]
    [InlineData("a~2")]
    [InlineData("a*~")]
    [InlineData("a:")]
    [InlineData(":a")]
    [InlineData("*:a")]
    [InlineData("a\\")]
    [InlineData("a\\u00")]
    [InlineData("\"a b\"~5000")]
    [InlineData("a^1.2.3")]
    [InlineData("\"abc\\")]
    [InlineData("[\"a\\")]
    public void An_invalid_clause_is_refused(string clause)
    {
        var refusal = Assert.Throws<QueryException>(() => LuceneParser.Parse(clause, position: 7));
        Assert.Equal((QueryFault.Invalid, 7), (refusal.Fault, refusal.Position));
    }

    [Fact]
    public void Any_text_gives_a_clause_or_a_refusal()
    {
        string[] pieces =
        [
            .. "ab \"\"\\\\()[]{}+-!^~:*?.09".Select(static c => $"{c}"),
            "\\u0041",
            " TO ",
            " AND ",
            " NOT ",
        ];
        var random = new Random(20_261_129);
        int clauses = 0;
        for (int round = 0; round < 20_000; round++)
        {
            try
            {
                Parse(string.Concat(random.GetItems(pieces, random.Next(1, 9))));
                clauses++;
            }
            catch (QueryException refusal)
            {
                Assert.Equal(0, refusal.Position);
            }
        }

        // Of both, valid and invalid clauses, there must be many.
        Assert.InRange(clauses, 500, 15_000);
    }

    [Fact]
    public void A_clause_above_its_limits_is_refused()
    {
        Assert.Equal(64, Assert.IsType<LuceneBoolean>(Parse(string.Join(' ', Enumerable.Repeat("a", 64)))).Parts.Count);
        foreach (
            string clause in (string[])
                [
                    string.Join(' ', Enumerable.Repeat("a", 65)),
                    new string('(', 40) + "a" + new string(')', 40),
                    new string('a', 600) + "*",
                ]
        )
        {
            Assert.Equal(QueryFault.TooCostly, Assert.Throws<QueryException>(() => Parse(clause)).Fault);
        }
    }

    private static LuceneClause Parse(string clause) => LuceneParser.Parse(clause, position: 0);

    private static string Print(LuceneClause clause) =>
        clause switch
        {
            LuceneBoolean boolean => string.Join(
                ' ',
                boolean.Parts.Select(static part =>
                    (
                        part.Occur switch
                        {
                            LuceneOccur.Must => "+",
                            LuceneOccur.MustNot => "-",
                            _ => "",
                        }
                    ) + (part.Clause is LuceneBoolean ? $"({Print(part.Clause)})" : Print(part.Clause))
                )
            ),
            LuceneEvery => "EVERY",
            LuceneBoosted boosted => string.Create(
                CultureInfo.InvariantCulture,
                $"({(boosted.Inner is LuceneBoolean ? $"({Print(boosted.Inner)})" : Print(boosted.Inner))}"
                    + $")^{boosted.Factor}"
            ),
            LuceneLeaf leaf => (leaf.Field is { } field ? field + ":" : "") + PrintLeaf(leaf),
            _ => clause.ToString(),
        };

    private static string PrintLeaf(LuceneLeaf leaf) =>
        leaf switch
        {
            LuceneText { Slop: > 0 } text => $"\"{text.Text}\"~{text.Slop}",
            LuceneText text => text.Text.Contains(' ', StringComparison.Ordinal) ? $"\"{text.Text}\"" : text.Text,
            LucenePattern pattern => pattern.Text.Replace(LucenePattern.Many, '*').Replace(LucenePattern.One, '?'),
            LuceneSimilar similar => string.Create(
                CultureInfo.InvariantCulture,
                $"{similar.Text}~{similar.Similarity}"
            ),
            LuceneRange range => $"{(range.IsIncluded ? '[' : '{')}{Bound(range.Low)} TO {Bound(range.High)}"
                + $"{(range.IsIncluded ? ']' : '}')}",
            _ => leaf.ToString(),
        };

    private static string Bound(string? bound) =>
        bound is null ? "*"
        : bound is "*" ? "\"*\""
        : bound;
}
