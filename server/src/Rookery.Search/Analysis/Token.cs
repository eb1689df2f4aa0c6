namespace Rookery.Search.Analysis;

/// <summary>A token of a text. Valid only during the call that receives it.</summary>
/// <param name="bytes">The token as it is compared: folded and stemmed.</param>
/// <param name="position">Number of words before it, without removed ones.</param>
/// <param name="start">Position of its word in the text, in bytes.</param>
/// <param name="length">Length of its word in the text, in bytes.</param>
public readonly ref struct Token(ReadOnlySpan<byte> bytes, int position, int start, int length)
{
    /// <summary>
    /// The token as it is compared, folded and stemmed, in UTF-8: 1 to <see cref="Analyzer.MaxTokenBytes"/> bytes.
    /// </summary>
    public ReadOnlySpan<byte> Bytes { get; } = bytes;

    /// <summary>
    /// Number of words before it, without removed ones. Never less than the position of the token before.
    /// </summary>
    public int Position => position;

    /// <summary>Position of its word in the text, in bytes.</summary>
    public int Start => start;

    /// <summary>Length of its word in the text, in bytes.</summary>
    public int Length => length;
}

/// <summary>Receives the tokens of a text one by one, in order.</summary>
public interface ITokenSink
{
    /// <summary>Receives a token.</summary>
    /// <returns>Whether more tokens are wanted; false ends the analysis.</returns>
    bool Add(scoped in Token token);
}

/// <summary>The purpose of an analysis.</summary>
public enum AnalysisPurpose
{
    /// <summary>For a text of a document: returns all tokens that can be searched for.</summary>
    Index,

    /// <summary>
    /// For a text to search for: returns only the tokens that must match. Differs from <see cref="Index"/> for n-grams,
    /// of which only the longest are needed.
    /// </summary>
    Search,
}
