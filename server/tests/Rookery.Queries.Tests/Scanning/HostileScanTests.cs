using System.Text;
using Rookery.Indexing.Values;
using Rookery.Queries.Conditions;
using Rookery.Queries.FullText;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;
using Rookery.Search.Analysis;

namespace Rookery.Queries.Tests.Scanning;

/// <summary>Queries and documents crafted to be expensive end with bounded work or an error.</summary>
public sealed class HostileScanTests
{
    [Fact]
    public void Ten_thousand_terms_are_looked_up_and_not_compared()
    {
        var example = new ScanExample(
            Enumerable
                .Range(0, 200)
                .Select(static number =>
                    $$"""{ "n": {{number * 100}}, "l": [{{string.Join(',', Enumerable.Range(0, 500))}}] }"""
                )
        );
        string list = string.Join(',', Enumerable.Range(0, 10_000));
        Assert.Equal(100, example.Ask("from Users where n in ($l)", $$"""{ "l": [{{list}}] }""").Total);
        Assert.Equal(200, example.Ask("from Users where l in ($l)", $$"""{ "l": [{{list}}] }""").Total);
        Assert.Equal(0, example.Ask("from Users where l all in ($l)", $$"""{ "l": [{{list}}] }""").Total);
    }

    [Fact]
    public void More_terms_than_a_query_may_have_are_refused()
    {
        string list = string.Join(',', Enumerable.Range(0, 70_000));
        Assert.Equal(
            QueryFault.TooCostly,
            Assert
                .Throws<QueryException>(() => new ScanExample("{}").Where("n in ($l)", $$"""{ "l": [{{list}}] }"""))
                .Fault
        );
    }

    [Fact]
    public void Very_deeply_nested_conditions_are_refused()
    {
        Condition condition = new EveryCondition(0);
        for (int level = 0; level < 100_000; level++)
        {
            condition = new NotCondition(condition, Position: 0);
        }

        var query = new Query
        {
            Text = "",
            Source = new Source(SourceKind.AllDocuments, "@all_docs", Alias: null, Position: 0),
            Where = condition,
        };
        Assert.Equal(
            QueryFault.TooCostly,
            Assert.Throws<QueryException>(() => CompiledQuery.Compile(query, QueryParameters.None)).Fault
        );
    }

    [Theory]
    [InlineData("regex(t, '^(a+)+$')")]
    [InlineData("regex(t, '^(a|aa)*b$')")]
    [InlineData("regex(t, '(a*)*(a*)*(a*)*(a*)*b')")]
    public void Patterns_that_make_backtracking_engines_slow_take_linear_time(string condition) =>
        Assert.Equal("", new ScanExample($$"""{ "t": "{{new string('a', 5_000)}}!" }""").Where(condition));

    [Theory]
    [InlineData("lucene(t, '*a*a*a*a*a*a*a*a*a*b')")]
    [InlineData("exact(lucene(t, '*a*a*a*a*a*a*a*a*a*b'))")]
    public void Many_stars_in_a_pattern_do_not_multiply_its_steps(string condition) =>
        Assert.Equal("", new ScanExample($$"""{ "t": "{{new string('a', 5_000)}}!" }""").WhereWords(condition));

    [Theory]
    [InlineData("from Users order by t limit 1")]
    [InlineData("from Users where t = 'x'")]
    [InlineData("from Users where startsWith(t, 'x') or endsWith(t, 'y') or regex(t, 'zz')")]
    [InlineData("from Users where l.a = 5 or l.a = 'x'")]
    [InlineData("from Users group by l[].a select l[].a as k, count() as c limit 1")]
    [InlineData("from Users group by t select count()")]
    [InlineData("from Users select distinct l")]
    public void A_document_of_the_maximum_size_is_evaluated(string query)
    {
        string elements = string.Join(
            ',',
            Enumerable.Range(0, 200_000).Select(static number => $"{{\"a\":{number % 1000 + 6}}}")
        );
        var example = new ScanExample($$"""{ "t": "{{new string('\u00c4', 2_500_000)}}", "l": [{{elements}}] }""");
        Assert.InRange(example.Ask(query).Total, 0, 1000);
    }

    // 100 KB, selected as often as the query says. A result may have 64 KiB and twice the bytes of its source.
    [Theory]
    [InlineData("from Users select distinct {0}", 4)]
    [InlineData("from Users order by id() select distinct {0}", 4)]
    [InlineData("from Users group by t select {0}", 4)]
    [InlineData("from Users group by t select key() as k, {0}", 8)]
    public void A_result_that_repeats_a_large_field_is_refused(string query, int count)
    {
        var example = new ScanExample($$"""{ "t": "{{new string('x', 100_000)}}" }""");
        Assert.Equal(1, example.Ask(QueryOf(1)).Total);
        var error = Assert.Throws<QueryException>(() => example.Ask(QueryOf(count)));
        Assert.Equal(QueryFault.TooCostly, error.Fault);

        string QueryOf(int members) =>
            query.Replace(
                "{0}",
                string.Join(", ", Enumerable.Range(0, members).Select(static member => $"t as t{member}")),
                StringComparison.Ordinal
            );
    }

