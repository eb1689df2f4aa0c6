using System.Text;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Values;
using Rookery.Queries.Conditions;
using Rookery.Queries.Execution;
using Rookery.Queries.FullText;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Tests.Execution;

/// <summary>What the answer of an automatic index reads and holds, and how long it stays valid.</summary>
public sealed class IndexAnswerTests
{
    private static readonly AutoIndexDefinition Definition = new(
        "Users",
        [
            new AutoIndexField(["name"], AutoIndexFieldUses.None),
            new AutoIndexField(["age"], AutoIndexFieldUses.None),
            new AutoIndexField(["kind"], AutoIndexFieldUses.None),
            new AutoIndexField(["bio"], AutoIndexFieldUses.Search),
        ]
    );

    [Fact]
    public void A_document_that_changed_after_indexing_is_evaluated_again()
    {
        using var example = new IndexExample(Definition);
        example.Put("Users/1", """{ "name": "Ann" }""");
        example.Put("users/2", """{ "name": "ANN" }""");
        example.Put("users/3", """{ "name": "Ann" }""");
        example.Apply();
        example.Put("users/2", """{ "name": "Ann", "age": 5 }""");
        example.Put("users/3", """{ "name": "Bob" }""");
        using var answer = example.Open(Plan("from Users where name = 'ann'"));
        Assert.Equal(
            ["users/1", "users/2", "users/3"],
            answer.Documents.Select(static document => Encoding.UTF8.GetString(document.Id.Span))
        );
        Assert.Equal(
            [true, true, false],
            answer.Documents.Select(document =>
                answer.IsStillResult(example.Document(Encoding.UTF8.GetString(document.Id.Span)), document.Etag)
            )
        );
        Assert.Equal(3, answer.Watermark);
    }

    [Fact]
    public void An_answer_keeps_its_results_while_the_index_changes()
    {
        using var example = CreateUsers(300);
        using var answer = example.Open(Plan("from Users where age >= 100 order by age desc limit 5, 3"));
        for (int number = 0; number < 300; number++)
        {
            example.Delete($"users/{number}");
        }

        example.Apply();
        example.Merge();
        Assert.Equal(200, answer.TotalResults);
        Assert.Equal(
            ["users/294", "users/293", "users/292"],
            answer.Documents.Select(static document => Encoding.UTF8.GetString(document.Id.Span))
        );
    }

    /// <summary>If each search kept its results, many deleted documents would use up the memory of queries.</summary>
    [Theory]
    [InlineData("from Users where age >= 0")]
    [InlineData("from Users where age >= 0 order by age as long desc")]
    public void A_page_that_is_continued_holds_the_memory_of_one_search(string query)
    {
        const int Documents = 5000;
        using var example = CreateUsers(Documents);
        long whole;
        using (var answer = example.Open(Plan($"{query} limit {2 * Documents}")))
        {
            Assert.Equal(Documents, answer.Documents.Count);
            whole = example.HeldBytes;
        }

        using var page = example.Open(Plan(query + " limit 10"));
        while (page.FindMore())
        {
            Assert.InRange(example.HeldBytes, 1, whole);
        }

        Assert.Equal(Documents, page.Documents.Count);
    }

    /// <summary>
    /// An earlier version refused a page after 80,000 deleted documents as too costly on a node of 128 MiB.
    /// </summary>
    [Theory]
    [InlineData("from Users where age >= 0")]
    [InlineData("from Users where age >= 0 order by age as long desc")]
    public void A_page_after_very_many_deleted_documents_holds_only_the_newest_results(string query)
    {
        const int Documents = 5000;
        const int Held = 512;
        using var example = CreateUsers(Documents);
        long most;
        using (var answer = example.Open(Plan($"{query} limit {3 * Held}")))
        {
            most = example.HeldBytes;
        }

        using var page = example.Open(Plan(query + " limit 10"));
        page.MaxSearchedAgain = Held;
        while (page.FindMore())
        {
            Assert.InRange(example.HeldBytes, 1, most);
        }

        Assert.Equal(Documents, page.Documents.Count);
    }

