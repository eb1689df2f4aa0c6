namespace Rookery.Documents.Json;

/// <summary>What reading a stream came to.</summary>
public enum StreamRead : byte
{
    /// <summary>The bytes fed so far hold no further whole element: feed more.</summary>
    NeedMore = 0,

    /// <summary>An element.</summary>
    Item = 1,

    /// <summary>The array's closing bracket. RavenDB's client never ends the request, so this is the end.</summary>
    End = 2,

    /// <summary>The stream cannot be read on (bulk insert), or the line was refused and reading goes on behind it (NDJSON).</summary>
    Error = 3,
}

/// <summary>
/// Reads the body of RavenDB's bulk_insert, fed in arbitrary chunks. Feed, then read until <see cref="StreamRead.NeedMore"/>; chunks are not kept beyond that.
/// </summary>
public sealed class BulkInsertReader : IDisposable
{
    /// <summary>A reader at the beginning of a stream.</summary>
    public BulkInsertReader() => throw new NotSupportedException();

    /// <summary>Elements read so far, heartbeats included: the number of the next one.</summary>
    public long ElementCount { get; }

    /// <summary>Gives the reader its next bytes; they must stay unchanged until it has answered <see cref="StreamRead.NeedMore"/>.</summary>
    public void Feed(ReadOnlyMemory<byte> chunk) => throw new NotSupportedException();

    /// <summary>Reads the next document; heartbeats are swallowed.</summary>
    /// <param name="id">The id as sent, escapes resolved; valid until the next call.</param>
    /// <param name="document">The document; valid until the next call.</param>
    /// <param name="error">Set with <see cref="StreamRead.Error"/>, and again on every later call.</param>
    public StreamRead Read(out ReadOnlySpan<byte> id, out ParsedDocument document, out InputError error) => throw new NotSupportedException();

    /// <summary>Says why a stream that ended here, before its closing bracket, is refused.</summary>
    public InputError Truncated() => throw new NotSupportedException();

    /// <summary>Gives the buffers back.</summary>
    public void Dispose() => throw new NotSupportedException();
}
