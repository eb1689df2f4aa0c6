using System.Globalization;
using System.Text;
using Rookery.Indexing.Automatic;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Tests.Execution;

/// <summary>
/// Compares pages found by walking the terms of their order with pages found by reading all matches, and with scans.
/// </summary>
public sealed class OrderWalkTests
{
    private static readonly string[] Names =
    [
        "null",
        "true",
        "false",
        "0",
        "-1.5",
        "2",
        "10",
        "\"10\"",
        "\"ann\"",
        "\"Ann\"",
        "\"bob\"",
        "\"Žofie\"",
        "\"\"",
        "\"2026-01-02T03:04:05\"",
    ];
    private static readonly string[] Orders =
    [
        "name",
        "name desc",
        "name as double",
        "name as double desc",
        "name, age",
        "name desc, age as long desc",
        "age, name",
        "age desc, name as string",
        "age, id() desc",
        "name as long",
    ];
    private static readonly string[] Conditions =
    [
        "tag = 'a'",
        "tag != 'a'",
        "tag in ('a', 'b')",
        "age between 3 and 12",
        "tag = 'a' and age > 4",
        "tag = 'a' or age < 5",
        "true and not (tag = 'b')",
        "exists(name)",
        "name = 'ann'",
        "age > 4 and not tag = 'c'",
        "tag = 'nowhere'",
    ];

    private static AutoIndexDefinition Definition { get; } =
        new(
            null,
            [
                new AutoIndexField(["name"], AutoIndexFieldUses.None),
                new AutoIndexField(["age"], AutoIndexFieldUses.None),
                new AutoIndexField(["tag"], AutoIndexFieldUses.None),
            ]
        );

    [Fact]
    public void Walking_terms_and_reading_all_matches_find_the_same_page()
    {
        int walked = 0;
        int completed = 0;
        for (int seed = 0; seed < 40; seed++)
        {
            var random = new Random(seed);
            using var example = new IndexExample(Definition);
            for (int round = 0; round < 4; round++)
            {
                Change(example, random, lacksSome: seed % 3 > 0, hasArrays: seed % 5 == 0);
                for (int query = 0; query < 30; query++)
                {
                    string rql =
                        $"from @all_docs where {Pick(random, Conditions)} order by {Pick(random, Orders)} "
                        + $"limit {random.Next(4)}, {random.Next(1, 12)}";
                    var parsed = RqlParser.Parse(rql);
                    bool needsTotal = random.Next(4) > 0;
                    var walk = new ForcedWalk(random.Next(4) == 0 ? random.Next(60) : long.MaxValue);
                    var expected = example.Scan(parsed);
                    var read = example.Ask(parsed, needsTotal, new NoWalk());
                    var answer = example.Ask(parsed, needsTotal, walk);
                    string context = $"seed {seed}, round {round}: {rql}";
                    Assert.True(
                        expected.Results.SequenceEqual(read.Results, StringComparer.Ordinal),
                        $"{context}: reading all matches gives other results than a scan"
                    );
                    Assert.True(
                        expected.Results.SequenceEqual(answer.Results, StringComparer.Ordinal),
                        $"{context}\nexpected {string.Join(' ', expected.Results)}\nanswered "
                            + $"{string.Join(' ', answer.Results)}"
                    );
                    Assert.True(
                        !needsTotal || (expected.Total == read.Total && expected.Total == answer.Total),
                        $"{context}: a scan finds {expected.Total}, all matches are {read.Total}, and the walk says "
                            + $"{answer.Total}"
                    );
                    walked += walk.Started;
                    completed += example.Segments > 1 ? walk.CompletedAmongDead : 0;
                }
            }
        }

        // Otherwise the test would prove nothing.
        Assert.InRange(walked, 1_000, int.MaxValue);
        Assert.InRange(completed, 500, walked - 1);
    }

    [Fact]
    public void Matches_kept_in_order_give_the_page_that_reading_all_matches_gives()
    {
        var sort = new ForcedSort();
        for (int seed = 0; seed < 40; seed++)
        {
            var random = new Random(seed);
            using var example = new IndexExample(Definition);
            for (int round = 0; round < 4; round++)
            {
                Change(example, random, lacksSome: seed % 3 > 0, hasArrays: seed % 5 == 0);
                for (int query = 0; query < 30; query++)
                {
                    string rql =
                        $"from @all_docs where {Pick(random, Conditions)} order by {Pick(random, Orders)} "
                        + $"limit {random.Next(4)}, {random.Next(1, 12)}";
                    var asked = RqlParser.Parse(rql);
                    var expected = example.Scan(asked);

                    // The first query registers the order, the second sorts the matches, the third finds them sorted.
                    for (int time = 0; time < 3; time++)
                    {
                        bool needsTotal = random.Next(4) > 0;
                        var answer = example.Ask(asked, needsTotal, sort);
                        string context = $"seed {seed}, round {round}, time {time}: {rql}";
                        Assert.True(
                            expected.Results.SequenceEqual(answer.Results, StringComparer.Ordinal),
                            $"{context}: the results differ from those of a scan"
                        );
                        Assert.True(
                            !needsTotal || expected.Total == answer.Total,
                            $"{context}: a scan finds {expected.Total}, and the index says {answer.Total}"
                        );
                    }
                }
            }
        }

        // Otherwise the test would prove nothing.
        Assert.InRange(sort.Found, 1_000, int.MaxValue);
    }