    [Fact]
    public void A_document_of_the_maximum_depth_is_evaluated()
    {
        string deep = $"{{\"a\":{new string('[', 120)}1{new string(']', 120)}}}";
        Assert.Equal("1", new ScanExample(deep).Where("a = 1"));
    }

    [Fact]
    public void The_clock_is_checked_while_one_document_is_compared_with_many_conditions()
    {
        var example = new ScanExample($$"""{ "t": "{{new string('x', 1_000_000)}}" }""");
        string condition = string.Join(
            " or ",
            Enumerable.Range(0, 1_000).Select(static number => $"exists(f{number})")
        );
        CompiledQuery plan = CompiledQuery.Compile(
            RqlParser.Parse($"from Users where {condition}"),
            QueryParameters.None
        );
        var clock = new ImpatientClock();
        Assert.Throws<QueryException>(() => example.Ask(plan, clock));
        Assert.Equal(ImpatientClock.Patience, clock.Checks);
    }

    // The repeated part of the query, its separator, how often it occurs, the bytes of its parameter, and the limit.
    [Theory]
    [InlineData("a=$p", " or ", 1_025, 1, "1024 conditions")]
    [InlineData("a=$p", " or ", 100, 100_000, "8 MiB")]
    [InlineData("startsWith(a,$p)", " or ", 1, 5_000, "4096 bytes")]
    [InlineData("endsWith(a,$p)", " or ", 1, 100_000, "4096 bytes")]
    [InlineData("regex(a,$p)", " or ", 9, 5, "8 regular expressions")]
    [InlineData("true order by a", ",a", 65, 1, "64 keys of 'order by'")]
    public void Memory_of_a_compiled_query_is_bounded(
        string part,
        string separator,
        int count,
        int parameterBytes,
        string message
    )
    {
        string repeated = separator.StartsWith(',')
            ? string.Concat(Enumerable.Repeat(separator, count - 1))
            : string.Concat(Enumerable.Repeat(separator + part, count - 1));
        var error = Assert.Throws<QueryException>(() =>
            CompiledQuery.Compile(
                RqlParser.Parse($"from Users where {part}{repeated}"),
                QueryParameters.Read(Encoding.UTF8.GetBytes($$"""{ "p": "{{new string('x', parameterBytes)}}" }"""))
            )
        );
        Assert.Equal(QueryFault.TooCostly, error.Fault);
        Assert.Contains(message, error.Message, StringComparison.Ordinal);
        Assert.True(error.Position > 0);
    }

    [Fact]
    public void Numbers_of_group_keys_and_clause_terms_are_bounded()
    {
        string keys = string.Join(',', Enumerable.Range(0, 65).Select(static number => $"k{number}"));
        Assert.Equal(
            QueryFault.TooCostly,
            Assert.Throws<QueryException>(() => new ScanExample("{}").Rows($"from Users group by {keys}")).Fault
        );
        string terms = string.Join(' ', Enumerable.Repeat("x", 65));
        Assert.Equal(
            QueryFault.TooCostly,
            Assert.Throws<QueryException>(() => new ScanExample("{}").WhereWords($"lucene(a, '{terms}')")).Fault
        );
    }

    [Fact]
    public void The_clock_is_checked_while_one_text_is_compared_with_one_term()
    {
        var example = new ScanExample($$"""{ "t": "{{new string('a', 200_000)}}" }""");
        var clock = new ImpatientClock();
        using var words = new FullTextConditions(static _ => AnalyzerCatalog.Default);
        CompiledQuery plan = CompiledQuery.Compile(
            RqlParser.Parse($"from Users where exact(lucene(t, '*{new string('a', 200)}b'))"),
            QueryParameters.None,
            words
        );
        Assert.Throws<QueryException>(() => example.Ask(plan, clock));
        Assert.Equal(ImpatientClock.Patience, clock.Checks);
    }

    [Fact]
    public void Parameters_that_are_not_an_object_are_refused() =>
        Assert.Equal(
            QueryFault.Invalid,
            Assert.Throws<QueryException>(static () => QueryParameters.Read(Encoding.UTF8.GetBytes("[1]"))).Fault
        );

    /// <summary>Ends the work at the tenth check.</summary>
    private sealed class ImpatientClock : IWorkLimits
    {
        /// <summary>The number of checks at which the time is over.</summary>
        public const int Patience = 10;

        public int Checks { get; private set; }

        public void CheckLimits()
        {
            if (++Checks == Patience)
            {
                throw new QueryException(QueryFault.TooCostly, "The time of the query is over.");
            }
        }
    }
}
