using System.Buffers;

namespace Rookery.Documents.Json;

/// <summary>Writes stored documents as a client reads them, by copying spans.</summary>
public static class DocumentWriter
{
    /// <summary>Writes <c>{body,"@metadata":{…}}</c>.</summary>
    /// <param name="output">Where to.</param>
    /// <param name="document">The stored document.</param>
    /// <param name="etag">The row's sequence.</param>
    /// <param name="historyId">The database's history id, 22 ASCII characters.</param>
    public static void Write(IBufferWriter<byte> output, in DocumentView document, long etag, ReadOnlySpan<byte> historyId) => throw new NotSupportedException();

    /// <summary>Writes <c>{"@metadata":{…}}</c>.</summary>
    /// <inheritdoc cref="Write"/>
    public static void WriteMetadataOnly(IBufferWriter<byte> output, in DocumentView document, long etag, ReadOnlySpan<byte> historyId) => throw new NotSupportedException();
}
