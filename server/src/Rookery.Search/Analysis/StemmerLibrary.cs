using System.Runtime.InteropServices;

namespace Rookery.Search.Analysis;

/// <summary>
/// The functions of the Snowball library, Debian's <c>libstemmer.so.0d</c> (package libstemmer0d). The library is
/// optional.
/// </summary>
internal static partial class StemmerLibrary
{
    private const string Library = "libstemmer.so.0d";

    private static readonly Lazy<bool> Found = new(static () =>
        NativeLibrary.TryLoad(Library, typeof(StemmerLibrary).Assembly, searchPath: null, out _)
    );

    /// <summary>
    /// Whether the library is installed. Checked once in each process, so a later installation needs a restart.
    /// </summary>
    internal static bool IsInstalled => Found.Value;

    /// <summary>
    /// Creates a stemmer, which is not thread-safe. Returns zero if the language is unknown or there is no memory.
    /// </summary>
    [LibraryImport(Library, EntryPoint = "sb_stemmer_new", StringMarshalling = StringMarshalling.Utf8)]
    internal static partial nint Create(string algorithm, string encoding);

    [LibraryImport(Library, EntryPoint = "sb_stemmer_delete")]
    internal static partial void Delete(nint stemmer);

    /// <summary>
    /// Returns the stem of a word, in memory of the stemmer that is valid until its next word; null if there is no
    /// memory.
    /// </summary>
    [LibraryImport(Library, EntryPoint = "sb_stemmer_stem")]
    internal static unsafe partial byte* Stem(nint stemmer, byte* word, int size);

    /// <summary>Returns the length of the last stem, in bytes.</summary>
    [LibraryImport(Library, EntryPoint = "sb_stemmer_length")]
    internal static partial int Length(nint stemmer);
}
