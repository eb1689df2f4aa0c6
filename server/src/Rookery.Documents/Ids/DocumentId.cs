using Rookery.Documents.Json;

namespace Rookery.Documents.Ids;

/// <summary>Rules of document ids: UTF-8, compared without regard to case, kept as written.</summary>
public static class DocumentId
{
    /// <summary>Bytes an id may take in UTF-8, as written and lower-cased.</summary>
    public const int MaxBytes = 512;

    /// <summary>Checks an id that names a document: not empty, UTF-8, no control characters, at most <see cref="MaxBytes"/> before and after lower-casing.</summary>
    public static bool TryValidate(ReadOnlySpan<byte> id, out InputError error) => throw new NotSupportedException();

    /// <summary>Checks an id to store under: as <see cref="TryValidate"/>, but may be empty (a GUID is made), end with <c>/</c> (the server numbers it) or <c>|</c> (an identity numbers it).</summary>
    public static bool TryValidateForStore(ReadOnlySpan<byte> id, out InputError error) => throw new NotSupportedException();

    /// <summary>Lower-cases a valid id by Unicode's simple mapping, without culture.</summary>
    /// <param name="id">A valid id or prefix.</param>
    /// <param name="destination">At least <see cref="MaxBytes"/> bytes.</param>
    /// <returns>Bytes written.</returns>
    public static int ToLower(ReadOnlySpan<byte> id, Span<byte> destination) => throw new NotSupportedException();
}
