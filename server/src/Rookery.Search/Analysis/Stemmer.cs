using Microsoft.Win32.SafeHandles;

namespace Rookery.Search.Analysis;

/// <summary>Stems words of one language. Not thread-safe.</summary>
internal sealed class Stemmer : SafeHandleZeroOrMinusOneIsInvalid
{
    private Stemmer(nint made)
        : base(ownsHandle: true) => SetHandle(made);

    /// <summary>Creates a stemmer.</summary>
    /// <param name="algorithm">Snowball's name of the language.</param>
    /// <exception cref="AnalyzerException">The library is not installed, does not know the language, or has no
    /// memory.</exception>
    internal static Stemmer Make(string algorithm)
    {
        if (!StemmerLibrary.IsInstalled)
        {
            throw new AnalyzerException(
                $"Stemming {algorithm} words needs libstemmer.so.0d, which is not installed on this node: "
                    + $"install Debian's package libstemmer0d and restart the node."
            );
        }

        nint made = StemmerLibrary.Create(algorithm, "UTF_8");
        return made != 0
            ? new Stemmer(made)
            : throw new AnalyzerException(
                $"No stemmer for {algorithm} words could be made: libstemmer does not know the language, or "
                    + $"there is no memory."
            );
    }

    /// <summary>Replaces a lower-case word by its stem.</summary>
    /// <param name="word">The word, followed by room for a longer stem.</param>
    /// <param name="length">Bytes of the word.</param>
    /// <returns>Bytes of the stem. A stem that does not fit is discarded, and the word stays.</returns>
    internal unsafe int Stem(Span<byte> word, int length)
    {
        fixed (byte* first = word)
        {
            byte* stem = StemmerLibrary.Stem(handle, first, length);
            if (stem is null)
            {
                throw new AnalyzerException("A word could not be stemmed: there is no memory.");
            }

            int stemLength = StemmerLibrary.Length(handle);
            if (stemLength > word.Length)
            {
                return length;
            }

            new ReadOnlySpan<byte>(stem, stemLength).CopyTo(word);
            return stemLength;
        }
    }

    /// <inheritdoc/>
    protected override bool ReleaseHandle()
    {
        StemmerLibrary.Delete(handle);
        return true;
    }
}
