using Rookery.Json;

namespace Rookery.Documents.Ids;

/// <summary>
/// The rules for names of counters: like ids of documents, UTF-8, compared without regard to casing, stored as written.
/// </summary>
public static class CounterName
{
    /// <summary>Maximum length of a name in UTF-8, as written and lower-cased, as in RavenDB.</summary>
    public const int MaxBytes = DocumentId.MaxBytes;

    /// <summary>
    /// Maximum length of the names of one document's counters together, as stored: about 20,000 short names. Each
    /// version of the document contains them.
    /// </summary>
    public const int MaxBytesPerDocument = 256 * 1024;

    /// <summary>Checks a name: not empty, UTF-8, no control characters, at most <see cref="MaxBytes"/>.</summary>
    public static bool TryValidate(ReadOnlySpan<byte> name, out InputError error)
    {
        if (DocumentId.TryValidate(name, out error))
        {
            return true;
        }

        // The rules are those of ids, but the error names a counter.
        error = error with
        {
            What = error.What.Replace("document id", "counter's name", StringComparison.Ordinal),
            Advice = name.IsEmpty ? "Name the counter" : error.Advice.Replace("id", "name", StringComparison.Ordinal),
            Where = error.Where with { Path = "counter" },
        };
        return false;
    }
}
