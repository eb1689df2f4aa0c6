namespace Rookery.Search.Analysis;

/// <summary>How a text is split into words.</summary>
internal enum Segmentation
{
    /// <summary>At the boundaries of words (<see cref="WordSegmenter"/>).</summary>
    Words,

    /// <summary>At white space.</summary>
    WhiteSpace,

    /// <summary>At every character that is not a letter.</summary>
    Letters,

    /// <summary>The whole text is one word.</summary>
    Whole,
}

/// <summary>The steps of an analyzer, in their order.</summary>
internal sealed record AnalyzerRules
{
    /// <summary>The places at which a text is split.</summary>
    public required Segmentation Segmentation { get; init; }

    /// <summary>The differences between letters that are removed.</summary>
    public required Folding Folding { get; init; }

    /// <summary>Whether an English <c>'s</c> is removed from a word's end.</summary>
    public bool DropsPossessive { get; init; }

    /// <summary>Whether an elided French word such as <c>l'</c> is removed from a word's beginning.</summary>
    public bool DropsElision { get; init; }

    /// <summary>
    /// Whether English stop words are removed. A removed word takes no position, so the phrase "fluent french" matches
    /// the text "fluent in French".
    /// </summary>
    public bool DropsStopWords { get; init; }

    /// <summary>
    /// Snowball's name of the language for stemming; null for no stemming. Marks are removed after stemming, because
    /// stems depend on them.
    /// </summary>
    public string? StemmedLanguage { get; init; }

    /// <summary>
    /// The lengths of the shortest and the longest n-gram into which words are split, in letters; null for whole words.
    /// </summary>
    public (int Shortest, int Longest)? Grams { get; init; }
}
