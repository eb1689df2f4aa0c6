namespace Rookery.Search.Analysis;

/// <summary>How a text is cut.</summary>
internal enum Segmentation
{
    /// <summary>At the boundaries of words (<see cref="WordSegmenter"/>).</summary>
    Words,

    /// <summary>At white space.</summary>
    WhiteSpace,

    /// <summary>At all that is not a letter.</summary>
    Letters,

    /// <summary>Not at all.</summary>
    Whole,
}

/// <summary>What an analyzer does, in the order in which it does it.</summary>
internal sealed record AnalyzerRules
{
    /// <summary>How it cuts the text.</summary>
    public required Segmentation Segmentation { get; init; }

    /// <summary>What it makes equal.</summary>
    public required Folding Folding { get; init; }

    /// <summary>Whether an English <c>'s</c> at a word's end goes.</summary>
    public bool DropsPossessive { get; init; }

    /// <summary>Whether a French <c>l'</c> and the like at a word's beginning go.</summary>
    public bool DropsElision { get; init; }

    /// <summary>
    /// Whether English stop words go. Their positions stay, so that a phrase with them is found only where they stand.
    /// </summary>
    public bool DropsStopWords { get; init; }

    /// <summary>
    /// Snowball's name of the language whose stems it takes, or null. Marks go after stemming, because stems depend on
    /// them.
    /// </summary>
    public string? StemmedLanguage { get; init; }

    /// <summary>
    /// Letters of the shortest and the longest piece that words are cut into, or null for whole words.
    /// </summary>
    public (int Shortest, int Longest)? Grams { get; init; }
}
