using System.Security.Cryptography;
using System.Text;
using Rookery.Disk;

namespace Rookery.Indexing.Analysis;

/// <summary>One run of an analyzer over one text.</summary>
/// <typeparam name="TSink">Where the tokens go.</typeparam>
internal ref struct TokenWriter<TSink>
    where TSink : struct, ITokenSink
{
    /// <summary>The word before and after the last step, each with room for a stem that is a little longer.</summary>
    internal const int BufferBytes = 2 * WordBytes;

    private const int WordBytes = Analyzer.LongestTokenBytes + 33;

    // What is longer is no word of a language, and its stem could be longer than a token may be.
    private const int LongestStemmedBytes = 128;

    private const int HashBytes = 16;

    private readonly AnalyzerRules rules;
    private readonly AnalysisPurpose purpose;
    private readonly ReadOnlySpan<byte> text;
    private readonly Span<byte> word;
    private readonly Span<byte> folded;
    private readonly Stemmer? stemmer;
    private readonly Folding firstFolding;
    private readonly ref TSink sink;
    private int position;

    internal TokenWriter(AnalyzerRules rules, AnalysisPurpose purpose, ReadOnlySpan<byte> text, Span<byte> buffer, int firstPosition, Stemmer? stemmer, ref TSink sink)
    {
        this.rules = rules;
        this.purpose = purpose;
        this.text = text;
        this.stemmer = stemmer;
        this.sink = ref sink;
        word = buffer[..WordBytes];
        folded = buffer[WordBytes..];
        position = firstPosition;
        firstFolding = stemmer is null ? rules.Folding : Folding.Case;
    }

    /// <summary>Hands over all tokens, or as many as the sink wants.</summary>
    /// <returns>The position behind the last word.</returns>
    internal int Run()
    {
        if (rules.Segmentation is Segmentation.Whole)
        {
            TakeWhole();
            return position;
        }

        int at = 0;
        while (TryFind(ref at, out int start) && TakeWord(start, at))
        {
        }

        return position;
    }

    private readonly bool TryFind(ref int at, out int start) => rules.Segmentation switch
    {
        Segmentation.Words => WordSegmenter.TryFind(text, ref at, out start),
        Segmentation.WhiteSpace => RunSegmenter.TryFind(text, default(NotWhiteSpace), ref at, out start),
        _ => RunSegmenter.TryFind(text, default(LettersOnly), ref at, out start),
    };

    private bool TakeWord(int start, int end)
    {
        int length = 0;
        int pieceStart = start;
        Span<byte> character = stackalloc byte[Folder.LongestBytes];
        for (int at = start; at < end;)
        {
            byte first = text[at];
            int bytesRead = 1;
            int bytes = 1;
            if (first < 0x80)
            {
                character[0] = firstFolding is not Folding.None && first is >= (byte)'A' and <= (byte)'Z' ? (byte)(first | 0x20) : first;
                if (length < Analyzer.LongestTokenBytes)
                {
                    word[length++] = character[0];
                    at++;
                    continue;
                }
            }
            else
            {
                bytes = Folder.FoldFirst(text[at..end], firstFolding, character, out bytesRead);
            }

            if (length + bytes > Analyzer.LongestTokenBytes)
            {
                if (!Emit(word[..length], pieceStart, at))
                {
                    return false;
                }

                pieceStart = at;
                length = 0;
            }

            character[..bytes].CopyTo(word[length..]);
            length += bytes;
            at += bytesRead;
        }

        return pieceStart > start ? Emit(word[..length], pieceStart, end) : Refine(length, start, end);
    }

    /// <summary>What is done to words that are short enough to be words.</summary>
    private bool Refine(int length, int start, int end)
    {
        int offset = rules.DropsElision ? Elision.Measure(word[..length]) : 0;
        var rest = word[offset..length];
        if (rules.DropsPossessive && rest.EndsWith("'s"u8))
        {
            rest = rest[..^2];
        }

        if (rules.DropsStopWords && StopWords.Contain(rest))
        {
            position++;
            return true;
        }

        if (stemmer is null)
        {
            return Emit(rest, start, end);
        }

        if (rest.Length <= LongestStemmedBytes)
        {
            rest = word.Slice(offset, stemmer.Stem(word[offset..], rest.Length));
        }

        return Emit(FoldMarks(rest), start, end);
    }

    private readonly Span<byte> FoldMarks(ReadOnlySpan<byte> stem)
    {
        int length = 0;
        while (!stem.IsEmpty)
        {
            int bytes = Folder.FoldFirst(stem, rules.Folding, folded[length..], out int bytesRead);
            if (length + bytes > Analyzer.LongestTokenBytes)
            {
                break;
            }

            length += bytes;
            stem = stem[bytesRead..];
        }

        return folded[..length];
    }

    private bool Emit(ReadOnlySpan<byte> token, int start, int end)
    {
        if (token.IsEmpty)
        {
            return true;
        }

        bool goesOn = rules.Grams is { } grams ? EmitGrams(token, grams.Shortest, grams.Longest, start, end) : sink.Take(new Token(token, position, start, end - start));
        position++;
        return goesOn;
    }

    private readonly bool EmitGrams(ReadOnlySpan<byte> token, int shortest, int longest, int start, int end)
    {
        Span<byte> boundaries = stackalloc byte[Analyzer.LongestTokenBytes + 1];
        int letters = 0;
        for (int at = 0; at < token.Length; letters++)
        {
            boundaries[letters] = (byte)at;
            Rune.DecodeFromUtf8(token[at..], out _, out int bytes);
            at += bytes;
        }

        boundaries[letters] = (byte)token.Length;
        longest = Math.Min(longest, letters);
        for (int size = purpose is AnalysisPurpose.Search ? Math.Max(shortest, longest) : shortest; size <= longest; size++)
        {
            for (int from = 0; from + size <= letters; from++)
            {
                if (!sink.Take(new Token(token[boundaries[from]..boundaries[from + size]], position, start, end - start)))
                {
                    return false;
                }
            }
        }

        return true;
    }

    /// <summary>The whole text as one token. A long one keeps its beginning and ends in a hash of all, so that different texts stay different.</summary>
    private void TakeWhole()
    {
        int length = 0;
        int kept = 0;
        IncrementalHash? hash = null;
        try
        {
            for (int at = 0; at < text.Length;)
            {
                int bytes = Folder.FoldFirst(text[at..], firstFolding, folded[length..], out int bytesRead);
                at += bytesRead;
                length += bytes;
                if (hash is null && length <= Analyzer.LongestTokenBytes - (2 * HashBytes))
                {
                    kept = length;
                }

                if (length > Analyzer.LongestTokenBytes)
                {
                    if (hash is null)
                    {
                        hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
                        folded[..kept].CopyTo(word);
                    }

                    hash.AppendData(folded[..length]);
                    length = 0;
                }
            }

            var token = folded[..length];
            if (hash is not null)
            {
                hash.AppendData(token);
                Span<byte> digest = stackalloc byte[SHA256.HashSizeInBytes];
                hash.GetHashAndReset(digest);
                bool isWritten = Convert.TryToHexStringLower(digest[..HashBytes], word[kept..], out int hexBytes);
                Invariant.Holds(isWritten, "the hash of a long token has room behind what is kept of it");
                token = word[..(kept + hexBytes)];
            }

            if (!token.IsEmpty)
            {
                sink.Take(new Token(token, position, 0, text.Length));
                position++;
            }
        }
        finally
        {
            hash?.Dispose();
        }
    }
}
