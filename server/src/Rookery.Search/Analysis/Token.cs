namespace Rookery.Search.Analysis;

/// <summary>A token of a text. Valid only during the call that hands it over.</summary>
/// <param name="bytes">Its letters as they are compared: folded, stemmed.</param>
/// <param name="position">Words before it, those that are left out included.</param>
/// <param name="start">Bytes of the text before the word it was made of.</param>
/// <param name="length">Bytes of that word.</param>
public readonly ref struct Token(ReadOnlySpan<byte> bytes, int position, int start, int length)
{
    /// <summary>Its letters as they are compared, UTF-8: 1 to <see cref="Analyzer.LongestTokenBytes"/> bytes.</summary>
    public ReadOnlySpan<byte> Bytes { get; } = bytes;

    /// <summary>Words before it, those that are left out included. Never less than that of the token before.</summary>
    public int Position => position;

    /// <summary>Bytes of the text before the word it was made of.</summary>
    public int Start => start;

    /// <summary>Bytes of that word.</summary>
    public int Length => length;
}

/// <summary>Takes the tokens of a text one by one, in order.</summary>
public interface ITokenSink
{
    /// <summary>Takes one token.</summary>
    /// <returns>Whether more are wanted; false ends the analysis.</returns>
    bool Take(scoped in Token token);
}

/// <summary>What a text is analyzed for.</summary>
public enum AnalysisPurpose
{
    /// <summary>It is a document's: all that can be searched for.</summary>
    Index,

    /// <summary>
    /// It is searched for: only what must be there. It differs for n-grams, of which the longest say it all.
    /// </summary>
    Search,
}