    /// <summary>A stream counts its results first, and reads them from the start afterwards.</summary>
    [Theory]
    [InlineData("from Users where age >= 0 limit 40")]
    [InlineData("from Users where age >= 0 order by age as long desc limit 3, 40")]
    [InlineData("from Users where search(bio, 'often') limit 40")]
    public void A_page_is_read_again_although_further_searches_dropped_its_results(string query)
    {
        using var example = CreateUsers(200);
        using var page = example.Open(Plan(query));
        page.MaxSearchedAgain = 16;
        long[] found = [.. page.Documents.Select(static document => document.Etag)];
        Assert.True(page.FindMore());
        Assert.True(page.FindMore());
        page.Rewind();
        Assert.Equal(found, page.Documents.Select(static document => document.Etag));
        Assert.True(page.FindMore());
        Assert.InRange(page.Documents.Count, found.Length + 1, int.MaxValue);
    }

    [Theory]
    [InlineData("from Users where search(bio, 'often') limit 10")]
    [InlineData("from Users where search(bio, 'often') order by age as long desc limit 4, 6")]
    public void A_page_that_has_all_results_is_not_searched_again(string query)
    {
        using var example = CreateUsers(10);
        using var answer = example.Open(Plan(query));
        long read = answer.PostingsRead;
        Assert.NotEqual(0, read);
        Assert.False(answer.FindMore());
        Assert.Equal(read, answer.PostingsRead);
    }

    [Fact]
    public void A_page_without_its_total_is_the_same_and_reads_less()
    {
        using var example = CreateUsers(20_000);
        const string Query = "from Users where search(bio, 'often seldom') limit 10";
        using var counted = example.Open(Plan(Query));
        using var page = example.Open(Plan(Query), needsTotal: false);
        Assert.Equal(20_000, counted.TotalResults);
        Assert.Equal(
            counted.Documents.Select(static document => (document.Etag, document.Score)),
            page.Documents.Select(static document => (document.Etag, document.Score))
        );
        Assert.InRange(page.PostingsRead, 1, counted.PostingsRead);
    }

    [Fact]
    public void Factors_that_multiply_beyond_the_range_of_numbers_give_finite_scores()
    {
        using var example = CreateUsers(300);
        using var page = example.Open(
            Plan(
                "from Users where boost(boost(search(bio, 'often'), 1e200), 1e200) and boost(age >= 0, 1e308) limit 10"
            )
        );
        Assert.All(page.Documents, static document => Assert.Equal(2e300, document.Score));
    }

    // Bound: ten entries of each segment, and the look-ups that find which entries come after ten known ones, for two
    // full segments and one of ten entries.
    [Theory]
    [InlineData("from Users where age >= 100 order by name limit 10", 80)]
    [InlineData("from Users where age >= 100 order by name desc limit 5, 5", 80)]
    [InlineData("from Users where age >= 100 order by age as double desc limit 10", 80)]
    [InlineData("from Users order by kind, name desc limit 10", 160)]
    [InlineData("from Users where kind >= 0 order by kind desc, name limit 10", 160)]
    public void A_sorted_page_reads_the_sort_keys_of_about_its_own_length_not_of_all_matches(string query, int maxKeys)
    {
        using var example = CreateUsers(4_000);
        for (int number = 4_000; number < 8_000; number++)
        {
            example.Put(
                $"users/{number}",
                $$"""{ "name": "name {{number}}", "age": {{number}}, "kind": {{number % 2}} }"""
            );
        }

        example.Apply();
        // The third segment: ten users with several names, which replace those of the first.
        for (int number = 0; number < 10; number++)
        {
            example.Put($"users/{number}", $$"""{ "name": ["name {{number}}", "zeno"], "kind": null }""");
        }

        example.Apply();
        using var answer = example.Open(Plan(query));
        Assert.False(answer.AreCandidates);
        Assert.InRange(answer.SortKeysRead, 1, maxKeys);
        var (expected, total) = example.Scan(RqlParser.Parse(query));
        Assert.Equal(total, answer.TotalResults);
        Assert.Equal(expected, answer.Documents.Select(static document => Encoding.UTF8.GetString(document.Id.Span)));
    }

