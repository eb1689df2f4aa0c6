namespace Rookery.Documents.Json;

/// <summary>
/// The stored form: a head that apply writes (format, flags, last-modified ticks, expiry, id) and the content exactly as the
/// command carries it (collection, metadata, body), so that apply copies and never parses.
/// </summary>
public static class StoredDocument
{
    /// <summary>Bytes a head can take at most.</summary>
    public const int MaxHeadBytes = 1 + 1 + 8 + 8 + 2 + Ids.DocumentId.MaxBytes;

    /// <summary>Writes the head of a stored document.</summary>
    /// <param name="destination">At least <see cref="MaxHeadBytes"/> bytes.</param>
    /// <param name="id">The id as written.</param>
    /// <param name="lastModifiedTicks">The log entry's time, UTC ticks.</param>
    /// <param name="expiresAtTicks">UTC ticks, 0 = never.</param>
    /// <returns>Bytes written.</returns>
    public static int WriteHead(Span<byte> destination, ReadOnlySpan<byte> id, long lastModifiedTicks, long expiresAtTicks) => throw new NotSupportedException();
}
