using System.Security.Cryptography;
using System.Text;
using Rookery.Platform;

namespace Rookery.Search.Analysis;

/// <summary>Analyzes one text for <see cref="Analyzer"/>, and passes its tokens to a sink.</summary>
/// <typeparam name="TSink">The type that receives the tokens.</typeparam>
internal ref struct TokenWriter<TSink>
    where TSink : struct, ITokenSink
{
    /// <summary>
    /// Size of the buffer, in bytes. One half holds a word and then its stem, the other half the stem without marks.
    /// </summary>
    internal const int BufferBytes = 2 * WordBytes;

    // A token, and room for a stem that is longer than its word.
    private const int WordBytes = Analyzer.MaxTokenBytes + 33;

    // Longer words are not stemmed, because their stem could exceed the length of a token.
    private const int MaxStemmedBytes = 128;

    private const int HashBytes = 16;

    private readonly AnalyzerRules _rules;
    private readonly AnalysisPurpose _purpose;
    private readonly ReadOnlySpan<byte> _text;
    private readonly Span<byte> _word;
    private readonly Span<byte> _folded;
    private readonly Stemmer? _stemmer;
    private readonly Folding _firstFolding;
    private readonly ref TSink _sink;
    private int _position;

    internal TokenWriter(
        AnalyzerRules rules,
        AnalysisPurpose purpose,
        ReadOnlySpan<byte> text,
        Span<byte> buffer,
        int firstPosition,
        Stemmer? stemmer,
        ref TSink sink
    )
    {
        _rules = rules;
        _purpose = purpose;
        _text = text;
        _stemmer = stemmer;
        _sink = ref sink;
        _word = buffer[..WordBytes];
        _folded = buffer[WordBytes..];
        _position = firstPosition;
        _firstFolding = stemmer is null ? rules.Folding : Folding.Case;
    }

    /// <summary>Passes all tokens to the sink, or as many as it wants.</summary>
    /// <returns>The position after the last word.</returns>
    internal int Run()
    {
        if (_rules.Segmentation is Segmentation.Whole)
        {
            EmitWhole();
            return _position;
        }

        int at = 0;
        while (TryFind(ref at, out int start) && EmitWord(start, at)) { }

        return _position;
    }

    private readonly bool TryFind(ref int at, out int start) =>
        _rules.Segmentation switch
        {
            Segmentation.Words => WordSegmenter.TryFind(_text, ref at, out start),
            Segmentation.WhiteSpace => RunSegmenter.TryFind(_text, default(NotWhiteSpace), ref at, out start),
            _ => RunSegmenter.TryFind(_text, default(LettersOnly), ref at, out start),
        };

    private bool EmitWord(int start, int end)
    {
        int length = 0;
        int pieceStart = start;
        Span<byte> character = stackalloc byte[LetterFolding.MaxBytes];
        for (int at = start; at < end; )
        {
            byte first = _text[at];
            int bytesRead = 1;
            int bytes = 1;
            if (first < 0x80)
            {
                character[0] =
                    _firstFolding is not Folding.None && first is >= (byte)'A' and <= (byte)'Z'
                        ? (byte)(first | 0x20)
                        : first;
                if (length < Analyzer.MaxTokenBytes)
                {
                    _word[length++] = character[0];
                    at++;
                    continue;
                }
            }
            else
            {
                bytes = LetterFolding.FoldFirst(_text[at..end], _firstFolding, character, out bytesRead);
            }

            if (length + bytes > Analyzer.MaxTokenBytes)
            {
                if (!Emit(_word[..length], pieceStart, at))
                {
                    return false;
                }

                pieceStart = at;
                length = 0;
            }

            character[..bytes].CopyTo(_word[length..]);
            length += bytes;
            at += bytesRead;
        }

        // A word that was split is emitted as it is.
        return pieceStart > start ? Emit(_word[..length], pieceStart, end) : Refine(length, start, end);
    }

    /// <summary>
    /// Emits a word that was not split: removes elisions and possessives, skips stop words, and stems.
    /// </summary>
    private bool Refine(int length, int start, int end)
    {
        int offset = _rules.DropsElision ? Elision.Measure(_word[..length]) : 0;
        var stripped = _word[offset..length];
        if (_rules.DropsPossessive && stripped.EndsWith("'s"u8))
        {
            stripped = stripped[..^2];
        }

        // As in RavenDB, a stop word takes no position: the phrase "fluent french" matches "fluent in French".
        if (_rules.DropsStopWords && StopWords.Contains(stripped))
        {
            return true;
        }

        if (_stemmer is null)
        {
            return Emit(stripped, start, end);
        }

        if (stripped.Length <= MaxStemmedBytes)
        {
            stripped = _word.Slice(offset, _stemmer.Stem(_word[offset..], stripped.Length));
        }

        return Emit(FoldMarks(stripped), start, end);
    }

    private readonly Span<byte> FoldMarks(ReadOnlySpan<byte> stem)
    {
        int length = 0;
        while (!stem.IsEmpty)
        {
            int bytes = LetterFolding.FoldFirst(stem, _rules.Folding, _folded[length..], out int bytesRead);
            if (length + bytes > Analyzer.MaxTokenBytes)
            {
                break;
            }

            length += bytes;
            stem = stem[bytesRead..];
        }

        return _folded[..length];
    }

    private bool Emit(ReadOnlySpan<byte> token, int start, int end)
    {
        if (token.IsEmpty)
        {
            return true;
        }

        bool wantsMore = _rules.Grams is { } grams
            ? EmitGrams(token, grams.Shortest, grams.Longest, start, end)
            : _sink.Add(new Token(token, _position, start, end - start));
        _position++;
        return wantsMore;
    }

    private readonly bool EmitGrams(ReadOnlySpan<byte> token, int shortest, int longest, int start, int end)
    {
        Span<byte> boundaries = stackalloc byte[Analyzer.MaxTokenBytes + 1];
        int letters = 0;
        for (int at = 0; at < token.Length; letters++)
        {
            boundaries[letters] = (byte)at;
            Rune.DecodeFromUtf8(token[at..], out _, out int bytes);
            at += bytes;
        }

        boundaries[letters] = (byte)token.Length;
        longest = Math.Min(longest, letters);
        for (
            int size = _purpose is AnalysisPurpose.Search ? Math.Max(shortest, longest) : shortest;
            size <= longest;
            size++
        )
        {
            for (int from = 0; from + size <= letters; from++)
            {
                if (
                    !_sink.Add(
                        new Token(token[boundaries[from]..boundaries[from + size]], _position, start, end - start)
                    )
                )
                {
                    return false;
                }
            }
        }

        return true;
    }

    /// <summary>
    /// Emits the whole text as one token. A long text is truncated and ends in a hash of the whole text, so different
    /// texts have different tokens.
    /// </summary>
    private void EmitWhole()
    {
        int length = 0;
        int kept = 0;
        IncrementalHash? hash = null;
        try
        {
            for (int at = 0; at < _text.Length; )
            {
                int bytes = LetterFolding.FoldFirst(_text[at..], _firstFolding, _folded[length..], out int bytesRead);
                at += bytesRead;
                length += bytes;
                if (hash is null && length <= Analyzer.MaxTokenBytes - (2 * HashBytes))
                {
                    kept = length;
                }

                if (length > Analyzer.MaxTokenBytes)
                {
                    if (hash is null)
                    {
                        hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
                        _folded[..kept].CopyTo(_word);
                    }

                    hash.AppendData(_folded[..length]);
                    length = 0;
                }
            }

            var token = _folded[..length];
            if (hash is not null)
            {
                hash.AppendData(token);
                Span<byte> digest = stackalloc byte[SHA256.HashSizeInBytes];
                hash.GetHashAndReset(digest);
                bool isWritten = Convert.TryToHexStringLower(digest[..HashBytes], _word[kept..], out int hexBytes);
                Invariant.Holds(isWritten, "the hash of a long token fits after its kept beginning");
                token = _word[..(kept + hexBytes)];
            }

            if (!token.IsEmpty)
            {
                _sink.Add(new Token(token, _position, start: 0, _text.Length));
                _position++;
            }
        }
        finally
        {
            hash?.Dispose();
        }
    }
}
