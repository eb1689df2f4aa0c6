using System.Collections.Concurrent;

namespace Rookery.Search.Analysis;

/// <summary>
/// Splits texts into the tokens that are indexed and searched for. Thread-safe. Allocates nothing for a text or token,
/// except a hash for a long text that is one token. <see cref="AnalyzerCatalog"/> creates analyzers.
/// </summary>
public sealed class Analyzer : IDisposable
{
    /// <summary>
    /// Maximum bytes of a token. A longer word is split into several tokens. If the whole text is one token, a longer
    /// text is truncated and ends in a hash.
    /// </summary>
    public const int MaxTokenBytes = 255;

    /// <summary>Gap between the positions of two values of a field, so that no phrase spans two values.</summary>
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

    /// <summary>The name, without namespace.</summary>
    public string Name { get; }

    /// <summary>Whether the analyzer removes words that are too frequent to search for, such as "the".</summary>
    public bool DropsStopWords => _rules.DropsStopWords;

    /// <summary>Passes the tokens of a text to a sink, in order.</summary>
    /// <param name="text">The text in UTF-8.</param>
    /// <param name="purpose">Whether the text is indexed or searched for.</param>
    /// <param name="firstPosition">The position of the first word: 0 for the first value of a field, and the last
    /// call's result plus <see cref="ValueGap"/> for each further value.</param>
    /// <param name="sink">Receives the tokens.</param>
    /// <returns>The position after the last word.</returns>
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

    /// <summary>Folds a part of a word between wildcards. Does not split or stem it.</summary>
    public byte[] Fold(ReadOnlySpan<byte> piece) => LetterFolding.Fold(piece, _rules.Folding);

    /// <summary>Releases the stemmers.</summary>
    public void Dispose()
    {
        while (_idleStemmers.TryTake(out var stemmer))
        {
            stemmer.Dispose();
        }
    }
}
