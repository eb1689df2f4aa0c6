using System.Runtime.InteropServices;

namespace Rookery.Search.Analysis;

/// <summary>
/// The calls into Snowball, by Debian's <c>libstemmer.so.0d</c> (package libstemmer0d), which need not be installed.
/// </summary>
internal static partial class StemmerLibrary
{
    private const string Library = "libstemmer.so.0d";

    private static readonly Lazy<bool> Found = new(static () =>
        NativeLibrary.TryLoad(Library, typeof(StemmerLibrary).Assembly, searchPath: null, out _)
    );

    /// <summary>
    /// Whether the library is installed. Asked once: one that is installed later is found after a restart.
    /// </summary>
    internal static bool IsInstalled => Found.Value;

    /// <summary>
    /// Makes a stemmer, to be used by one thread at a time; zero when the language is unknown or memory is out.
    /// </summary>
    [LibraryImport(Library, EntryPoint = "sb_stemmer_new", StringMarshalling = StringMarshalling.Utf8)]
    internal static partial nint Create(string algorithm, string encoding);

    [LibraryImport(Library, EntryPoint = "sb_stemmer_delete")]
    internal static partial void Delete(nint stemmer);

    /// <summary>The stem of a word, in memory of the stemmer until its next word; null when memory is out.</summary>
    [LibraryImport(Library, EntryPoint = "sb_stemmer_stem")]
    internal static unsafe partial byte* Stem(nint stemmer, byte* word, int size);

    /// <summary>Bytes of the last stem.</summary>
    [LibraryImport(Library, EntryPoint = "sb_stemmer_length")]
    internal static partial int Length(nint stemmer);
}
