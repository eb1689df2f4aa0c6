using System.Text;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Tests.Summaries;

/// <summary>The work of suggestions.</summary>
public sealed class SuggestionSummaryTests
{
    /// <summary>
    /// The clock ends a query whose client disconnected, so it must be checked within one document, too.
    /// </summary>
    [Theory]
    [InlineData("Levenshtein")]
    [InlineData("JaroWinkler")]
    [InlineData("NGram")]
    public void Comparing_the_words_of_one_document_checks_the_clock(string measure)
    {
        const int Length = 250,
            Words = 16,
            Given = 64;
        string given = string.Join(',', Enumerable.Range(0, Given).Select(number => WordOf('a', number)));
        string text = string.Join(' ', Enumerable.Range(0, Words).Select(number => WordOf('b', number).Trim('"')));
        var compiled = CompiledQuery.Compile(
            RqlParser.Parse($"from Users select suggest(bio, $words, '{{\"Accuracy\":0,\"Distance\":\"{measure}\"}}')"),
            QueryParameters.Read(Encoding.UTF8.GetBytes($"{{\"words\":[{given}]}}"))
        );
        var share = new MemoryBudget(64 << 20).AddShare("queries", 64 << 20);
        var clock = new CountingClock();
        using var run = compiled.Summary!.Start(new QueryMemory(share), clock);
        run.Add(new QueriedDocument(Encoding.UTF8.GetBytes($"\"bio\":\"{text}\"")));
        Assert.InRange(clock.Checks, Length * Length * Words * Given / (1024 * 1024) / 2, int.MaxValue);

        static string WordOf(char letter, int number) => $"\"{new string(letter, Length - 3)}{number:000}\"";
    }

    private sealed class CountingClock : IWorkLimits
    {
        public int Checks { get; private set; }

        public void CheckLimits() => Checks++;
    }
}