    [Fact]
    public void A_page_of_a_term_asked_for_again_reads_no_postings()
    {
        using var example = CreateManyMatches();
        var asked = RqlParser.Parse("from @all_docs where tag = 'c' order by name desc limit 3");
        var plan = CompiledQuery.Compile(asked, QueryParameters.None, fullText: null);
        long[] read = new long[3];
        for (int time = 0; time < read.Length; time++)
        {
            using var answer = example.Open(plan);
            Assert.Equal(1_000, answer.TotalResults);
            Assert.Equal("users/c0999", Encoding.UTF8.GetString(answer.Documents[0].Id.Span));
            read[time] = answer.PostingsRead;
        }

        Assert.Equal(1_000, read[1]); // sorted once
        Assert.Equal(0, read[2]);
    }

    [Theory]
    [InlineData("b", "name", 3_000, "b0000 b0001 b0002")]
    [InlineData("c", "name desc", 1_000, "c0999 c0998 c0997")]
    public void A_short_page_reads_few_of_many_matches(string tag, string order, int matches, string names)
    {
        using var example = CreateManyMatches();
        var parsed = RqlParser.Parse($"from @all_docs where tag = '{tag}' order by {order} limit 3");
        var plan = CompiledQuery.Compile(parsed, QueryParameters.None, fullText: null);
        using var walked = example.Open(plan);
        Assert.Equal(
            names.Split(' ').Select(static name => $"users/{name}"),
            walked.Documents.Select(static found => Encoding.UTF8.GetString(found.Id.Span))
        );
        Assert.Equal(matches, walked.TotalResults);
        Assert.InRange(walked.PostingsRead, 3, 100);
        using var read = example.Open(plan, walk: new NoWalk());
        Assert.InRange(read.PostingsRead, matches, long.MaxValue);
    }

    [Fact]
    public void A_walk_whose_matches_come_last_gives_up()
    {
        using var example = CreateManyMatches();
        var parsed = RqlParser.Parse("from @all_docs where tag = 'c' order by name limit 3");
        using (var first = example.Open(CompiledQuery.Compile(parsed, QueryParameters.None, fullText: null)))
        {
            Assert.InRange(first.PostingsRead, 1_000, 1_500); // all matches, and a third as many steps
        }

        // Further searches find the matches in order.
        var answer = example.Ask(parsed);
        Assert.Equal(["users/c0000", "users/c0001", "users/c0002"], answer.Results);
        Assert.Equal(1_000, answer.Total);
    }

    /// <summary>Creates 3,000 users with tag b and 1,000 with tag c, whose names come after those of b.</summary>
    private static IndexExample CreateManyMatches()
    {
        var example = new IndexExample(Definition);
        for (int number = 0; number < 3_000; number++)
        {
            Put(example, "b", number);
            if (number % 3 == 0)
            {
                Put(example, "c", number / 3);
            }
        }

        example.Apply();
        return example;

        static void Put(IndexExample example, string tag, int number)
        {
            string name = string.Create(CultureInfo.InvariantCulture, $"{tag}{number:0000}");
            example.Put($"users/{name}", $$"""{"name":"{{name}}","tag":"{{tag}}"}""");
        }
    }

    private static void Change(IndexExample example, Random random, bool lacksSome, bool hasArrays)
    {
        int changes = example.Ids.Count == 0 ? 60 : random.Next(25);
        for (int change = 0; change < changes; change++)
        {
            string id = string.Create(CultureInfo.InvariantCulture, $"users/{random.Next(90)}");
            if (random.Next(5) == 0 && example.Ids.Contains(id))
            {
                example.Delete(id);
                continue;
            }

            string[] members =
            [
                .. lacksSome && random.Next(8) == 0
                    ? Array.Empty<string>()
                    :
                    [
                        $"\"name\":{(hasArrays && random.Next(6) == 0 ? $"[{Pick(random, Names)},{Pick(random, Names)}]" : Pick(random, Names))}",
                    ],
                string.Create(CultureInfo.InvariantCulture, $"\"age\":{random.Next(16)}"),
                $"\"tag\":\"{(char)('a' + random.Next(3))}\"",
            ];
            example.Put(id, "{" + string.Join(',', members) + "}");
        }

        example.Apply();
        if (random.Next(3) == 0)
        {
            example.Merge();
        }
    }

    private static string Pick(Random random, string[] choices) => choices[random.Next(choices.Length)];
}
