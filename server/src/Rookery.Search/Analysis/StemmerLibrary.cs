using System.Runtime.InteropServices;
using Rookery.Platform;

namespace Rookery.Search.Analysis;

/// <summary>
/// The functions of the Snowball library, Debian's <c>libstemmer.so.0d</c> (package libstemmer0d). The library is
/// optional.
/// </summary>
internal static partial class StemmerLibrary
{
    private const string Library = "libstemmer.so.0d";

    private const string CreateName = "sb_stemmer_new";
    private const string DeleteName = "sb_stemmer_delete";
    private const string StemName = "sb_stemmer_stem";
    private const string LengthName = "sb_stemmer_length";

    private static readonly Lazy<bool> Found = new(static () =>
        SystemLibrary.Has(Library, CreateName, DeleteName, StemName, LengthName)
    );

    /// <summary>
    /// Whether the library is installed. Checked once in each process, so a later installation needs a restart.
    /// </summary>
    internal static bool IsInstalled => Found.Value;

    /// <summary>
    /// Creates a stemmer, which is not thread-safe. Returns zero if the language is unknown or there is no memory.
    /// </summary>
    [LibraryImport(Library, EntryPoint = CreateName, StringMarshalling = StringMarshalling.Utf8)]
    internal static partial nint Create(string algorithm, string encoding);

    [LibraryImport(Library, EntryPoint = DeleteName)]
    internal static partial void Delete(nint stemmer);

    /// <summary>
    /// Returns the stem of a word, in memory of the stemmer that is valid until its next word; null if there is no
    /// memory.
    /// </summary>
    [LibraryImport(Library, EntryPoint = StemName)]
    internal static unsafe partial byte* Stem(nint stemmer, byte* word, int size);

    /// <summary>Returns the length of the last stem, in bytes.</summary>
    [LibraryImport(Library, EntryPoint = LengthName)]
    internal static partial int Length(nint stemmer);
}
