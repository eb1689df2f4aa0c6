using Microsoft.Win32.SafeHandles;

namespace Rookery.Search.Analysis;

/// <summary>Finds the stems of words of one language. For one thread at a time.</summary>
internal sealed class Stemmer : SafeHandleZeroOrMinusOneIsInvalid
{
    private Stemmer(nint made)
        : base(ownsHandle: true) => SetHandle(made);

    /// <summary>Makes one.</summary>
    /// <param name="algorithm">Snowball's name of the language.</param>
    /// <exception cref="AnalyzerException">The library is not installed, or there is no memory for it.</exception>
    internal static Stemmer Make(string algorithm)
    {
        if (!StemmerLibrary.IsInstalled)
        {
            throw new AnalyzerException(
                $"Stemming {algorithm} words needs libstemmer.so.0d, which is not installed on this node: "
                    + $"install Debian's package libstemmer0d and restart it."
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

    /// <summary>Writes the stem of a word in lower case over it.</summary>
    /// <param name="word">The word, and room for a stem that is longer.</param>
    /// <param name="length">Bytes of the word.</param>
    /// <returns>Bytes of the stem.</returns>
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
