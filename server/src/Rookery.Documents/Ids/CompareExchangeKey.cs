using Rookery.Documents.Parsing;
using Rookery.Json;

namespace Rookery.Documents.Ids;

/// <summary>
/// The rules for keys of compare-exchange values: like ids of documents, UTF-8, compared without regard to casing,
/// stored as written. Keys that begin with <see cref="GuardPrefix"/> belong to atomic guards.
/// </summary>
public static class CompareExchangeKey
{
    /// <summary>Maximum length of a key in UTF-8, as written and lower-cased, as in RavenDB.</summary>
    public const int MaxBytes = DocumentId.MaxBytes;

    /// <summary>
    /// The beginning of the keys of atomic guards: the id of the protected document follows. The server creates and
    /// removes them; clients may only read and delete them.
    /// </summary>
    public static ReadOnlySpan<byte> GuardPrefix => "rvn-atomic/"u8;

    /// <summary>Checks a key: not empty, UTF-8, no control characters, at most <see cref="MaxBytes"/>.</summary>
    public static bool TryValidate(ReadOnlySpan<byte> key, out InputError error)
    {
        if (DocumentId.TryValidate(key, out error))
        {
            return true;
        }

        // The rules are those of ids, but the error names a key.
        error = error with
        {
            Code = key.Length > MaxBytes ? InputErrorCode.KeyTooLong : error.Code,
            What = error.What.Replace("document id", "compare-exchange key", StringComparison.Ordinal),
            Advice = key.IsEmpty ? "Name the key" : error.Advice.Replace("id", "key", StringComparison.Ordinal),
            Where = error.Where with { Path = "key" },
        };
        return false;
    }

    /// <summary>
    /// Checks a key for a put: as <see cref="TryValidate"/>, and it must not be the key of an atomic guard.
    /// </summary>
    public static bool TryValidateForStore(ReadOnlySpan<byte> key, out InputError error)
    {
        if (!TryValidate(key, out error))
        {
            return false;
        }

        if (!IsGuard(key))
        {
            return true;
        }

        error = InputErrors.InParameter(
            InputErrorCode.InvalidId,
            "key",
            "Keys that begin with rvn-atomic/ are those of atomic guards, which the server writes itself",
            "Choose another key, or put the document in a cluster-wide transaction"
        );
        return false;
    }

    /// <summary>Whether a key, in any casing, is the key of an atomic guard.</summary>
    public static bool IsGuard(ReadOnlySpan<byte> key) =>
        key.Length >= GuardPrefix.Length && System.Text.Ascii.EqualsIgnoreCase(key[..GuardPrefix.Length], GuardPrefix);

    /// <summary>Returns why a document cannot have an atomic guard; null if it can.</summary>
    internal static string? FindGuardProblem(ReadOnlySpan<byte> id, ReadOnlySpan<byte> lowerId) =>
        Math.Max(id.Length, lowerId.Length) <= MaxBytes - GuardPrefix.Length
            ? null
            : "The id of a document in a cluster-wide transaction takes at most "
                + $"{MaxBytes - GuardPrefix.Length} bytes, because the key of its atomic guard contains it. Nothing "
                + "was stored; choose a shorter id, or disable atomic document writes.";
}
