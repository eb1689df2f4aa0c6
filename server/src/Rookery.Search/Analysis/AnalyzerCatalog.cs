using System.Globalization;

namespace Rookery.Search.Analysis;

/// <summary>
/// Creates analyzers by the names that RavenDB's clients send, with or without the namespace and assembly of
/// Lucene.NET's classes.
/// </summary>
public static class AnalyzerCatalog
{
    /// <summary>The analyzer of full-text fields that name none.</summary>
    public const string DefaultName = "StandardAnalyzer";

    // Maximum letters of an n-gram.
    private const int MaxGram = 16;

    private static readonly AnalyzerRules Words = new()
    {
        Segmentation = Segmentation.Words,
        Folding = Folding.CaseAndMarks,
        DropsPossessive = true,
    };

    private static readonly AnalyzerRules Stemmed = new()
    {
        Segmentation = Segmentation.Words,
        Folding = Folding.CaseAndMarks,
    };

    private static readonly (string Name, AnalyzerRules Rules)[] Analyzers =
    [
        (DefaultName, Words with { DropsStopWords = true }),
        ("RavenStandardAnalyzer", Words with { DropsStopWords = true }),
        ("SimpleAnalyzer", new() { Segmentation = Segmentation.Letters, Folding = Folding.Case }),
        (
            "StopAnalyzer",
            new()
            {
                Segmentation = Segmentation.Letters,
                Folding = Folding.Case,
                DropsStopWords = true,
            }
        ),
        ("WhitespaceAnalyzer", new() { Segmentation = Segmentation.WhiteSpace, Folding = Folding.None }),
        ("LowerCaseWhitespaceAnalyzer", new() { Segmentation = Segmentation.WhiteSpace, Folding = Folding.Case }),
        ("KeywordAnalyzer", new() { Segmentation = Segmentation.Whole, Folding = Folding.None }),
        ("LowerCaseKeywordAnalyzer", new() { Segmentation = Segmentation.Whole, Folding = Folding.Case }),
        ("NGramAnalyzer", Words with { DropsStopWords = true, Grams = (2, 6) }),
        (
            "EnglishAnalyzer",
            Stemmed with
            {
                DropsPossessive = true,
                DropsStopWords = true,
                StemmedLanguage = "english",
            }
        ),
        ("GermanAnalyzer", Stemmed with { StemmedLanguage = "german" }),
        ("FrenchAnalyzer", Stemmed with { StemmedLanguage = "french", DropsElision = true }),
        ("SpanishAnalyzer", Stemmed with { StemmedLanguage = "spanish" }),
    ];

    // Prefixes of the settings in newer and older versions of RavenDB.
    private static readonly string[] SettingPrefixes =
    [
        "Indexing.Lucene.Analyzers.NGram.",
        "Indexing.Analyzers.NGram.",
    ];

    /// <summary>The names of all analyzers.</summary>
    public static IReadOnlyList<string> Names { get; } = [.. Analyzers.Select(static known => known.Name)];

    /// <summary>The shared analyzer named <see cref="DefaultName"/>. Not to be disposed.</summary>
    public static Analyzer Default { get; } = Make(DefaultName);

    /// <summary>Returns whether an analyzer reads a setting of an index.</summary>
    public static bool HasSetting(string name) =>
        Array.Exists(
            SettingPrefixes,
            prefix =>
                name.StartsWith(prefix, StringComparison.Ordinal)
                && name.AsSpan(prefix.Length) is "MinGram" or "MaxGram"
        );

    /// <summary>Creates an analyzer by name.</summary>
    /// <param name="name">The name, without case: <c>StandardAnalyzer</c>,
    /// <c>Lucene.Net.Analysis.Standard.StandardAnalyzer, Lucene.Net</c>.</param>
    /// <param name="settings">The settings of the index; null for none. The n-gram analyzer reads
    /// <c>Indexing.Lucene.Analyzers.NGram.MinGram</c> and <c>MaxGram</c>.</param>
    /// <exception cref="AnalyzerException">No analyzer has this name, a setting is invalid, or the analyzer needs a
    /// library that is not installed.</exception>
    public static Analyzer Make(string name, IReadOnlyDictionary<string, string>? settings = null)
    {
        int comma = name.IndexOf(',', StringComparison.Ordinal);
        var simple = (comma < 0 ? name : name.AsSpan(0, comma)).Trim();
        simple = simple[(simple.LastIndexOf('.') + 1)..];
        foreach (var (known, rules) in Analyzers)
        {
            if (simple.Equals(known, StringComparison.OrdinalIgnoreCase))
            {
                return new Analyzer(
                    known,
                    rules.Grams is { } grams ? rules with { Grams = ReadGrams(grams, settings) } : rules
                );
            }
        }

        throw new AnalyzerException($"There is no analyzer '{name}'. Known are {string.Join(", ", Names)}.");
    }

    private static (int Shortest, int Longest) ReadGrams(
        (int Shortest, int Longest) defaultValue,
        IReadOnlyDictionary<string, string>? settings
    )
    {
        int shortest = ReadSetting(settings, "MinGram", defaultValue.Shortest);
        int longest = ReadSetting(settings, "MaxGram", Math.Max(defaultValue.Longest, shortest));
        return shortest >= 1 && shortest <= longest && longest <= MaxGram
            ? (shortest, longest)
            : throw new AnalyzerException(
                $"The n-grams of an index must have 1 to {MaxGram} letters, and MinGram must not exceed MaxGram: "
                    + $"{shortest} to {longest} is not allowed."
            );
    }

    private static int ReadSetting(IReadOnlyDictionary<string, string>? settings, string name, int defaultValue)
    {
        // The first prefix for which the settings have a value counts.
        string? value = null;
        if (
            settings is not null
            && !Array.Exists(SettingPrefixes, prefix => settings.TryGetValue(prefix + name, out value))
        )
        {
            value = null;
        }

        if (value is null)
        {
            return defaultValue;
        }

        return int.TryParse(value, NumberStyles.None, CultureInfo.InvariantCulture, out int number)
            ? number
            : throw new AnalyzerException($"'{value}' is not a number of letters for {SettingPrefixes[0]}{name}.");
    }
}
