namespace Rookery.Platform.Compression;

/// <summary>Bytes that are not gzip follow the last gzip member of an input.</summary>
/// <param name="position">The position of the first such byte in the compressed input.</param>
public sealed class TrailingBytesException(long position)
    : IOException($"the gzip ends at byte {position}, and other bytes follow it");
