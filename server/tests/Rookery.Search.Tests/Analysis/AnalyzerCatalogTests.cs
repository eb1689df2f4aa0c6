using Rookery.Search.Analysis;

namespace Rookery.Search.Tests.Analysis;

/// <summary>The names and settings with which indexes select their analyzers.</summary>
public sealed class AnalyzerCatalogTests
{
    [Theory]
    [InlineData("StandardAnalyzer", "StandardAnalyzer")]
    [InlineData("standardanalyzer", "StandardAnalyzer")]
    [InlineData("Lucene.Net.Analysis.Standard.StandardAnalyzer", "StandardAnalyzer")]
    [InlineData(
        "Lucene.Net.Analysis.Standard.StandardAnalyzer, Lucene.Net, Version=3.0.3.0, Culture=neutral",
        "StandardAnalyzer"
    )]
    [InlineData("Raven.Server.Documents.Indexes.Persistence.Lucene.Analyzers.NGramAnalyzer", "NGramAnalyzer")]
    [InlineData(" KeywordAnalyzer ", "KeywordAnalyzer")]
    public void Names_are_found_as_clients_send_them(string name, string expected)
    {
        using var analyzer = AnalyzerCatalog.Make(name);
        Assert.Equal(expected, analyzer.Name);
    }

    [Theory]
    [InlineData("KlingonAnalyzer")]
    [InlineData("")]
    [InlineData("StandardAnalyzer.")]
    public void An_unknown_name_is_refused_with_the_known_ones(string name)
    {
        string message = Assert.Throws<AnalyzerException>(() => AnalyzerCatalog.Make(name)).Message;
        Assert.Contains($"'{name}'", message, StringComparison.Ordinal);
        Assert.All(AnalyzerCatalog.Names, known => Assert.Contains(known, message, StringComparison.Ordinal));
    }

    // Sizes are from 1 to 16, and the shortest is not above the longest.
    [Theory]
    [InlineData("0", "3")]
    [InlineData("4", "3")]
    [InlineData("2", "17")]
    [InlineData("two", "3")]
    public void Invalid_n_gram_sizes_are_refused(string shortest, string longest) =>
        Assert.Throws<AnalyzerException>(() =>
            AnalyzerCatalog.Make(
                "NGramAnalyzer",
                new Dictionary<string, string>(StringComparer.Ordinal)
                {
                    ["Indexing.Analyzers.NGram.MinGram"] = shortest,
                    ["Indexing.Analyzers.NGram.MaxGram"] = longest,
                }
            )
        );
}