    [Theory]
    [InlineData("from Users where name = 'ann'", 1, 10)]
    [InlineData("from Users where age < 10", 10, 64)]
    [InlineData("from Users where name = 'name 7' and search(bio, 'often')", 1, 400)]
    [InlineData("from Users where search(bio, 'seldom')", 10, 200)]
    public void Only_postings_of_the_terms_are_read(string query, int minPostings, int maxPostings)
    {
        using var example = CreateUsers(5_000);
        example.Put("users/ann", """{ "name": "ann" }""");
        example.Apply();
        using var answer = example.Open(Plan(query));
        Assert.False(answer.AreCandidates);
        Assert.InRange(answer.PostingsRead, minPostings, maxPostings);
    }

    [Fact]
    public void Thousands_of_terms_take_no_more_memory_than_a_few()
    {
        using var example = CreateUsers(2_000);
        var clock = new CountingClock();
        string names = string.Join(',', Enumerable.Range(0, 10_000).Select(static number => $"'name {number}'"));
        using (var inAny = example.Open(Plan($"from Users where name in ({names}) limit 1"), clock))
        {
            Assert.Equal(2_000, inAny.TotalResults);
        }

        using var inAll = example.Open(Plan($"from Users where name all in ({names})"), clock);
        Assert.Equal(0, inAll.TotalResults);
    }

    [Fact]
    public void A_phrase_takes_no_memory_per_document()
    {
        using var example = CreateUsers(5_000);
        var plan = Plan("from Users where search(bio, '\"often filler\"') limit 1");
        using (example.Open(plan))
        {
            // Warms up what is allocated once.
        }

        long before = GC.GetAllocatedBytesForCurrentThread();
        using var answer = example.Open(plan);
        Assert.InRange(answer.TotalResults!.Value, 4_000, 5_000);
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 200_000);
    }

    [Fact]
    public void A_query_can_time_out_while_it_reads_terms()
    {
        using var example = CreateUsers(2_000);
        var clock = new CountingClock { Patience = 1 };
        string pattern = string.Join(
            " or ",
            Enumerable.Range(0, 400).Select(static number => $"endsWith(name, 'x{number}')")
        );
        var refusal = Assert.Throws<QueryException>(() => example.Open(Plan($"from Users where {pattern}"), clock));
        Assert.Equal(QueryFault.TooCostly, refusal.Fault);
        using var later = example.Open(Plan("from Users where age = 5"));
        Assert.Equal(1, later.TotalResults);
    }

    [Fact]
    public void A_query_can_time_out_while_it_looks_for_a_phrase()
    {
        using var example = new IndexExample(Definition);
        string bio = string.Join(' ', Enumerable.Repeat("often filler", 2_000));
        for (int number = 0; number < 150; number++)
        {
            example.Put($"users/{number}", $$"""{ "bio": "{{bio}}" }""");
        }

        example.Apply();
        var query = Plan("from Users where search(bio, '\"often often\"')");
        var clock = new CountingClock { Patience = 1 };
        var refusal = Assert.Throws<QueryException>(() => example.Open(query, clock));
        Assert.Equal(QueryFault.TooCostly, refusal.Fault);
        Assert.Equal(1, clock.Checks);
    }

    /// <summary>Creates users, of whom every 500th has a bio with the word "seldom".</summary>
    private static IndexExample CreateUsers(int count)
    {
        var example = new IndexExample(Definition);
        for (int number = 0; number < count; number++)
        {
            string bio =
                number % 500 == 0
                    ? "seldom often"
                    : string.Join(' ', Enumerable.Repeat("often", (number % 7) + 1))
                        + " "
                        + string.Join(' ', Enumerable.Repeat("filler", number % 11));
            example.Put($"users/{number}", $$"""{ "name": "name {{number}}", "age": {{number}}, "bio": "{{bio}}" }""");
        }

        example.Apply();
        return example;
    }

    private static CompiledQuery Plan(string query) =>
        CompiledQuery.Compile(
            RqlParser.Parse(query),
            QueryParameters.None,
            new FullTextConditions(static _ => IndexedQueries.Analyzer)
        );

    /// <summary>Ends the work after a number of checks.</summary>
    private sealed class CountingClock : IWorkLimits
    {
        /// <summary>The number of checks at which the time is over.</summary>
        public int Patience { get; init; } = int.MaxValue;

        public int Checks { get; private set; }

        public void CheckLimits()
        {
            if (++Checks >= Patience)
            {
                throw new QueryException(QueryFault.TooCostly, "The time of the query is over.");
            }
        }
    }
}
