using System.Collections.Concurrent;

namespace Rookery.Search.Analysis;

/// <summary>
/// Takes texts apart into the tokens that are indexed and searched for. Thread-safe. Allocates nothing per token or
/// text; needs the same little memory for a text of any length. Made by <see cref="AnalyzerCatalog"/>.
/// </summary>
public sealed class Analyzer : IDisposable
{
    /// <summary>
    /// What a token has at most, in bytes. Longer words are cut into several; a longer text that is one token ends in
    /// its hash instead.
    /// </summary>
    public const int LongestTokenBytes = 255;

    /// <summary>
    /// Positions between the values of a field that has several, so that no phrase begins in one and ends in the next.
    /// </summary>
    public const int ValueGap = 1024;

    private readonly AnalyzerRules _rules;
    private readonly ConcurrentBag<Stemmer> _idleStemmers = [];

    internal Analyzer(string name, AnalyzerRules rules)
    {
        Name = name;
        _rules = rules;
        if (rules.StemmedLanguage is { } language)
        {
            _idleStemmers.Add(Stemmer.Make(language));
        }
    }

    /// <summary>Its simple name.</summary>
    public string Name { get; }

    /// <summary>Hands the tokens of a text to a sink, in order.</summary>
    /// <param name="text">UTF-8.</param>
    /// <param name="purpose">What for.</param>
    /// <param name="firstPosition">The position of the first word: 0, or what the field's value before gave back and
    /// <see cref="ValueGap"/>.</param>
    /// <param name="sink">Takes them.</param>
    /// <returns>The position that follows the last word.</returns>
    public int Analyze<TSink>(ReadOnlySpan<byte> text, AnalysisPurpose purpose, int firstPosition, ref TSink sink)
        where TSink : struct, ITokenSink
    {
        if (text.IsEmpty)
        {
            return firstPosition;
        }

        Span<byte> buffer = stackalloc byte[TokenWriter<TSink>.BufferBytes];
        if (_rules.StemmedLanguage is not { } language)
        {
            return new TokenWriter<TSink>(_rules, purpose, text, buffer, firstPosition, stemmer: null, ref sink).Run();
        }

        if (!_idleStemmers.TryTake(out var stemmer))
        {
            stemmer = Stemmer.Make(language);
        }

        try
        {
            return new TokenWriter<TSink>(_rules, purpose, text, buffer, firstPosition, stemmer, ref sink).Run();
        }
        finally
        {
            _idleStemmers.Add(stemmer);
        }
    }

    /// <summary>A piece of a token as tokens have it, for wildcards: folded, but neither cut nor stemmed.</summary>
    public byte[] Fold(ReadOnlySpan<byte> piece) => Folder.Fold(piece, _rules.Folding);

    /// <summary>Gives the stemmers back.</summary>
    public void Dispose()
    {
        while (_idleStemmers.TryTake(out var stemmer))
        {
            stemmer.Dispose();
        }
    }
}
